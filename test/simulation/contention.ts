import type { Table, TransactResult, Write } from "@mailproof/core/ports/table";
import type { World } from "@mailproof/core/ports/world";
import { getItemKey, toItemId } from "@mailproof/core/ports/writes";
import { type AwsReply, retryAwsCall, toAwsError } from "@mailproof/functions/aws/requests";

// The conflicts of DynamoDB, which its emulators do not have. While a transaction runs, each item that it writes or
// checks refuses every other transaction and write with TransactionConflict; reads see the item as it was. So how often
// a write is refused depends on how many transactions a second touch its item, and for how long. A Query is not
// isolated either: it may see one item before a transaction and the next one after it.

export type ContentionOptions = Pick<World, "random" | "sleep"> & {
  /** How long a transaction occupies its items. */
  readonly busyMs: () => number;
};

/** The items that a transaction occupies now, for all processes together. */
export type Contention = {
  /** The table as one process sees it. `onRetries` hears how often each transaction and write was repeated. */
  readonly wrap: (table: Table, onRetries?: (retries: number) => void) => Table;
};

const CONFLICT = { kind: "busy", cause: new Error("TransactionConflict") } as const;

export const createContention = ({ busyMs, random, sleep }: ContentionOptions): Contention => {
  const occupied = new Set<string>();
  const isOccupied = (ids: readonly string[]) => ids.some((id) => occupied.has(id));
  const toIds = (writes: readonly Write[]) => writes.map((write) => toItemId(getItemKey(write)));

  /** Repeats as the adapter for AWS does, with its delays, and throws as it does when the item stays busy. */
  const retry = async <T>(
    attempt: () => Promise<AwsReply<T>>,
    onRetries?: (retries: number) => void,
  ): Promise<T> => {
    let attempts = 0;
    const { reply } = await retryAwsCall({ random, sleep }, 0, () => {
      attempts++;
      return attempt();
    });
    onRetries?.(attempts - 1);
    if (reply.kind !== "ok") throw toAwsError("TransactionConflict", reply);
    return reply.output;
  };

  const wrap: Contention["wrap"] = (table, onRetries) => ({
    get: (key) => table.get(key),
    query: async (query) => {
      const before = await table.query(query);
      if (before.items.length < 2) return before;
      await sleep(1);
      const after = await table.query(query);
      const middle = before.items[Math.floor(random() * before.items.length)];
      // The first part of the page as it was, the others as they are now.
      const index = after.items.findIndex((item) => middle && toItemId(item) === toItemId(middle));
      if (index < 0 || !middle) return after;
      const first = before.items.slice(0, before.items.indexOf(middle));
      return { ...after, items: [...first, ...after.items.slice(index)] };
    },
    write: (write) =>
      retry(async () => {
        const ids = toIds([write]);
        return isOccupied(ids) ? CONFLICT : { kind: "ok", output: await table.write(write) };
      }, onRetries),
    transact: (writes, attempt) =>
      retry<TransactResult>(async () => {
        const ids = toIds(writes);
        if (isOccupied(ids)) return CONFLICT;
        for (const id of ids) occupied.add(id);
        try {
          await sleep(busyMs());
          return { kind: "ok", output: await table.transact(writes, attempt) };
        } finally {
          for (const id of ids) occupied.delete(id);
        }
      }, onRetries),
  });
  return { wrap };
};
