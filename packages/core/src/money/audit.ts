import { accountsListed } from "../accounts/items.ts";
import { everyItem } from "../every-item.ts";
import type { Table } from "../table.ts";
import { type Balance, balanceKey, ledgerOf, NOTHING, readBalance, readEntry } from "./items.ts";

export type Violation = { readonly account_id: string; readonly law: string };
export type Audit = {
  readonly ok: boolean;
  readonly accounts: number;
  readonly violations: readonly Violation[];
};

/** Adds up every entry of every account and holds the sums against the balances. Only reads. */
export const audit = async (table: Table, now: Date): Promise<Audit> => {
  const violations: Violation[] = [];
  let accounts = 0;
  for await (const { account, createdAt } of accountsListed(table)) {
    accounts++;
    const broken = await auditAccount(table, account, monthsBetween(createdAt, now));
    violations.push(...broken.map((law) => ({ account_id: account, law })));
  }
  return { ok: violations.length === 0, accounts, violations };
};

const auditAccount = async (table: Table, account: string, months: string[]): Promise<string[]> => {
  const before = await table.get(balanceKey(account));
  const granted = await sumOfEntries(table, account, months);
  const after = await table.get(balanceKey(account));
  if (!before || !after) return ["the account has a balance"];

  const seen: Seen = { before: readBalance(before), balance: readBalance(after), granted };
  return LAWS.filter(({ holds }) => !holds(seen.balance, seen)).map(({ law }) => law);
};

/**
 * Money may move while the entries are read. Totals only grow, so the sum of the entries lies between what the
 * balance said before and after; when nothing moves, that is one number.
 */
type Seen = { readonly before: Balance; readonly balance: Balance; readonly granted: number };

/** The laws of money, each as a sentence and what it says in numbers. */
const LAWS: readonly { law: string; holds: (balance: Balance, seen: Seen) => boolean }[] = [
  {
    law: "available = granted - debited + refunded",
    holds: (b) => b.available === b.granted - b.debited + b.refunded,
  },
  {
    law: "held + spent + refunded = debited",
    holds: (b) => b.held + b.spent + b.refunded === b.debited,
  },
  {
    law: "nothing is below zero",
    holds: (b) => Object.keys(NOTHING).every((total) => b[total as keyof Balance] >= 0),
  },
  {
    law: "granted = the sum of the grants in the ledger",
    holds: (b, { before, granted }) => before.granted <= granted && granted <= b.granted,
  },
];

const sumOfEntries = async (table: Table, account: string, months: string[]): Promise<number> => {
  let granted = 0;
  for (const month of months)
    for await (const item of everyItem(table, { pk: ledgerOf(account, month) }))
      granted += readEntry(item).amount;
  return granted;
};

/** Every month from one moment to another, both included, as the ledger's partitions are named. */
export const monthsBetween = (from: string, to: Date): string[] => {
  const months: string[] = [];
  const month = new Date(`${from.slice(0, 7)}-01T00:00:00.000Z`);
  while (month <= to) {
    months.push(month.toISOString().slice(0, 7));
    month.setUTCMonth(month.getUTCMonth() + 1);
  }
  return months;
};
