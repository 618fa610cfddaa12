import { paginateQuery } from "../lib/paginate-query.ts";
import type { Table } from "../ports/table.ts";
import { toCredits } from "./credits.ts";
import { DAY_LENGTH, readUsage, toUsagePartition, toUsageRange } from "./items.ts";

export type CreditUsage = {
  readonly credits_granted: number;
  readonly credits_used: number;
  readonly credits_refunded: number;
};
export type UsageDay = CreditUsage & { readonly date: string };

/** The days on which credits moved, oldest first. Both dates belong to the range. */
export const listUsage = async (
  table: Table,
  account: string,
  range: { readonly from: string; readonly to: string },
): Promise<UsageDay[]> => {
  const days = new Map<string, UsageDay>();
  const query = { pk: toUsagePartition(account), sk: toUsageRange(range) };
  for await (const item of paginateQuery(table, query)) {
    const { sk, granted, debited, refunded } = readUsage(item);
    const date = sk.slice(0, DAY_LENGTH);
    const sums = days.get(date);
    days.set(date, {
      date,
      credits_granted: toCredits(granted) + (sums?.credits_granted ?? 0),
      credits_used: toCredits(debited) + (sums?.credits_used ?? 0),
      credits_refunded: toCredits(refunded) + (sums?.credits_refunded ?? 0),
    });
  }
  return [...days.values()];
};

/** The months of every operation that moved credits: their entries are in the ledger of that month. */
export const listUsedMonths = async (table: Table, account: string): Promise<readonly string[]> => {
  const months = new Set<string>();
  for await (const { sk: day } of paginateQuery(table, {
    pk: toUsagePartition(account),
    pageSize: 1_000,
  }))
    months.add(day.slice(0, "yyyy-mm".length));
  return [...months];
};

export const sumUsage = (days: readonly UsageDay[]): CreditUsage => ({
  credits_granted: sumField(days, "credits_granted"),
  credits_used: sumField(days, "credits_used"),
  credits_refunded: sumField(days, "credits_refunded"),
});

const sumField = (days: readonly UsageDay[], field: keyof CreditUsage): number =>
  days.reduce((total, day) => total + day[field], 0);
