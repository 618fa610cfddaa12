import { randomUUID } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import { CLOCK_SKEW_MS } from "@mailproof/core/moments";
import {
  DELAY_SECONDS_MAX,
  deadLettersNamed,
  deadLettersOf,
  isOfDeadLetters,
  type Queue,
  type QueueFacts,
  RECEIVE_MAX,
  type Received,
  type Receiving,
  type Sent,
  travelForm,
} from "@mailproof/core/queue";
import type { Json } from "@mailproof/core/table";
import { groupCommit, openSqlite } from "./sqlite.ts";

const VERSION = 1;

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS messages (
    id INTEGER PRIMARY KEY, queue TEXT NOT NULL, body TEXT NOT NULL,
    visible_at INTEGER NOT NULL, receives INTEGER NOT NULL DEFAULT 0, receipt TEXT
  ) STRICT;
  CREATE INDEX IF NOT EXISTS messages_waiting ON messages (queue, visible_at);
  CREATE UNIQUE INDEX IF NOT EXISTS messages_receipt ON messages (receipt) WHERE receipt IS NOT NULL`;

export type SqliteQueue = Queue &
  Receiving & {
    /**
     * What a process had in hand that is no more comes back at once. It counts as handed out: a message that kills
     * whoever takes it must end with the dead letters some day.
     */
    takeBack(): Promise<void>;
    /** What lies with the dead letters, the oldest first. Looking changes nothing. */
    listDead(max: number): readonly Dead[];
    /** Puts the dead letters of a queue back into it, as if they had never been handed out. Returns how many. */
    replay(queue: string): Promise<number>;
    close(): void;
  };

export type Dead = { readonly id: number; readonly queue: string; readonly body: Json };

/** A message of another process is noticed at this pace; one of our own at once. */
const LOOK_AGAIN_MS = 1_000;

export const sqliteQueue = (file: string, now: () => Date): SqliteQueue => {
  const db = openSqlite(file, VERSION, SCHEMA);
  const { commit, close } = groupCommit(db);
  const ms = () => now().getTime();
  const statements = statementsOf(db);
  const { insert, soonest, finish, putBack, takeBack, counts } = statements;
  const { sleepUntilSent, wake } = sleepers();

  /** Until something is sent, the next message becomes visible, or it is time to look again. */
  const waitForMore = (queue: string, waitMs: number, signal?: AbortSignal): Promise<void> => {
    const next = soonest.get(queue)?.["at"];
    const untilNext = typeof next === "number" ? Math.max(1, next - ms()) : LOOK_AGAIN_MS;
    return sleepUntilSent(queue, Math.min(waitMs, untilNext, LOOK_AGAIN_MS), signal);
  };

  return {
    sendMany: async (queue, messages) => {
      const rows = messages.map((message) => ({
        body: travelForm(message),
        visibleAt: ms() + (message.delaySeconds ?? 0) * 1000,
      }));
      const sent = await commit(() => {
        for (const { body, visibleAt } of rows) insert.run(queue, body, visibleAt);
      }).then(
        (): Sent => "sent",
        // A transaction that failed was undone: on one machine nothing is ever in doubt.
        (): Sent => "refused",
      );
      wake(queue);
      return messages.map(() => sent);
    },

    countDead: async () =>
      counts
        .all()
        .filter((row) => isOfDeadLetters(String(row["queue"])))
        .reduce((sum, row) => sum + Number(row["n"]), 0),

    receive: async (queue, { max = RECEIVE_MAX, waitMs, signal }) => {
      const until = Date.now() + waitMs;
      for (;;) {
        // Looking costs no write: a waiting worker leaves the disk alone.
        if (anyVisible(statements, queue, ms())) {
          const taken = await commit(() => takeVisible(statements, queue, ms(), max));
          if (taken.length > 0) return taken;
        }
        const leftMs = until - Date.now();
        if (leftMs <= 0 || signal?.aborted) return [];
        await waitForMore(queue.name, leftMs, signal);
      }
    },

    done: (receipt) => commit(() => Number(finish.run(receipt).changes) > 0),

    takeBack: () => commit(() => void takeBack.run(ms())),

    ...deadLetters(statements, commit, ms, wake),

    release: async (receipt, delaySeconds) =>
      commit(() => Number(putBack.run(ms() + delaySeconds * 1000, receipt).changes) > 0),

    close,
  };
};

const deadLetters = (
  { dead, replay }: ReturnType<typeof statementsOf>,
  commit: ReturnType<typeof groupCommit>["commit"],
  ms: () => number,
  wake: (queue: string) => void,
): Pick<SqliteQueue, "listDead" | "replay"> => ({
  listDead: (max) =>
    dead.all(deadLettersNamed("%"), max).map((row) => ({
      id: Number(row["id"]),
      queue: String(row["queue"]),
      body: JSON.parse(String(row["body"])) as Json,
    })),

  replay: async (queue) => {
    const from = deadLettersNamed(queue);
    const moved = await commit(() => Number(replay.run(queue, ms(), from).changes));
    wake(queue);
    return moved;
  },
});

/** No message is hidden for longer than this: one that is was written by a wrong clock. */
const latestVisible = (visibilitySeconds: number, nowMs: number): number =>
  nowMs + Math.max(DELAY_SECONDS_MAX, visibilitySeconds) * 1000 + CLOCK_SKEW_MS;

const anyVisible = (
  { visible, misplaced }: ReturnType<typeof statementsOf>,
  { name, visibilitySeconds }: QueueFacts,
  nowMs: number,
): boolean =>
  [visible.get(name, nowMs, 1), misplaced.get(name, latestVisible(visibilitySeconds, nowMs))].some(
    (row) => row !== undefined,
  );

const takeVisible = (
  { bury, visible, take, bringBack }: ReturnType<typeof statementsOf>,
  queue: QueueFacts,
  nowMs: number,
  max: number,
): Received[] => {
  bringBack.run(nowMs, queue.name, latestVisible(queue.visibilitySeconds, nowMs));
  bury.run(deadLettersOf(queue).name, queue.name, nowMs, queue.receivesMax);
  return visible.all(queue.name, nowMs, Math.min(max, RECEIVE_MAX)).map((row) => {
    const receipt = randomUUID();
    const hiddenUntil = nowMs + queue.visibilitySeconds * 1000;
    const taken = take.get(hiddenUntil, receipt, Number(row["id"]));
    return {
      receipt,
      body: JSON.parse(String(taken?.["body"])) as Json,
      receiveCount: Number(taken?.["receives"]),
    };
  });
};

const statementsOf = (db: DatabaseSync) => ({
  insert: db.prepare("INSERT INTO messages (queue, body, visible_at) VALUES (?, ?, ?)"),
  bury: db.prepare(
    `UPDATE messages SET queue = ?, receives = 0, receipt = NULL
     WHERE queue = ? AND visible_at <= ? AND receives >= ?`,
  ),
  visible: db.prepare(
    "SELECT id FROM messages WHERE queue = ? AND visible_at <= ? ORDER BY visible_at, id LIMIT ?",
  ),
  misplaced: db.prepare("SELECT 1 FROM messages WHERE queue = ? AND visible_at > ? LIMIT 1"),
  bringBack: db.prepare("UPDATE messages SET visible_at = ? WHERE queue = ? AND visible_at > ?"),
  take: db.prepare(
    `UPDATE messages SET visible_at = ?, receives = receives + 1, receipt = ? WHERE id = ?
     RETURNING body, receives`,
  ),
  soonest: db.prepare("SELECT MIN(visible_at) AS at FROM messages WHERE queue = ?"),
  finish: db.prepare("DELETE FROM messages WHERE receipt = ?"),
  putBack: db.prepare("UPDATE messages SET visible_at = ?, receipt = NULL WHERE receipt = ?"),
  takeBack: db.prepare(
    "UPDATE messages SET visible_at = ?, receipt = NULL WHERE receipt IS NOT NULL",
  ),
  dead: db.prepare("SELECT id, queue, body FROM messages WHERE queue LIKE ? ORDER BY id LIMIT ?"),
  replay: db.prepare(
    `UPDATE messages SET queue = ?, visible_at = ?, receives = 0, receipt = NULL
     WHERE queue = ? AND receipt IS NULL`,
  ),
  counts: db.prepare("SELECT queue, COUNT(*) AS n FROM messages GROUP BY queue"),
});

/** Receivers that sleep, by queue, and how they are woken: a sent message is received at once. */
const sleepers = () => {
  const sleeping = new Map<string, Set<() => void>>();

  const sleepUntilSent = async (queue: string, waitMs: number, signal?: AbortSignal) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const wakeUp = () => resolve();
    const ours = sleeping.get(queue) ?? new Set();
    sleeping.set(queue, ours.add(wakeUp));
    signal?.addEventListener("abort", wakeUp);
    const timer = setTimeout(wakeUp, waitMs);
    await promise;
    clearTimeout(timer);
    signal?.removeEventListener("abort", wakeUp);
    ours.delete(wakeUp);
  };

  const wake = (queue: string): void => sleeping.get(queue)?.forEach((wakeUp) => wakeUp());
  return { sleepUntilSent, wake };
};
