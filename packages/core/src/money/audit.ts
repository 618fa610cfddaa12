import { iterateAccounts } from "../accounts/account-items.ts";
import { iterateChunks } from "../jobs/chunks.ts";
import { findJob, iterateJobs, type Job } from "../jobs/items.ts";
import { paginateQuery } from "../lib/paginate-query.ts";
import type { Table } from "../ports/table.ts";
import {
  type Balance,
  getBalance,
  type LedgerEntry,
  readEntry,
  TOTALS,
  type Total,
  toLedgerPartition,
  ZERO_TOTALS,
} from "./items.ts";
import { toBalanceChanges } from "./moves.ts";
import { iterateOperations } from "./operations.ts";
import { listUsedMonths } from "./usage.ts";

export type Violation = { readonly account_id: string; readonly law: string };
export type Audit = {
  readonly ok: boolean;
  readonly accounts: number;
  readonly violations: readonly Violation[];
};

/** Sums the entries of every account and compares the sums with the balances and the jobs. Only reads. */
export const audit = async (table: Table, now: Date): Promise<Audit> => {
  const violations: Violation[] = [];
  let accounts = 0;
  for await (const { account, createdAt } of iterateAccounts(table)) {
    accounts++;
    const broken = await auditAccount(table, account, { from: createdAt, now });
    violations.push(...broken.map((invariant) => ({ account_id: account, law: invariant })));
  }
  return { ok: violations.length === 0, accounts, violations };
};

/** Money may move during the audit. A real violation is still there at the next attempt. */
const ATTEMPTS_MAX = 3;

type AuditPeriod = { readonly from: string; readonly now: Date };

const auditAccount = async (
  table: Table,
  account: string,
  time: AuditPeriod,
): Promise<string[]> => {
  let broken: string[] = [];
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const snapshot = await takeSnapshot(table, account, time);
    broken = snapshot
      ? INVARIANTS.filter(({ holds }) => !holds(snapshot)).map(({ invariant }) => invariant)
      : [NO_BALANCE];
    if (broken.length === 0) return [];
  }
  return broken;
};

const NO_BALANCE = "the account has a balance";

/** `isQuiet`: nothing moved between the first read and the last, so every sum must be exact. */
type AuditSnapshot = {
  readonly balance: Balance;
  readonly before: Balance;
  readonly isQuiet: boolean;
  readonly sums: Readonly<Record<Total, number>>;
  /** Held credits by operation: according to the entries, and according to the operations and jobs under way. */
  readonly heldByEntries: ReadonlyMap<string, number>;
  readonly heldByWork: ReadonlyMap<string, number>;
  readonly jobs: readonly JobCount[];
};

/**
 * `inChunks`: how many rows its chunks have, counted between two reads of the job. Null: the chunks may have expired.
 */
type JobCount = { readonly job: Job; readonly after: Job; readonly inChunks: number | null };

const takeSnapshot = async (
  table: Table,
  account: string,
  { from, now }: AuditPeriod,
): Promise<AuditSnapshot | undefined> => {
  const before = await getBalance(table, account).catch(() => undefined);
  const { sums, heldByEntries } = await sumEntries(table, account, [
    // An entry may have been written while the clock was wrong: the days of usage still name its month.
    ...new Set([...monthsBetween(from, now), ...(await listUsedMonths(table, account))]),
  ]);
  const jobs = await Array.fromAsync(iterateJobs(table, account), (job) =>
    countJobRows(table, job, now),
  );
  const heldByWork = new Map(jobs.flatMap(({ job }) => (job.held > 0 ? [[job.id, job.held]] : [])));
  for await (const { id, mode, amount } of iterateOperations(table, account))
    if (mode === "live") heldByWork.set(id, amount);
  const balance = await getBalance(table, account).catch(() => undefined);
  if (!before || !balance) return undefined;
  const isQuiet = TOTALS.every((total) => before[total] === balance[total]);
  return { balance, before, isQuiet, sums, heldByEntries, heldByWork, jobs };
};

type Invariant = { readonly invariant: string; readonly holds: (seen: AuditSnapshot) => boolean };

/** The invariants of money, each as a sentence and as a check. */
const INVARIANTS: readonly Invariant[] = [
  {
    invariant: "available = granted - debited + refunded",
    holds: ({ balance: b }) => b.available === b.granted - b.debited + b.refunded,
  },
  {
    invariant: "held + spent + refunded = debited",
    holds: ({ balance: b }) => b.held + b.spent + b.refunded === b.debited,
  },
  {
    invariant: "nothing is below zero",
    holds: ({ balance }) => TOTALS.every((total) => balance[total] >= 0),
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
  {
    invariant:
      "a job's counters add up to what it processed, and a completed job has processed or refunded all",
    holds: ({ jobs }) => jobs.every(({ job }) => areCountsConsistent(job)),
  },
  {
    invariant: "a job has processed the rows that its chunks have",
    holds: ({ jobs }) =>
      jobs.every(
        ({ job, after, inChunks }) =>
          inChunks === null || (job.processed <= inChunks && inChunks <= after.processed),
      ),
  },
];

const areCountsConsistent = (job: Job): boolean => {
  const { status, total, processed, refunded, valid, invalid, risky, unknown } = job;
  const done = processed + refunded;
  return (
    valid + invalid + risky + unknown === processed &&
    done <= total &&
    (status !== "completed" || done === total)
  );
};

/** Chunks that may expire during the audit are not counted. */
const RETENTION_MARGIN_MS = 3_600_000;

const countJobRows = async (table: Table, job: Job, now: Date): Promise<JobCount> => {
  const retainedUntil = Date.parse(job.createdAt) + job.keptSeconds * 1000;
  if (retainedUntil - now.getTime() < RETENTION_MARGIN_MS)
    return { job, after: job, inChunks: null };
  let inChunks = 0;
  for await (const { rows } of iterateChunks(table, job.id)) inChunks += rows;
  const after = inChunks === job.processed ? job : await findJob(table, job.id);
  return { job, after: after ?? job, inChunks };
};

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
export const monthsBetween = (from: string, to: Date): string[] => {
  const months: string[] = [];
  const month = new Date(`${from.slice(0, 7)}-01T00:00:00.000Z`);
  while (month <= to) {
    months.push(month.toISOString().slice(0, 7));
    month.setUTCMonth(month.getUTCMonth() + 1);
  }
  return months;
};
