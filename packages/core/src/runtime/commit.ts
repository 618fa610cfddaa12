import { fingerprint } from "../lib/fingerprint.ts";
import type { Message } from "../ports/queue.ts";
import type { Item, Table, TransactResult, Write } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import { getItemKey } from "../ports/writes.ts";

/** The list is the policy: how often a lost reply is asked after, and at most how long before each time. */
const LOST_REPLY_BACKOFF_MS = [30, 200, 800];

/** An item that waits for a worker, with the message that makes the worker look at once. */
export type OutboxWrite = {
  readonly create: Item;
  readonly sends: { readonly queue: string; readonly message: Message };
};

type AnyWrite = Write | OutboxWrite;

export type Writes = readonly [first: AnyWrite, ...more: AnyWrite[]];

type CommitWorld = Pick<World, "table" | "random" | "sleep" | "queue" | "now" | "newId">;

/**
 * A transaction whose reply may be lost is sent again under the same token: it was written, or it is written now. When
 * its first write is refused then, an earlier try may have got through: it did if what is there is what we wanted to
 * create. So the first write should create what stays. The outcome is ambiguous only when no try was ever answered.
 *
 * What its outbox writes send is on its way as soon as they are written.
 */
export const commit = async (world: CommitWorld, writes: Writes): Promise<TransactResult> => {
  const result = await writeAll(world, writes);
  if (result.outcome === "committed") await sendOutbox(world, writes);
  return result;
};

/** Best effort: the item is due, so a worker finds it also without a message. */
const sendOutbox = async ({ queue }: CommitWorld, writes: Writes): Promise<void> => {
  const sent = writes.flatMap((write) => ("sends" in write ? [write.sends] : []));
  for (const [name, all] of Map.groupBy(sent, (one) => one.queue))
    await queue
      .sendMany(
        name,
        all.map(({ message }) => message),
      )
      .catch(() => undefined);
};

const writeAll = async (world: CommitWorld, writes: Writes): Promise<TransactResult> => {
  const [first] = writes;
  const attempt = { token: world.newId("txn"), at: world.now() };
  let result = await world.table.transact(writes, attempt);
  for (const ms of LOST_REPLY_BACKOFF_MS) {
    if (result.outcome !== "ambiguous") return result;
    await world.sleep(world.random() * ms);
    // A door that throws now is sure about this try, and says nothing about the one before.
    result = await world.table.transact(writes, attempt).catch(() => AMBIGUOUS);
    if (result.outcome === "refused" && result.refusedWrite === first)
      return resolveByReading(world.table, first, result);
  }
  return result.outcome === "ambiguous" ? resolveByReading(world.table, first, result) : result;
};

const COMMITTED = { outcome: "committed" } as const;
const AMBIGUOUS = { outcome: "ambiguous" } as const;

/** Whether it was us after all. What cannot be read is as unknown as before. */
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

/** A removal leaves nothing to look at; what it removes has nobody else who would. */
const isAppliedTo = (write: Write, found: Item | undefined): boolean =>
  "create" in write
    ? found !== undefined && fingerprint(found) === fingerprint(write.create)
    : found === undefined;
