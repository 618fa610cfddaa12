import type { DatabaseSync } from "node:sqlite";
import { CLOCK_SKEW_MS } from "@mailproof/core/lib/time";
import {
  DELAY_SECONDS_MAX,
  type FairShares,
  type QueueConfig,
  toDeadLetterQueue,
} from "@mailproof/core/ports/queue";

// Chooses the next message of the SQLite queue. schema.ts has the tables.

export type GroupTurns = ReturnType<typeof createGroupTurns>;

/** The number of messages that one transaction of a few milliseconds makes ready. */
const READY_AT_ONCE = 200;

type Turn = { readonly last: number; readonly group: string };

/** No message is hidden for longer than this. A later time was written by a wrong clock. */
const getLatestVisible = ({ visibilitySeconds }: QueueConfig, nowMs: number): number =>
  nowMs + Math.max(DELAY_SECONDS_MAX, visibilitySeconds) * 1000 + CLOCK_SKEW_MS;

export const createGroupTurns = (db: DatabaseSync) => {
  const statements = prepareStatements(db);
  const { due, misplaced, bringBack, ready, bury, joining, ordered, first, goLast, leave } =
    statements;

  /** A group keeps its turn: more messages do not give it an earlier one. */
  const join = (queue: string, last: number, group: string): void =>
    void joining.run(queue, last, group, queue, last);

  /** The next group by turn. Groups at their share are skipped; they are few. */
  const next = (queue: string, shares: FairShares | undefined): Turn | undefined => {
    for (const row of ordered.iterate(queue)) {
      const group = String(row["grp"]);
      if (!shares?.isFull(group)) return { last: Number(row["last"]), group };
    }
    return undefined;
  };

  return {
    join,
    next,

    isAnyVisible: (queue: QueueConfig, nowMs: number): boolean =>
      [
        due.get(queue.name, nowMs, 1),
        misplaced.get(queue.name, getLatestVisible(queue, nowMs)),
      ].some((row) => row !== undefined),

    /** Makes visible messages ready. A message that was received too often becomes a dead letter. */
    makeReady: (queue: QueueConfig, nowMs: number): void => {
      bringBack.run(nowMs, queue.name, getLatestVisible(queue, nowMs));
      for (const row of due.all(queue.name, nowMs, READY_AT_ONCE)) {
        if (Number(row["receives"]) >= queue.receivesMax)
          bury.run(toDeadLetterQueue(queue).name, Number(row["id"]));
        else {
          ready.run(Number(row["id"]));
          join(queue.name, Number(row["last"]), String(row["grp"]));
        }
      }
    },

    /** The next message by turn. Its group moves to the end. */
    claimNext: (queue: string, shares: FairShares | undefined): number | undefined => {
      for (let turn = next(queue, shares); turn; turn = next(queue, shares)) {
        const { last, group } = turn;
        const [found, another] = first.all(queue, last, group);
        // The group has no message left: its former worker finished late.
        if (another) goLast.run(queue, last, queue, last, group);
        else leave.run(queue, last, group);
        if (found) return Number(found["id"]);
      }
      return undefined;
    },
  };
};

const END = "(SELECT COALESCE(MAX(turn), 0) + 1 FROM turns WHERE queue = ? AND last = ?)";

const prepareStatements = (db: DatabaseSync) => ({
  due: db.prepare(
    `SELECT id, last, grp, receives FROM messages WHERE queue = ? AND ready = 0 AND visible_at <= ?
     ORDER BY visible_at LIMIT ?`,
  ),
  misplaced: db.prepare(
    "SELECT 1 FROM messages WHERE queue = ? AND ready = 0 AND visible_at > ? LIMIT 1",
  ),
  bringBack: db.prepare(
    "UPDATE messages SET visible_at = ? WHERE queue = ? AND ready = 0 AND visible_at > ?",
  ),
  ready: db.prepare("UPDATE messages SET ready = 1 WHERE id = ?"),
  bury: db.prepare("UPDATE messages SET queue = ?, receives = 0, receipt = NULL WHERE id = ?"),
  joining: db.prepare(
    `INSERT OR IGNORE INTO turns (queue, last, grp, turn) VALUES (?, ?, ?, ${END})`,
  ),
  ordered: db.prepare("SELECT last, grp FROM turns WHERE queue = ? ORDER BY last, turn"),
  first: db.prepare(
    `SELECT id FROM messages WHERE queue = ? AND ready = 1 AND last = ? AND grp = ?
     ORDER BY position, visible_at, id LIMIT 2`,
  ),
  goLast: db.prepare(`UPDATE turns SET turn = ${END} WHERE queue = ? AND last = ? AND grp = ?`),
  leave: db.prepare("DELETE FROM turns WHERE queue = ? AND last = ? AND grp = ?"),
});
