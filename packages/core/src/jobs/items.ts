import * as v from "valibot";
import { KEY_MODES } from "../accounts/key-format.ts";
import { paginateQuery } from "../lib/paginate-query.ts";
import { toEpochSeconds } from "../lib/time.ts";
import type { Halves } from "../money/credits.ts";
import type { Item, Key, Table } from "../ports/table.ts";
import type { Status } from "../verify/result.ts";
import { RETRY_CAUSES } from "../verify/retry.ts";

// Layout.
//
//   pk          sk     list_pk        list_sk            what
//   JOB#<id>    JOB    JOBS#<owner>   <created at>#<id>  who asked, how far it is; due until it is done
//   JOB#<id>    INPUT                                    where each chunk of its input is (of batches and files)
//
// What became of its chunks is in chunks.ts, and their results in results.ts.

export const JOB_STATUSES = [
  "pending",
  "processing",
  "completed",
  "failed",
  "cancelled",
  "enqueue_unknown",
] as const;

export type JobStatus = (typeof JOB_STATUSES)[number];

/** In these something is still to be done. */
export const OPEN_STATUSES = ["pending", "processing", "enqueue_unknown"] as const;

/** The contract's four sums. Every status of a result belongs to one. */
const RESULT_BUCKETS = ["valid", "invalid", "risky", "unknown"] as const;
export type ResultBucket = (typeof RESULT_BUCKETS)[number];

const BUCKET_BY_STATUS: Readonly<Record<Status, ResultBucket>> = {
  valid: "valid",
  invalid: "invalid",
  disposable: "invalid",
  risky: "risky",
  catch_all: "risky",
  role: "risky",
  spam_trap: "risky",
  unknown: "unknown",
};

export const toBucket = (status: Status): ResultBucket => BUCKET_BY_STATUS[status];

const Count = v.optional(v.number(), 0);

const Job = v.object({
  id: v.string(),
  owner: v.string(),
  account: v.string(),
  mode: v.picklist(KEY_MODES),
  kind: v.picklist(["single", "batch", "file"]),
  name: v.nullable(v.string()),
  status: v.picklist(JOB_STATUSES),
  createdAt: v.string(),
  completedAt: v.optional(v.string()),
  error: v.optional(v.string()),
  /** How long its results are kept, by the plan at the time it was accepted. */
  keptSeconds: v.number(),
  /** What is held for it and neither spent nor refunded yet. */
  held: v.custom<Halves>(Number.isSafeInteger),
  reason: v.string(),

  total: v.number(),
  processed: Count,
  valid: Count,
  invalid: Count,
  risky: Count,
  unknown: Count,
  /** Addresses that were never queued, and paid back. */
  refunded: Count,
  /** Addresses that we gave up on, for reasons of our own. */
  lost: Count,
  /** Rows that only say that the mail server was not asked. Their credits are refunded when the job ends. */
  unasked: Count,

  /** Of one address alone: all that its worker has to know. */
  single: v.optional(
    v.object({
      email: v.string(),
      deepVerify: v.boolean(),
      includeAi: v.boolean(),
      includeEvidence: v.boolean(),
    }),
  ),
  /** Its Idempotency-Key, to be freed if the job comes to nothing. */
  claim: v.optional(v.nullable(v.object({ pk: v.string(), sk: v.string() })), null),
  /** How often it was put off because a mail server asked us to come later. */
  waits: Count,
  /** While its address is deferred: why, and until when. */
  retry: v.optional(
    v.object({ reason: v.string(), causes: v.array(v.picklist(RETRY_CAUSES)), at: v.string() }),
  ),
  /** How often its message was sent since something last came of it. */
  sends: Count,

  /** Of a batch or a file. */
  input: v.optional(v.object({ key: v.string(), version: v.string() })),
  chunkRows: Count,
  wants: v.optional(
    v.object({
      deepVerify: v.boolean(),
      includeAi: v.boolean(),
      /** The longest that a row may wait for further attempts. Absent: the default. */
      maxWaitMinutes: v.optional(v.number()),
    }),
  ),
  /** 0 once the dispatch of every chunk is accounted for; the job cannot be complete before. */
  unsettled: Count,
  /** The chunks of which it is not known whether they were queued. */
  unresolved: v.optional(v.array(v.number()), []),
  /** How much was done when somebody last looked whether it goes on. */
  seen: Count,
  /** Its secret sealed for the owner. */
  callback: v.optional(v.object({ url: v.string(), secret: v.nullable(v.string()) })),
});

export const NO_PROGRESS = {
  processed: 0,
  valid: 0,
  invalid: 0,
  risky: 0,
  unknown: 0,
  refunded: 0,
  lost: 0,
  unasked: 0,
  waits: 0,
  sends: 0,
  chunkRows: 0,
  unsettled: 0,
  unresolved: [],
  seen: 0,
  claim: null,
  deferred: {},
} as const;

export type Job = Omit<Readonly<v.InferOutput<typeof Job>>, "unresolved"> & {
  readonly unresolved: readonly number[];
  /** How many rows of a batch or a file wait for another attempt, by reason. */
  readonly deferred: Readonly<Record<string, number>>;
};
export type JobProgress = Pick<Job, "total" | "processed" | ResultBucket>;

export const toJobKey = (id: string): Key => ({ pk: `JOB#${id}`, sk: "JOB" });
export const toJobsPartition = (owner: string): string => `JOBS#${owner}`;

/** A field of its own for each reason, so that a pass can add to it without reading the job. */
export const toDeferredField = (reason: string): string => `${DEFERRED}${reason}`;
const DEFERRED = "deferred_";

export const readJob = (item: Item): Job => ({
  ...v.parse(Job, item),
  deferred: readDeferred(item),
});

const readDeferred = (item: Item): Job["deferred"] =>
  Object.fromEntries(
    Object.entries(item)
      .filter(([field, rows]) => field.startsWith(DEFERRED) && Number(rows) > 0)
      .map(([field, rows]) => [field.slice(DEFERRED.length), Number(rows)]),
  );

export const toJobItem = ({ deferred, ...job }: Job): Item => ({
  ...toJobKey(job.id),
  list_pk: toJobsPartition(job.owner),
  list_sk: `${job.createdAt}#${job.id}`,
  ...job,
  ...Object.fromEntries(
    Object.entries(deferred).map(([reason, rows]) => [toDeferredField(reason), rows]),
  ),
});

export const isOpenJob = ({ status }: Pick<Job, "status">): boolean =>
  OPEN_STATUSES.some((open) => open === status);

export const findJob = async (table: Table, id: string): Promise<Job | undefined> => {
  const item = await table.get(toJobKey(id));
  return item && readJob(item);
};

export async function* iterateJobs(table: Table, owner: string): AsyncGenerator<Job> {
  for await (const item of paginateQuery(table, { index: "list", pk: toJobsPartition(owner) }))
    yield readJob(item);
}

/** The record of a job outlives its results: a history without addresses. */
const RECORD_RETENTION_SECONDS = 365 * 86_400;

export const getRecordExpiry = (now: Date): number =>
  toEpochSeconds(now) + RECORD_RETENTION_SECONDS;

/** What a job says of itself when it is done. */
export const toDoneFields = (now: Date) => ({
  completedAt: now.toISOString(),
  expires_at: getRecordExpiry(now),
});
