import { accountsListed } from "../accounts/items.ts";
import { everyItem } from "../every-item.ts";
import { chunksOf } from "../jobs/chunks.ts";
import { findJob, type Job, jobsListed } from "../jobs/items.ts";
import type { Table } from "../table.ts";
import {
  type Balance,
  balanceOf,
  type Entry,
  ledgerOf,
  NOTHING,
  readEntry,
  TOTALS,
  type Total,
} from "./items.ts";
import { changesOf } from "./moves.ts";
import { operationsOf } from "./operations.ts";
import { monthsUsed } from "./usage.ts";

export type Violation = { readonly account_id: string; readonly law: string };
export type Audit = {
  readonly ok: boolean;
  readonly accounts: number;
  readonly violations: readonly Violation[];
};

/** Adds up every entry of every account and holds the sums against the balances and the jobs. Only reads. */
export const audit = async (table: Table, now: Date): Promise<Audit> => {
  const violations: Violation[] = [];
  let accounts = 0;
  for await (const { account, createdAt } of accountsListed(table)) {
    accounts++;
    const broken = await auditAccount(table, account, { from: createdAt, now });
    violations.push(...broken.map((law) => ({ account_id: account, law })));
  }
  return { ok: violations.length === 0, accounts, violations };
};

/** Money may move while it is counted. What is broken is still broken when looked at again. */
const LOOKS = 3;

type Time = { readonly from: string; readonly now: Date };

const auditAccount = async (table: Table, account: string, time: Time): Promise<string[]> => {
  let broken: string[] = [];
  for (let look = 0; look < LOOKS; look++) {
    const seen = await lookAt(table, account, time);
    broken = seen ? LAWS.filter(({ holds }) => !holds(seen)).map(({ law }) => law) : [NO_BALANCE];
    if (broken.length === 0) return [];
  }
  return broken;
};

const NO_BALANCE = "the account has a balance";

/** `isQuiet`: nothing moved between the first look and the last, so every sum must be exact. */
type Seen = {
  readonly balance: Balance;
  readonly before: Balance;
  readonly isQuiet: boolean;
  readonly sums: Readonly<Record<Total, number>>;
  /** What the entries say is held, by operation, and what the operations and jobs under way say. */
  readonly heldByEntries: ReadonlyMap<string, number>;
  readonly heldByWork: ReadonlyMap<string, number>;
  readonly jobs: readonly Counted[];
};

/** `inChunks`: how many rows its chunks tell of, counted between two looks at the job. Null: they may be gone. */
type Counted = { readonly job: Job; readonly after: Job; readonly inChunks: number | null };

const lookAt = async (
  table: Table,
  account: string,
  { from, now }: Time,
): Promise<Seen | undefined> => {
  const before = await balanceOf(table, account).catch(() => undefined);
  const { sums, heldByEntries } = await sumsOf(table, account, [
    // The clock may have been wrong when an entry was written: the days of usage name its month all the same.
    ...new Set([...monthsBetween(from, now), ...(await monthsUsed(table, account))]),
  ]);
  const jobs = await Array.fromAsync(jobsListed(table, account), (job) => counted(table, job, now));
  const heldByWork = new Map(jobs.flatMap(({ job }) => (job.held > 0 ? [[job.id, job.held]] : [])));
  for await (const { id, mode, amount } of operationsOf(table, account))
    if (mode === "live") heldByWork.set(id, amount);
  const balance = await balanceOf(table, account).catch(() => undefined);
  if (!before || !balance) return undefined;
  const isQuiet = TOTALS.every((total) => before[total] === balance[total]);
  return { balance, before, isQuiet, sums, heldByEntries, heldByWork, jobs };
};

type Law = { readonly law: string; readonly holds: (seen: Seen) => boolean };

/** The laws of money, each as a sentence and what it says in numbers. */
const LAWS: readonly Law[] = [
  {
    law: "available = granted - debited + refunded",
    holds: ({ balance: b }) => b.available === b.granted - b.debited + b.refunded,
  },
  {
    law: "held + spent + refunded = debited",
    holds: ({ balance: b }) => b.held + b.spent + b.refunded === b.debited,
  },
  {
    law: "nothing is below zero",
    holds: ({ balance }) => TOTALS.every((total) => balance[total] >= 0),
  },
  ...TOTALS.map(
    (total): Law => ({
      law: `${total} = the sum of the entries in the ledger`,
      holds: ({ isQuiet, balance, sums }) => !isQuiet || balance[total] === sums[total],
    }),
  ),
  ...(["granted", "debited", "refunded"] as const).map(
    (total): Law => ({
      // Only a clawback makes one of these fall, so the sum lies between what the balance said before and after.
      law: `${total} keeps up with the ledger`,
      holds: ({ before, balance, sums }) =>
        Math.min(before[total], balance[total]) <= sums[total] &&
        sums[total] <= Math.max(before[total], balance[total]),
    }),
  ),
  {
    law: "what is held is held for work that is under way, and for nothing else",
    holds: ({ isQuiet, heldByEntries, heldByWork }) =>
      !isQuiet ||
      (heldByEntries.size === heldByWork.size &&
        [...heldByEntries].every(([id, held]) => heldByWork.get(id) === held)),
  },
  {
    law: "a job's counters add up to what it processed, and a completed job has processed or given back all",
    holds: ({ jobs }) => jobs.every(({ job }) => countsAddUp(job)),
  },
  {
    law: "what a job has processed is what its chunks tell of",
    holds: ({ jobs }) =>
      jobs.every(
        ({ job, after, inChunks }) =>
          inChunks === null || (job.processed <= inChunks && inChunks <= after.processed),
      ),
  },
];

const countsAddUp = (job: Job): boolean => {
  const { status, total, processed, refunded, valid, invalid, risky, unknown } = job;
  const done = processed + refunded;
  return (
    valid + invalid + risky + unknown === processed &&
    done <= total &&
    (status !== "completed" || done === total)
  );
};

/** An audit takes its time: what goes within it is not asked for. */
const KEPT_STILL_MS = 3_600_000;

const counted = async (table: Table, job: Job, now: Date): Promise<Counted> => {
  const keptUntil = Date.parse(job.createdAt) + job.keptSeconds * 1000;
  if (keptUntil - now.getTime() < KEPT_STILL_MS) return { job, after: job, inChunks: null };
  let inChunks = 0;
  for await (const { rows } of chunksOf(table, job.id)) inChunks += rows;
  const after = inChunks === job.processed ? job : await findJob(table, job.id);
  return { job, after: after ?? job, inChunks };
};

const sumsOf = async (table: Table, account: string, months: readonly string[]) => {
  const sums: Record<Total, number> = { ...NOTHING };
  const heldByEntries = new Map<string, number>();
  for (const month of months)
    for await (const item of everyItem(table, { pk: ledgerOf(account, month), pageSize: 1_000 }))
      add(readEntry(item), sums, heldByEntries);
  return { sums, heldByEntries };
};

const add = (entry: Entry, sums: Record<Total, number>, held: Map<string, number>): void => {
  const { operation, moved } = entry;
  for (const [total, by] of Object.entries(changesOf(moved))) sums[total as Total] += by;
  const now = (held.get(operation) ?? 0) + (changesOf(moved)["held"] ?? 0);
  if (now === 0) held.delete(operation);
  else held.set(operation, now);
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
