import { paginateQuery } from "../lib/paginate-query.ts";
import type { Table } from "../ports/table.ts";
import { type RequestEntry, readRequestItem, toRequestsPartition } from "./items.ts";

export type RequestFilter = {
  readonly owner: string;
  readonly isWanted?: (entry: RequestEntry) => boolean;
};

/** The item where a page ended, and the number of its entries already read, counted from the newest. */
export type RequestPosition = readonly [sk: string, passed: number];

export type RequestPage = {
  readonly requests: readonly RequestEntry[];
  readonly next?: RequestPosition;
};

/** A page examines at most 5,000 entries, so that a filter with few matches does not read for minutes. */
const SCANNED_MAX = 5_000;
const PAGE_SIZE = 50;

/** Newest first. A page may be short when it examined many entries and few matched the filter. */
export const listRequests = async (
  table: Table,
  { owner, isWanted = () => true }: RequestFilter,
  { limit, after }: { readonly limit: number; readonly after?: RequestPosition | undefined },
): Promise<RequestPage> => {
  const requests: RequestEntry[] = [];
  let scanned = 0;
  const query = {
    pk: toRequestsPartition(owner),
    newestFirst: true,
    pageSize: PAGE_SIZE,
    ...(after && { sk: { from: "0", to: after[0] } }),
  };
  for await (const item of paginateQuery(table, query)) {
    const { sk, entries } = readRequestItem(item);
    const passed = after?.[0] === sk ? after[1] : 0;
    const newestFirst = entries.toReversed();
    for (const [at, entry] of newestFirst.entries()) {
      if (at < passed) continue;
      if (requests.length === limit || scanned === SCANNED_MAX) return { requests, next: [sk, at] };
      scanned++;
      if (isWanted(entry)) requests.push(entry);
    }
  }
  return { requests };
};

export const findLastRequest = async (table: Table, owner: string): Promise<string | undefined> => {
  const query = { pk: toRequestsPartition(owner), newestFirst: true, limit: 1 };
  const [newest] = (await table.query(query)).items;
  return newest && readRequestItem(newest).entries.at(-1)?.at;
};
