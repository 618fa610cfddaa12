import { paginateQuery } from "../lib/paginate-query.ts";
import type { Table } from "../ports/table.ts";
import { type Halves, toCredits } from "./credits.ts";
import {
  DAY_LENGTH,
  MONTH_LENGTH,
  readUsage,
  toDayShards,
  toOperationField,
  toUsagePartition,
  USAGE_FIELDS,
  type UsageField,
} from "./items.ts";
import { PAID_OPERATIONS } from "./reasons.ts";

export type UsageSums = Readonly<Record<UsageField, Halves>>;

/** Sums the days on which credits moved, oldest first. The range includes both ends. */
export const listUsage = (
  table: Table,
  account: string,
  range: { readonly from: string; readonly to: string },
): Promise<ReadonlyMap<string, UsageSums>> => sumUsageBy(table, account, DAY_LENGTH, range);

/** Sums whole months. The ledger of a month contains the entries of every operation that moved credits in it. */
export const sumMonthlyUsage = (
  table: Table,
  account: string,
): Promise<ReadonlyMap<string, UsageSums>> => sumUsageBy(table, account, MONTH_LENGTH);

const sumUsageBy = async (
  table: Table,
  account: string,
  length: number,
  range?: { readonly from: string; readonly to: string },
): Promise<ReadonlyMap<string, UsageSums>> => {
  const sums = new Map<string, UsageSums>();
  const pk = toUsagePartition(account);
  const query = { pk, pageSize: 1_000, ...(range && { sk: toDayShards(range) }) };
  for await (const item of paginateQuery(table, query)) {
    const usage = readUsage(item);
    const period = usage.sk.slice(0, length);
    sums.set(period, sumUsage([usage, sums.get(period) ?? NO_USAGE]));
  }
  return sums;
};

export const sumUsage = (usages: Iterable<UsageSums>): UsageSums => {
  const sums = { ...NO_USAGE };
  for (const usage of usages)
    for (const field of USAGE_FIELDS) sums[field] = (sums[field] + usage[field]) as Halves;
  return sums;
};

export const NO_USAGE = Object.fromEntries(
  USAGE_FIELDS.map((field) => [field, 0 as Halves]),
) as Record<UsageField, Halves>;

export const toCreditUsage = (sums: UsageSums) => ({
  credits_granted: toCredits(sums.granted),
  credits_used: toCredits(sums.debited),
  credits_refunded: toCredits(sums.refunded),
  by_operation: PAID_OPERATIONS.map((operation) => ({
    operation,
    credits_used: toCredits(sums[toOperationField("debited", operation)]),
    credits_refunded: toCredits(sums[toOperationField("refunded", operation)]),
  })).filter((usage) => usage.credits_used !== 0 || usage.credits_refunded !== 0),
});
