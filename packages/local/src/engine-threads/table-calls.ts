import type {
  Attempt,
  Key,
  Table,
  TableQuery,
  TransactResult,
  Write,
  WriteResult,
} from "@mailproof/core/ports/table";
import { type Calls, ENDED } from "./calls.ts";

// The main thread's table, for the other threads. The reply names a refused write by its position: a copied write would not equal the write
// that the caller compares it with.

type RefusedAt = { readonly outcome: "refused"; readonly position: number };
type Positioned<Result> = Exclude<Result, { readonly outcome: "refused" }> | RefusedAt;

const toPositioned = <Result extends WriteResult | TransactResult>(
  writes: readonly Write[],
  result: Result,
): Positioned<Result> =>
  result.outcome === "refused"
    ? { outcome: "refused", position: writes.indexOf(result.refusedWrite) }
    : (result as Positioned<Result>);

const fromPositioned = <Result extends WriteResult | TransactResult>(
  writes: readonly Write[],
  result: Positioned<Result> | typeof ENDED,
): Result | { readonly outcome: "refused"; readonly refusedWrite: Write } => {
  // Only the main thread ends calls of the table, and then this thread also ends.
  if (result === ENDED) return { outcome: "ambiguous" } as Result;
  if (!("position" in result)) return result as Result;
  const refusedWrite = writes[result.position];
  if (!refusedWrite) throw new Error("the table refused a write that it was not given");
  return { outcome: "refused", refusedWrite };
};

export type TableHandlers = ReturnType<typeof createTableHandlers>;

export const createTableHandlers = (table: Table) => ({
  get: (key: Key) => table.get(key),
  query: (query: TableQuery) => table.query(query),
  write: async (write: Write) => toPositioned([write], await table.write(write)),
  transact: async (writes: readonly Write[], attempt?: Attempt) =>
    toPositioned(writes, await table.transact(writes, attempt)),
});

const assertReturned = <Value>(value: Value | typeof ENDED): Value => {
  if (value === ENDED) throw new Error("the table's thread ended");
  return value;
};

export const createRemoteTable = ({ call }: Calls<TableHandlers>): Table => ({
  get: async (key) => assertReturned(await call("get", key)),
  query: async (query) => assertReturned(await call("query", query)),
  write: async (write) => fromPositioned<WriteResult>([write], await call("write", write)),
  transact: async (writes, attempt) =>
    fromPositioned<TransactResult>(writes, await call("transact", writes, attempt)),
  returnsItems: true,
});
