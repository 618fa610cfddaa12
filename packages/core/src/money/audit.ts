import { paginateQuery } from "../lib/paginate-query.ts";
import type { Table } from "../ports/table.ts";
import { getBalance, type ShardedBalance, TOTALS, type Total, ZERO_TOTALS } from "./balance.ts";
import { type LedgerEntry, readEntry, toLedgerPartition } from "./items.ts";
import { toBalanceChanges } from "./moves.ts";
import { iterateOperations } from "./operation-items.ts";
import { listUsedMonths } from "./usage.ts";

export type Violation = { readonly account_id: string; readonly law: string };
export type Audit = {
  readonly ok: boolean;
  readonly accounts: number;
  readonly violations: readonly Violation[];
};

type AuditedAccount = { readonly account: string; readonly createdAt: string };

/** What an area of the service reports about one account. */
export type AuditReading = {
  /** The credits that its work under way holds, by operation. */
  readonly held: ReadonlyMap<string, number>;
  /** Those of its own invariants that do not hold. */
  readonly broken: readonly string[];
};

/** Reads one area's work of an account. Every area that takes over held credits from an operation has one. */
export type AuditReader = (table: Table, account: string, now: Date) => Promise<AuditReading>;

/**
 * Makes the audit, which sums the entries of every account and compares the sums with the balances, and with what the
 * readers and the operations hold. Only reads.
 */
export const createAudit =
  (
    iterateAccounts: (table: Table) => AsyncIterable<AuditedAccount>,
    readers: readonly AuditReader[],
  ) =>
  async (table: Table, now: Date): Promise<Audit> => {
    const violations: Violation[] = [];
    let accounts = 0;
    for await (const account of iterateAccounts(table)) {
      accounts++;
      const broken = await auditAccount(table, account, readers, now);
      violations.push(
        ...broken.map((invariant) => ({ account_id: account.account, law: invariant })),
      );
    }
    return { ok: violations.length === 0, accounts, violations };
  };

/** Money may move during the audit. A real violation is still there at the next attempt. */
const ATTEMPTS_MAX = 3;

const auditAccount = async (
  table: Table,
  account: AuditedAccount,
  readers: readonly AuditReader[],
  now: Date,
): Promise<readonly string[]> => {
  let broken: readonly string[] = [];
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    broken = listBroken(await takeSnapshot(table, account, readers, now));
    if (broken.length === 0) return [];
  }
  return broken;
};

const listBroken = (snapshot: AuditSnapshot | undefined): readonly string[] => {
  if (!snapshot) return [NO_BALANCE];
  const own = INVARIANTS.filter(({ holds }) => !holds(snapshot));
  return [
    ...own.map(({ invariant }) => invariant),
    ...snapshot.readings.flatMap(({ broken }) => broken),
  ];
};

const NO_BALANCE = "the account has a balance";

/** `isQuiet`: nothing moved between the first read and the last, so every sum must be exact. */
type AuditSnapshot = {
  readonly balance: ShardedBalance;
  readonly before: ShardedBalance;
  readonly isQuiet: boolean;
  readonly sums: Readonly<Record<Total, number>>;
  /** Held credits by operation: according to the entries, and according to the work under way. */
  readonly heldByEntries: ReadonlyMap<string, number>;
  readonly heldByWork: ReadonlyMap<string, number>;
  readonly readings: readonly AuditReading[];
};

const takeSnapshot = async (
  table: Table,
  { account, createdAt }: AuditedAccount,
  readers: readonly AuditReader[],
  now: Date,
): Promise<AuditSnapshot | undefined> => {
  const before = await getBalance(table, account).catch(() => undefined);
  const { sums, heldByEntries } = await sumEntries(table, account, [
    // An entry may have been written while the clock was wrong: the days of usage still name its month.
    ...new Set([...monthsBetween(createdAt, now), ...(await listUsedMonths(table, account))]),
  ]);
  const readings = await Array.fromAsync(readers, (read) => read(table, account, now));
  const heldByWork = new Map(readings.flatMap(({ held }) => [...held]));
  for await (const { id, mode, amount } of iterateOperations(table, account))
    if (mode === "live") heldByWork.set(id, amount);
  const balance = await getBalance(table, account).catch(() => undefined);
  if (!before || !balance) return undefined;
  const isQuiet = TOTALS.every((total) => before[total] === balance[total]);
  return { balance, before, isQuiet, sums, heldByEntries, heldByWork, readings };
};

type Invariant = { readonly invariant: string; readonly holds: (seen: AuditSnapshot) => boolean };

/** The invariants of money, each as a sentence and as a check. The first ones hold in every shard of the balance. */
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
      // Only a clawback reduces one of these totals, so the sum lies between the balance before and after.
      invariant: `${total} keeps up with the ledger`,
      holds: ({ before, balance, sums }) =>
        Math.min(before[total], balance[total]) <= sums[total] &&
        sums[total] <= Math.max(before[total], balance[total]),
    }),
  ),
  {
    invariant: "credits are held for work under way, and for nothing else",
    holds: ({ isQuiet, heldByEntries, heldByWork }) =>
      !isQuiet ||
      (heldByEntries.size === heldByWork.size &&
        [...heldByEntries].every(([id, held]) => heldByWork.get(id) === held)),
  },
];

const sumEntries = async (table: Table, account: string, months: readonly string[]) => {
  const sums: Record<Total, number> = { ...ZERO_TOTALS };
  const heldByEntries = new Map<string, number>();
  for (const month of months)
    for await (const item of paginateQuery(table, {
      pk: toLedgerPartition(account, month),
      pageSize: 1_000,
    }))
      addEntry(readEntry(item), sums, heldByEntries);
  return { sums, heldByEntries };
};

const addEntry = (
  entry: LedgerEntry,
  sums: Record<Total, number>,
  held: Map<string, number>,
): void => {
  const { operation, moved } = entry;
  for (const [total, by] of Object.entries(toBalanceChanges(moved))) sums[total as Total] += by;
  const now = (held.get(operation) ?? 0) + (toBalanceChanges(moved)["held"] ?? 0);
  if (now === 0) held.delete(operation);
  else held.set(operation, now);
};

/** Every month between two times, inclusive, in the form of the ledger's partition keys. */
const monthsBetween = (from: string, to: Date): string[] => {
  const months: string[] = [];
  const month = new Date(`${from.slice(0, 7)}-01T00:00:00.000Z`);
  while (month <= to) {
    months.push(month.toISOString().slice(0, 7));
    month.setUTCMonth(month.getUTCMonth() + 1);
  }
  return months;
};
