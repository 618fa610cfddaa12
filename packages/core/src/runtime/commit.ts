import { fingerprint } from "../lib/fingerprint.ts";
import type { Message } from "../ports/queue.ts";
import type { Create, Table, TransactResult, Write } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import { getItemKey } from "../ports/writes.ts";

/** How often a transaction whose reply was lost is sent again, and the longest wait before each attempt. */
const LOST_REPLY_BACKOFF_MS = [30, 200, 800];

/** An item that waits for a worker, and the message that starts the worker at once. */
export type OutboxWrite = Create & {
  readonly sends: { readonly queue: string; readonly message: Message };
};

type AnyWrite = Write | OutboxWrite;

/**
 * Writes of which all are done or none. `proof` creates an item that only this transaction creates and that stays as it
 * is: after a lost reply it shows whether the transaction was written. Null: nothing shows it.
 */
export type Transaction = {
  readonly proof: Create | OutboxWrite | null;
  readonly also?: readonly AnyWrite[];
};

type CommitWorld = Pick<World, "table" | "random" | "sleep" | "queue" | "now" | "newId">;

/**
 * Sends a transaction whose reply was lost again, with the same token: it is written already, or it is written now. If
 * no attempt gets a reply, or the proof is refused, `commit` reads the proof. Without a proof the outcome is ambiguous.
 *
 * Sends the messages of the outbox writes after the commit.
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
  proof: Transaction["proof"],
): Promise<TransactResult> => {
  const attempt = { token: world.newId("txn"), at: world.now() };
  let result = await world.table.transact(writes, attempt);
  if (result.outcome !== "ambiguous") return result;
  for (const ms of LOST_REPLY_BACKOFF_MS) {
    await world.sleep(world.random() * ms);
    // An adapter that throws is certain about this attempt only, not about the earlier ones.
    result = await world.table.transact(writes, attempt).catch(() => AMBIGUOUS);
    if (result.outcome === "committed") return result;
    if (result.outcome === "refused") break;
  }
  return proof ? resolveByReading(world.table, proof, result) : AMBIGUOUS;
};

const COMMITTED = { outcome: "committed" } as const;
const AMBIGUOUS = { outcome: "ambiguous" } as const;

/** `last`: of the last attempt. If the read fails, the outcome stays ambiguous. */
const resolveByReading = async (
  table: Table,
  proof: Create,
  last: TransactResult,
): Promise<TransactResult> => {
  // The condition of the proof was met, so no earlier attempt had created it.
  if (last.outcome === "refused" && last.refusedWrite !== proof) return last;
  try {
    const found = await table.get(getItemKey(proof));
    return found && fingerprint(found) === fingerprint(proof.create) ? COMMITTED : last;
  } catch {
    return AMBIGUOUS;
  }
};
