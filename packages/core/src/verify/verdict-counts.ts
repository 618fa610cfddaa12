import * as v from "valibot";
import { paginateQuery } from "../lib/paginate-query.ts";
import { DAY_LENGTH, toDayShard, toDayShards } from "../money/items.ts";
import { getOwnerId, type Payer } from "../money/payer.ts";
import type { Key, Table, Write } from "../ports/table.ts";
import { STATUSES, type Status } from "./result.ts";

// Layout. The number of an owner's verdicts, by status. Like usage, they count on the day when their operation began, and in
// the shard that paid. They are separate items, because a transaction writes each item once, and one transaction may contain a
// verdict and a refund.
//
//   pk                      sk                content
//   VERDICTCOUNTS#<owner>   <yyyy-mm-dd>      the verdicts of one day, of shard 0: a field for each status
//   VERDICTCOUNTS#<owner>   <yyyy-mm-dd>#<nn> the verdicts of one day, of another shard

export type VerdictCounts = Readonly<Record<Status, number>>;

export const NO_VERDICTS = Object.fromEntries(STATUSES.map((status) => [status, 0])) as Record<
  Status,
  number
>;

const toPartition = (owner: string): string => `VERDICTCOUNTS#${owner}`;

const toKey = (owner: string, at: string, shard: number): Key => ({
  pk: toPartition(owner),
  sk: toDayShard(at, shard),
});

/** A write for the transaction that stores these verdicts, so each counts once. `openedAt`: the start of their operation. */
export const countVerdicts = (
  payer: Pick<Payer, "account" | "mode"> & { readonly shard: number },
  openedAt: string,
  verdicts: readonly { readonly status: Status }[],
): readonly Write[] => {
  if (verdicts.length === 0) return [];
  const add: Partial<Record<Status, number>> = {};
  for (const { status } of verdicts) add[status] = (add[status] ?? 0) + 1;
  return [{ update: toKey(getOwnerId(payer), openedAt, payer.shard), add, orCreate: true }];
};

const Count = v.optional(v.number(), 0);
const Counts = v.object({
  sk: v.string(),
  ...(Object.fromEntries(STATUSES.map((status) => [status, Count])) as Record<
    Status,
    typeof Count
  >),
});

/** Lists the verdicts of the days that have any, oldest first. The range includes both ends. */
export const listVerdictCounts = async (
  table: Table,
  owner: string,
  range: { readonly from: string; readonly to: string },
): Promise<ReadonlyMap<string, VerdictCounts>> => {
  const days = new Map<string, VerdictCounts>();
  for await (const item of paginateQuery(table, {
    pk: toPartition(owner),
    sk: toDayShards(range),
  })) {
    const { sk, ...counts } = v.parse(Counts, item);
    const day = sk.slice(0, DAY_LENGTH);
    days.set(day, sumVerdictCounts([counts, days.get(day) ?? NO_VERDICTS]));
  }
  return days;
};

export const sumVerdictCounts = (all: Iterable<VerdictCounts>): VerdictCounts => {
  const sums = { ...NO_VERDICTS };
  for (const counts of all) for (const status of STATUSES) sums[status] += counts[status];
  return sums;
};
