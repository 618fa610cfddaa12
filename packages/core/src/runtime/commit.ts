import { fingerprint } from "../lib/fingerprint.ts";
import type { Message } from "../ports/queue.ts";
import type { Item, Table, TransactResult, Write } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import { getItemKey } from "../ports/writes.ts";

/** How often a transaction whose reply was lost is sent again, and the longest wait before each attempt. */
const LOST_REPLY_BACKOFF_MS = [30, 200, 800];

/** An item that waits for a worker, and the message that starts the worker at once. */
export type OutboxWrite = {
  readonly create: Item;
  readonly sends: { readonly queue: string; readonly message: Message };
};

type AnyWrite = Write | OutboxWrite;

/**
 * Writes of which all are done or none. `proof` is the one that shows it later: it creates what stays, and what only
 * this transaction creates.
 */
export type Transaction = { readonly proof: AnyWrite; readonly also?: readonly AnyWrite[] };

type CommitWorld = Pick<World, "table" | "random" | "sleep" | "queue" | "now" | "newId">;

/**
 * A transaction whose reply was lost is sent again with the same token: either it was written already, or it is written
 * now. If its proof is refused then, an earlier attempt may have been committed: it was if the stored item equals the one
 * that the proof creates. The outcome is ambiguous only if no attempt got a reply.
 *
 * The messages of its outbox writes are sent after the commit.
 */
export const commit = async (
  world: CommitWorld,
  { proof, also = [] }: Transaction,
): Promise<TransactResult> => {
  const writes = [proof, ...also];
  const result = await writeAll(world, writes, proof);
  if (result.outcome === "committed") await sendOutbox(world, writes);
  return result;
};

/** Best effort: the item is scheduled, so the reconciler finds it without a message, too. */
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
  proof: AnyWrite,
): Promise<TransactResult> => {
  const attempt = { token: world.newId("txn"), at: world.now() };
  let result = await world.table.transact(writes, attempt);
  for (const ms of LOST_REPLY_BACKOFF_MS) {
    if (result.outcome !== "ambiguous") return result;
    await world.sleep(world.random() * ms);
    // An adapter that throws is certain about this attempt only, not about the earlier ones.
    result = await world.table.transact(writes, attempt).catch(() => AMBIGUOUS);
    if (result.outcome === "refused" && result.refusedWrite === proof)
      return resolveByReading(world.table, proof, result);
  }
  return result.outcome === "ambiguous" ? resolveByReading(world.table, proof, result) : result;
};

const COMMITTED = { outcome: "committed" } as const;
const AMBIGUOUS = { outcome: "ambiguous" } as const;

/** Reads whether the transaction was written after all. If the read fails, the outcome stays ambiguous. */
const resolveByReading = async (
  table: Table,
  write: Write,
  fallback: TransactResult,
): Promise<TransactResult> => {
  try {
    const found = await table.get(getItemKey(write));
    return isAppliedTo(write, found) ? COMMITTED : fallback;
  } catch {
    return AMBIGUOUS;
  }
};

/** A removed item cannot be compared; no other process would have removed it. */
const isAppliedTo = (write: Write, found: Item | undefined): boolean =>
  "create" in write
    ? found !== undefined && fingerprint(found) === fingerprint(write.create)
    : found === undefined;
