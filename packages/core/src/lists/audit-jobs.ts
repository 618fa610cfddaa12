import type { AuditReader } from "../money/audit-snapshot.ts";
import type { Table } from "../ports/table.ts";
import { iterateChunks } from "../rows/chunks.ts";
import { findJob, iterateJobs, type Job } from "../rows/items.ts";

/** The audit's reader of jobs: it sums the held credits of an account, and compares the counters of jobs with their chunks. */
export const auditJobs: AuditReader = async (table, account, now) => {
  const held = new Map<string, number>();
  const broken = new Set<JobInvariant>();
  // Reads one job at a time, since an account may have a million jobs in the year of their retention.
  for await (const job of iterateJobs(table, account)) {
    const counted = await countJobRows(table, job, now);
    if (job.held > 0) held.set(job.id, job.held);
    for (const one of INVARIANTS) if (!one.holds(counted)) broken.add(one);
  }
  return { held, broken: Array.from(broken, ({ invariant }) => invariant) };
};

/**
 * `inChunks`: the number of rows in the job's chunks, counted between two reads of the job. Null when chunks may have expired.
 */
type JobCount = { readonly job: Job; readonly after: Job; readonly inChunks: number | null };

type JobInvariant = {
  readonly invariant: string;
  readonly holds: (count: JobCount) => boolean;
};

const INVARIANTS: readonly JobInvariant[] = [
  {
    invariant:
      "a job's counters add up to what it processed, and a completed or cancelled job has processed or refunded all",
    holds: ({ job }) => areCountsConsistent(job),
  },
  {
    invariant: "a job has processed the rows that its chunks have",
    holds: ({ job, after, inChunks }) =>
      inChunks === null || (job.processed <= inChunks && inChunks <= after.processed),
  },
];

const areCountsConsistent = (job: Job): boolean => {
  const { status, total, processed, valid, invalid, risky, unknown } = job;
  const { no_result, cancelled } = job.refunds;
  const done = processed + no_result + cancelled;
  return (
    valid + invalid + risky + unknown === processed &&
    done <= total &&
    (status === "cancelled" || cancelled === 0) &&
    ((status !== "completed" && status !== "cancelled") || done === total)
  );
};

/** Chunks that may expire during the audit are not counted. */
const RETENTION_MARGIN_MS = 3_600_000;

const countJobRows = async (table: Table, job: Job, now: Date): Promise<JobCount> => {
  const retainedUntil = Date.parse(job.createdAt) + job.retentionSeconds * 1000;
  if (retainedUntil - now.getTime() < RETENTION_MARGIN_MS)
    return { job, after: job, inChunks: null };
  let inChunks = 0;
  for await (const { rows } of iterateChunks(table, job.id)) inChunks += rows;
  const after = inChunks === job.processed ? job : await findJob(table, job.id);
  return { job, after: after ?? job, inChunks };
};
