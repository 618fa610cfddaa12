import { everyItem } from "../every-item.ts";
import type { Table } from "../table.ts";
import { toCredits } from "./credits.ts";
import { readUsage, usageOf } from "./items.ts";

export type Usage = {
  readonly credits_granted: number;
  readonly credits_used: number;
  readonly credits_refunded: number;
};
export type Day = Usage & { readonly date: string };

/** The days on which money moved, oldest first. Both dates belong to the range. */
export const usageBetween = async (
  table: Table,
  account: string,
  range: { readonly from: string; readonly to: string },
): Promise<Day[]> => {
  const days: Day[] = [];
  for await (const item of everyItem(table, { pk: usageOf(account), sk: range })) {
    const { sk: date, granted, debited, refunded } = readUsage(item);
    days.push({
      date,
      credits_granted: toCredits(granted),
      credits_used: toCredits(debited),
      credits_refunded: toCredits(refunded),
    });
  }
  return days;
};

/** The months of every operation that moved credits: each has an entry in the ledger of that month. */
export const monthsUsed = async (table: Table, account: string): Promise<readonly string[]> => {
  const months = new Set<string>();
  for await (const { sk: day } of everyItem(table, { pk: usageOf(account), pageSize: 1_000 }))
    months.add(day.slice(0, "yyyy-mm".length));
  return [...months];
};

export const sumOfDays = (days: readonly Day[]): Usage => ({
  credits_granted: sum(days, "credits_granted"),
  credits_used: sum(days, "credits_used"),
  credits_refunded: sum(days, "credits_refunded"),
});

const sum = (days: readonly Day[], field: keyof Usage): number =>
  days.reduce((total, day) => total + day[field], 0);
