import { randomUUID } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import {
  createFairShares,
  type FairShares,
  isDeadLetterQueue,
  type Message,
  type Queue,
  type QueueConfig,
  type QueueReceiver,
  RECEIVE_MAX,
  type ReceivedMessage,
  type ReceiveOptions,
  type SendOutcome,
  serializeMessage,
  toDeadLetterQueueName,
} from "@mailproof/core/ports/queue";
import type { Json } from "@mailproof/core/ports/table";
import { createGroupTurns, type GroupTurns } from "./group-turns.ts";
import { QUEUE_LAYOUT } from "./schema.ts";
import { createGroupCommit, type OnDamage, openSqlite } from "./sqlite.ts";

export type SqliteQueue = Queue &
  QueueReceiver & {
    /**
     * Messages of an ended process return at once. Each counts as received: a message that kills its worker must become a
     * dead letter in the end.
     */
    releaseAbandoned(): Promise<void>;
    /** The dead letters, oldest first. Reading them changes nothing. */
    listDead(max: number): readonly DeadLetter[];
    /** Every queue with messages, and the wait of its oldest visible message. */
    readDepths(): readonly QueueDepth[];
    /** Moves the dead letters of a queue back into it as new messages. Returns how many. */
    replay(queue: string): Promise<number>;
    close(): void;
  };

export type QueueDepth = {
  readonly name: string;
  readonly messages: number;
  readonly waitMs: number;
};

export type DeadLetter = { readonly id: number; readonly queue: string; readonly body: Json };

/** The interval at which the queue looks for messages of another process. The queue delivers this process's messages at once. */
const POLL_MS = 1_000;

export const createSqliteQueue = (
  file: string,
  now: () => Date,
  onDamage?: OnDamage,
): SqliteQueue => {
  const db = openSqlite(file, QUEUE_LAYOUT, onDamage);
  const { commit, close } = createGroupCommit(db);
  const ms = () => now().getTime();
  const statements = prepareStatements(db);
  const { soonest, finish, putBack, takeBack, counts, depths } = statements;
  const turns = createGroupTurns(db);
  const { sleepUntilSent, wake } = createSleepers();

  /** Waits until a message is sent, the next message becomes visible, or the poll interval is over. */
  const waitForMore = (queue: string, waitMs: number, signal?: AbortSignal): Promise<void> => {
    const next = soonest.get(queue)?.["at"];
    const untilNext = typeof next === "number" ? Math.max(1, next - ms()) : POLL_MS;
    return sleepUntilSent(queue, Math.min(waitMs, untilNext, POLL_MS), signal);
  };

  return {
    sendMany: async (queue, messages) => {
      const rows = messages.map((message) => ({ ...message, json: serializeMessage(message) }));
      const sent = await commit(() => {
        for (const row of rows) insertMessage(statements, turns, queue, { ...row, nowMs: ms() });
      }).then(
        (): SendOutcome => "sent",
        // A failed transaction was rolled back: on one machine no outcome is ambiguous.
        (): SendOutcome => "refused",
      );
      wake(queue);
      return messages.map(() => sent);
    },

    readDepths: () =>
      depths.all(ms()).map((row) => ({
        name: String(row["queue"]),
        messages: Number(row["n"]),
        waitMs: row["since"] === null ? 0 : Math.max(0, ms() - Number(row["since"])),
      })),

    countDeadLetters: async () => {
      let sum = 0;
      for (const isReady of [0, 1] as const) {
        const { next, count } = counts[isReady];
        const find = (after: string) => next.get(after)?.["queue"];
        for (let name = find(""); typeof name === "string"; name = find(name))
          if (isDeadLetterQueue(name)) sum += Number(count.get(name)?.["n"]);
      }
      return sum;
    },

    receive: async (queue, { max = RECEIVE_MAX, inFlight: inHand, waitMs, signal }) => {
      const until = Date.now() + waitMs;
      for (;;) {
        // This read causes no write: a waiting worker does not use the disk.
        if (turns.isAnyVisible(queue, ms()) || turns.next(queue.name, getShares(queue, inHand))) {
          const received = await commit(() =>
            receiveVisible(statements, turns, queue, { nowMs: ms(), max, inHand }),
          );
          if (received.length > 0) return received;
        }
        const leftMs = until - Date.now();
        if (leftMs <= 0 || signal?.aborted) return [];
        await waitForMore(queue.name, leftMs, signal);
      }
    },

    acknowledge: (receipt) => commit(() => Number(finish.run(receipt).changes) > 0),

    releaseAbandoned: () => commit(() => void takeBack.run(ms())),

    ...createDeadLetterMethods(statements, commit, ms, wake),

    requeue: async (receipt, delaySeconds) =>
      commit(() => Number(putBack.run(ms() + delaySeconds * 1000, receipt).changes) > 0),

    close,
  };
};

