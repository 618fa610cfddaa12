import * as v from "valibot";
import { paginateQuery } from "../lib/paginate-query.ts";
import type { Item, Json, Key, Table } from "../ports/table.ts";
import type { Halves } from "./credits.ts";
import { CountedIn } from "./items.ts";
import { PAID_OPERATIONS } from "./reasons.ts";

// Layout. Paid work under way. The item exists from the debit until the credits are settled, released, or handed over to a job.
// Each of these removes the item, so only one of them can happen. After a crash the item remains and becomes due.
//
//   pk               sk         list_pk            list_sk  content
//   OPERATION#<id>   OPERATION  HELD#<account>     <id>     the payer, the held amount and the request

const Operation = v.object({
  id: v.string(),
  kind: v.string(),
  account: v.string(),
  mode: v.picklist(["live", "test"]),
  openedAt: v.string(),
  amount: v.custom<Halves>(Number.isSafeInteger),
  shard: v.number(),
  countedIn: CountedIn,
  reason: v.picklist(PAID_OPERATIONS),
  claim: v.nullable(v.object({ pk: v.string(), sk: v.string() })),
  input: v.custom<Json>(() => true),
  token: v.string(),
  expectedMs: v.number(),
  /** The time when another process took the work over. Absent while the first request works. */
  taken_at: v.optional(v.string()),
  isSent: v.boolean(),
});

export type Operation = Readonly<v.InferOutput<typeof Operation>>;

export const readOperation = (item: Item): Operation => v.parse(Operation, item);
export const toOperationKey = (id: string): Key => ({ pk: `OPERATION#${id}`, sk: "OPERATION" });
export const toHeldPartition = (account: string): string => `HELD#${account}`;

/** Yields the account's operations under way, except those handed over to a job. */
export async function* iterateOperations(table: Table, account: string): AsyncGenerator<Operation> {
  for await (const item of paginateQuery(table, { index: "list", pk: toHeldPartition(account) }))
    yield readOperation(item);
}
