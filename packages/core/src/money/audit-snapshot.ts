import type { Table } from "../ports/table.ts";
import { readStableBalance, type ShardedBalance, TOTALS, type Totals } from "./balance.ts";
import {
  type Closings,
  type MonthSum,
  mayClose,
  sumMonth,
  sumMonths,
  writeClosing,
} from "./closings.ts";
import { USAGE_FIELDS, USAGE_TOTALS } from "./items.ts";
import { addUp } from "./moves.ts";
import { iterateOperations } from "./operation-items.ts";
import { sumSpending } from "./spending.ts";
import { NO_USAGE, sumMonthlyUsage, type UsageSums } from "./usage.ts";

export type AuditedAccount = { readonly account: string; readonly createdAt: string };

export type AuditReading = {
  /** The credits that work under way holds, by operation. */
  readonly held: ReadonlyMap<string, number>;
  readonly broken: readonly string[];
};

/** Reads one area's work of an account. Every area that takes over held credits from an operation has a reader. */
export type AuditReader = (table: Table, account: string, now: Date) => Promise<AuditReading>;

export type AccountAudit = {
  readonly table: Table;
  readonly account: AuditedAccount;
  readonly readers: readonly AuditReader[];
  readonly now: Date;
};

/** `isQuiet`: no credits moved between the first read and the last, so every sum must be exact. */
export type AuditSnapshot = {
  readonly balance: ShardedBalance;
  readonly before: ShardedBalance;
  readonly isQuiet: boolean;
  readonly sums: Totals;
  readonly months: readonly MonthSum[];
  readonly trusted: Closings;
  readonly usage: ReadonlyMap<string, UsageSums>;
  /** The counters of what persons and the account spent, without those of closed months, which nothing reads any more. */
  readonly spending: ReadonlyMap<string, number>;
  /** Held credits by operation: once by the entries, once by the work under way. */
  readonly heldByEntries: ReadonlyMap<string, number>;
  readonly heldByWork: ReadonlyMap<string, number>;
  readonly readings: readonly AuditReading[];
};

export const listBroken = (snapshot: AuditSnapshot | undefined): readonly string[] => {
  if (!snapshot) return [NO_BALANCE];
  const own = INVARIANTS.filter(({ holds }) => !holds(snapshot));
  return [
    ...own.map(({ invariant }) => invariant),
    ...snapshot.readings.flatMap(({ broken }) => broken),
  ];
};

const NO_BALANCE = "the account has a balance";

/**
 * Undefined when the account has no balance. `trusted`: the closings that count as the sums of their months, so the audit does
 * not read those entries.
 */
export const takeSnapshot = async (
  audit: AccountAudit,
  stored: Closings,
  trusted: Closings,
): Promise<AuditSnapshot | undefined> => {
  const { table, account, readers, now } = audit;
  const before = await findBalance(table, account.account);
  const usage = await sumMonthlyUsage(table, account.account);
  const spending = await sumSpending(table, account.account, trusted);
  const months = await sumOtherMonths(audit, stored, trusted, usage.keys());
  const sums = sumMonths([...months, ...trusted.values()]);
  // Credits of a closed month are never held.
  const heldByEntries = new Map(months.flatMap(({ held }) => [...held]));
  const readings = await Array.fromAsync(readers, (read) => read(table, account.account, now));
  const heldByWork = new Map(readings.flatMap(({ held }) => [...held]));
  for await (const { id, mode, amount } of iterateOperations(table, account.account))
    if (mode === "live") heldByWork.set(id, amount);
  const balance = await findBalance(table, account.account);
  if (!before || !balance) return undefined;
  const isQuiet = TOTALS.every((total) => before[total] === balance[total]);
  const work = { heldByEntries, heldByWork, readings };
  return { balance, before, isQuiet, sums, months, trusted, usage, spending, ...work };
};

const findBalance = async (table: Table, account: string): Promise<ShardedBalance | undefined> =>
  (await readStableBalance(table, account).catch(() => undefined))?.balance;