const createDeadLetterMethods = (
  { dead, replay }: ReturnType<typeof prepareStatements>,
  commit: ReturnType<typeof createGroupCommit>["commit"],
  ms: () => number,
  wake: (queue: string) => void,
): Pick<SqliteQueue, "listDead" | "replay"> => ({
  listDead: (max) =>
    dead.all(toDeadLetterQueueName("%"), max).map((row) => ({
      id: Number(row["id"]),
      queue: String(row["queue"]),
      body: JSON.parse(String(row["body"])) as Json,
    })),

  replay: async (queue) => {
    const from = toDeadLetterQueueName(queue);
    const moved = await commit(() => Number(replay.run(queue, ms(), from).changes));
    wake(queue);
    return moved;
  },
});

type OutgoingMessage = Message & { readonly json: string; readonly nowMs: number };

const insertMessage = (
  { insert }: ReturnType<typeof prepareStatements>,
  turns: GroupTurns,
  queue: string,
  {
    json,
    nowMs,
    delaySeconds = 0,
    group = "",
    weight = 1,
    order = 0,
    isLowPriority: isLast = false,
  }: OutgoingMessage,
): void => {
  const last = isLast ? 1 : 0;
  const ready = delaySeconds > 0 ? 0 : 1;
  insert.run(queue, json, nowMs + delaySeconds * 1000, group, weight, order, last, ready);
  if (ready) turns.join(queue, last, group);
};

type ReceiveContext = {
  readonly nowMs: number;
  readonly max: number;
  readonly inHand: ReceiveOptions["inFlight"];
};

const getShares = (
  queue: QueueConfig,
  inHand: ReceiveOptions["inFlight"],
): FairShares | undefined => inHand && createFairShares(queue, inHand);

const receiveVisible = (
  { take }: ReturnType<typeof prepareStatements>,
  turns: GroupTurns,
  queue: QueueConfig,
  { nowMs, max, inHand }: ReceiveContext,
): ReceivedMessage[] => {
  turns.makeReady(queue, nowMs);
  const shares = getShares(queue, inHand);
  const received: ReceivedMessage[] = [];
  for (let weight = 0; weight < max && received.length < RECEIVE_MAX; ) {
    const id = turns.claimNext(queue.name, shares);
    if (id === undefined) break;
    const receipt = randomUUID();
    const row = take.get(nowMs + queue.visibilitySeconds * 1000, receipt, id);
    const [group, ownWeight] = [String(row?.["grp"]), Number(row?.["weight"])];
    received.push({
      receipt,
      body: JSON.parse(String(row?.["body"])) as Json,
      receiveCount: Number(row?.["receives"]),
      group,
      weight: ownWeight,
    });
    shares?.add(group, ownWeight);
    weight += ownWeight;
  }
  return received;
};

const prepareCounts = (db: DatabaseSync, ready: 0 | 1) => ({
  next: db.prepare(`SELECT MIN(queue) AS queue FROM messages WHERE ready = ${ready} AND queue > ?`),
  count: db.prepare(`SELECT COUNT(*) AS n FROM messages WHERE ready = ${ready} AND queue = ?`),
});

const prepareStatements = (db: DatabaseSync) => ({
  insert: db.prepare(
    `INSERT INTO messages (queue, body, visible_at, grp, weight, position, last, ready)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  ),
  take: db.prepare(
    `UPDATE messages SET visible_at = ?, receives = receives + 1, receipt = ?, ready = 0 WHERE id = ?
     RETURNING body, receives, grp, weight`,
  ),
  soonest: db.prepare("SELECT MIN(visible_at) AS at FROM messages WHERE queue = ? AND ready = 0"),
  finish: db.prepare("DELETE FROM messages WHERE receipt = ?"),
  putBack: db.prepare(
    "UPDATE messages SET visible_at = ?, receipt = NULL, ready = 0 WHERE receipt = ?",
  ),
  takeBack: db.prepare(
    "UPDATE messages SET visible_at = ?, receipt = NULL, ready = 0 WHERE receipt IS NOT NULL",
  ),
  dead: db.prepare("SELECT id, queue, body FROM messages WHERE queue LIKE ? ORDER BY id LIMIT ?"),
  replay: db.prepare(
    `UPDATE messages SET queue = ?, visible_at = ?, receives = 0, receipt = NULL, ready = 0
     WHERE queue = ? AND receipt IS NULL`,
  ),
  depths: db.prepare(
    `SELECT queue, COUNT(*) AS n, MIN(CASE WHEN receipt IS NULL AND visible_at <= ? THEN visible_at END) AS since
     FROM messages GROUP BY queue`,
  ),
  // From name to name by the two indexes: anyone may ask for the health, and a queue may have a million messages.
  counts: [prepareCounts(db, 0), prepareCounts(db, 1)] as const,
});

/** The sleeping receivers of each queue. Sending wakes them, so a message is received at once. */
const createSleepers = () => {
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
