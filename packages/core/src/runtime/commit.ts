import { fingerprint } from "../lib/fingerprint.ts";
import type { Message } from "../ports/queue.ts";
import type { Create, Table, TransactResult, Write } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import { getItemKey } from "../ports/writes.ts";

/** The longest waits before each repeat of a transaction whose reply was lost. */
const LOST_REPLY_BACKOFF_MS = [30, 200, 800];

/** An item that waits for a worker, and the message that starts the worker at once. */
export type OutboxWrite = Create & {
  readonly sends: { readonly queue: string; readonly message: Message };
};

type AnyWrite = Write | OutboxWrite;

/**
 * Writes that commit together or not at all. `proof` creates an item that only this transaction creates and that never changes:
 * after a lost reply this item shows that the transaction committed. Null when no such item exists.
 */
export type Transaction = {
  readonly proof: Create | OutboxWrite | null;
  readonly also?: readonly AnyWrite[];
};

type CommitWorld = Pick<World, "table" | "random" | "sleep" | "queue" | "now" | "newId">;

/**
 * Repeats a transaction whose reply was lost, with the same token, so it takes effect once. If no attempt gets a reply, or the
 * table refuses the proof, `commit` reads the proof; without a proof the outcome is ambiguous. After the commit it sends the
 * messages of the outbox writes.
 */
export const commit = async (
  world: CommitWorld,
  { proof, also = [] }: Transaction,
): Promise<TransactResult> => {
  const writes = proof ? [proof, ...also] : also;
  const result = await writeAll(world, writes, proof);
  if (result.outcome === "committed") await sendOutbox(world, writes);
  return result;
};

/** Sends the messages once and ignores a failure: the item is scheduled, so the reconciler finds it without a message, too. */
const sendOutbox = async ({ queue }: CommitWorld, writes: readonly AnyWrite[]): Promise<void> => {
  const sent = writes.flatMap((write) => ("sends" in write ? [write.sends] : []));
  for (const [name, all] of Map.groupBy(sent, (one) => one.queue))
    await queue
      .sendMany(
        name,
        all.map(({ message }) => message),
      )
      .catch(() => undefined);
};

const writeAll = async (
  world: CommitWorld,
  writes: readonly AnyWrite[],
  proof: Transaction["proof"],
): Promise<TransactResult> => {
  const attempt = { token: world.newId("txn"), at: world.now() };
  let result = await world.table.transact(writes, attempt);
  if (result.outcome !== "ambiguous") return result;
  for (const ms of LOST_REPLY_BACKOFF_MS) {
    await world.sleep(world.random() * ms);
    // An error proves that this attempt wrote nothing; an earlier attempt may still have committed.
    result = await world.table.transact(writes, attempt).catch(() => AMBIGUOUS);
    if (result.outcome === "committed") return result;
    if (result.outcome === "refused") break;
  }
  return proof ? resolveByReading(world.table, proof, result) : AMBIGUOUS;
};

const COMMITTED = { outcome: "committed" } as const;
const AMBIGUOUS = { outcome: "ambiguous" } as const;

/** `last` is the last attempt's result. If the read fails, the outcome stays ambiguous. */
const resolveByReading = async (
  table: Table,
  proof: Create,
  last: TransactResult,
): Promise<TransactResult> => {
  // The proof's own condition held, so no earlier attempt had committed.
  if (last.outcome === "refused" && last.refusedWrite !== proof) return last;
  try {
    const found = await table.get(getItemKey(proof));
    return found && fingerprint(found) === fingerprint(proof.create) ? COMMITTED : last;
  } catch {
    return AMBIGUOUS;
  }
};