const sumOtherMonths = async (
  { table, account: { account, createdAt }, now }: AccountAudit,
  stored: Closings,
  trusted: Closings,
  used: Iterable<string>,
): Promise<readonly MonthSum[]> => {
  // A wrong clock may have written an entry to another month; the usage of that month reveals it.
  const sums: MonthSum[] = [];
  for (const month of new Set([...monthsBetween(createdAt, now), ...used, ...stored.keys()])) {
    if (trusted.has(month)) continue;
    const sum = await sumMonth(table, account, month);
    sums.push(sum);
    // An interrupted audit continues from this closing, which is proved once the balance agrees.
    if (!stored.has(month) && mayClose(sum, now)) await writeClosing(table, account, sum, false);
  }
  return sums;
};

type Invariant = { readonly invariant: string; readonly holds: (seen: AuditSnapshot) => boolean };

/** The invariants of money, each as a sentence and a check. The first three hold in every shard of the balance. */
const INVARIANTS: readonly Invariant[] = [
  {
    invariant: "available = granted - debited + refunded",
    holds: ({ balance }) =>
      balance.shards.every((b) => b.available === b.granted - b.debited + b.refunded),
  },
  {
    invariant: "held + spent + refunded = debited",
    holds: ({ balance }) =>
      balance.shards.every((b) => b.held + b.spent + b.refunded === b.debited),
  },
  {
    invariant: "nothing is below zero",
    holds: ({ balance }) =>
      balance.shards.every((shard) => TOTALS.every((total) => shard[total] >= 0)),
  },
  ...TOTALS.map(
    (total): Invariant => ({
      invariant: `${total} = the sum of the entries in the ledger`,
      holds: ({ isQuiet, balance, sums }) => !isQuiet || balance[total] === sums[total],
    }),
  ),
  ...(["granted", "debited", "refunded"] as const).map(
    (total): Invariant => ({
      // Only a clawback reduces these totals, so the sum lies between the balance before and the balance after.
      invariant: `${total} keeps up with the ledger`,
      holds: ({ before, balance, sums }) =>
        Math.min(before[total], balance[total]) <= sums[total] &&
        sums[total] <= Math.max(before[total], balance[total]),
    }),
  ),
  {
    invariant: "usage, in total and by operation, = the sum of the entries of each month",
    holds: ({ isQuiet, usage, months, trusted }) =>
      !isQuiet ||
      (months.every(({ month, usage: sums }) => isSameUsage(usage.get(month), sums)) &&
        [...trusted.values()].every(({ month, sums }) => isSameTotals(usage.get(month), sums))),
  },
  {
    invariant: "each counter of a month's spending = the sum of the entries that name it",
    holds: ({ isQuiet, spending, months }) => {
      const sums = addUp(months.map((month) => Object.fromEntries(month.spending)));
      const counters = [...spending.keys(), ...Object.keys(sums)];
      return !isQuiet || counters.every((one) => (spending.get(one) ?? 0) === (sums[one] ?? 0));
    },
  },
  {
    invariant: "credits are held for work under way, and for nothing else",
    holds: ({ isQuiet, heldByEntries, heldByWork }) =>
      !isQuiet ||
      (heldByEntries.size === heldByWork.size &&
        [...heldByEntries].every(([id, held]) => heldByWork.get(id) === held)),
  },
];

const isSameUsage = (counted: UsageSums | undefined, sums: UsageSums): boolean =>
  USAGE_FIELDS.every((field) => (counted ?? NO_USAGE)[field] === sums[field]);

/** A closing stores no sums by paid operation. */
const isSameTotals = (counted: UsageSums | undefined, sums: Totals): boolean =>
  USAGE_TOTALS.every((total) => (counted ?? NO_USAGE)[total] === sums[total]);

const monthsBetween = (from: string, to: Date): string[] => {
  const months: string[] = [];
  const month = new Date(`${from.slice(0, 7)}-01T00:00:00.000Z`);
  while (month <= to) {
    months.push(month.toISOString().slice(0, 7));
    month.setUTCMonth(month.getUTCMonth() + 1);
  }
  return months;
};
