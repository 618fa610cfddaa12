import * as v from "valibot";
import { Failure } from "../lib/failure.ts";
import { paginateQuery } from "../lib/paginate-query.ts";
import { toEpochSeconds } from "../lib/time.ts";
import type { Halves } from "../money/credits.ts";
import { CountedIn } from "../money/items.ts";
import { KEY_MODES } from "../money/payer.ts";
import { PAID_OPERATIONS } from "../money/reasons.ts";
import { findItem, type Item, type Key, type Table } from "../ports/table.ts";
import { ReceiptOrigin } from "../receipts/receipt-claims.ts";
import { Ticket } from "../smtp-pool/fairness.ts";
import type { Status } from "../verify/result.ts";
import { RETRY_CAUSES } from "../verify/retry.ts";
import { JOB_KINDS, NO_REFUNDS, type Refunds, readRefunds, toRefundFields } from "./refunds.ts";

// Layout.
//
//   pk          sk     list_pk        list_sk            what
//   JOB#<id>    JOB    JOBS#<owner>   <created at>#<id>  the request and its progress; due until it ends
//   JOB#<id>    INPUT                                    where each chunk of its input is (of batches and files)
//
// chunks.ts draws the outcomes of the job's chunks, results.ts their results, result-summary.ts their counts, and
// row-index.ts the index that finds and sorts them.

/** The scheduled work of a list. */
export const JOB = "job";
/** The scheduled work of a pending verification, whose caller waits for it. */
export const SINGLE = "single";

/** How often the reconciler checks the progress of a job. */
export const JOB_CHECK_INTERVAL_MS = 3_600_000;
/** If the message of a pending verification is lost, it is sent again after this time. */
export const RESEND_AFTER_MS = 5 * 60_000;

export const JOB_STATUSES = [
  "pending",
  "processing",
  "completed",
  "failed",
  "cancelled",
  "enqueue_unknown",
] as const;

export type JobStatus = (typeof JOB_STATUSES)[number];

/** The statuses of jobs that have not ended. */
export const OPEN_STATUSES = ["pending", "processing", "enqueue_unknown"] as const;

/** The statuses of jobs that have ended. */
export const CLOSED_STATUSES = ["completed", "failed", "cancelled"] as const;

/** The contract's four counters. Every status of a result belongs to one. */
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

/** When a row without a result is attempted again, and why. */
export const DEFERRAL = {
  /** The reason of the row if it ended as `unknown` now. */
  reason: v.string(),
  /** The causes of all its deferrals, including the current wait. */
  causes: v.array(v.picklist(RETRY_CAUSES)),
  at: v.string(),
  /** The row's ticket in the wait queue of its mail provider. */
  ticket: v.optional(Ticket),
  /** The exit from which the mail server greylisted the row: the next attempt prefers it. */
  exit: v.optional(v.string()),
};

const Job = v.object({
  id: v.string(),
  owner: v.string(),
  account: v.string(),
  mode: v.picklist(KEY_MODES),
  kind: v.picklist(JOB_KINDS),
  name: v.nullable(v.string()),
  status: v.picklist(JOB_STATUSES),
  createdAt: v.string(),
  /** The signed-in person who sent the list. Absent when a key did, and in 0.2.0. */
  person: v.optional(v.string()),
  completedAt: v.optional(v.string()),
  error: v.optional(v.string()),
  /** The retention of the job's results, by the plan at its acceptance. */
  retentionSeconds: v.number(),
  /** The credits that are held for the job. */
  held: v.custom<Halves>(Number.isSafeInteger),
  /** The shard of the balance that paid. */
  shard: v.number(),
  countedIn: CountedIn,
  /** The operation that the job's credits pay for. */
  reason: v.picklist(PAID_OPERATIONS),

  total: v.number(),
  processed: v.number(),
  valid: v.number(),
  invalid: v.number(),
  risky: v.number(),
  unknown: v.number(),
  /** The number of results that a child's results replaced. */
  replaced: v.optional(v.number(), 0),

  /** For a job of one address: the worker's input. */
  single: v.optional(
    v.object({
      email: v.string(),
      deepVerify: v.boolean(),
      includeAi: v.boolean(),
      includeEvidence: v.boolean(),
      /** True when the row gets a receipt. Absent in 0.2.0. */
      receipt: v.optional(ReceiptOrigin),
    }),
  ),
  /** The claim of its Idempotency-Key, released if the job fails. */
  claim: v.nullable(v.object({ pk: v.string(), sk: v.string() })),
  /** Release 0.2.0 stores here the causes and the time of a deferred address; now the chunk stores them. */
  retry: v.optional(v.object(DEFERRAL)),

  /** For a batch or a file: the blob with its rows. */
  input: v.optional(v.object({ key: v.string(), version: v.string() })),
  /** For a file: the upload that contained it, which is removed with the job. */
  upload: v.optional(v.string()),
  chunkRows: v.number(),
  options: v.optional(
    v.object({
      deepVerify: v.boolean(),
      includeAi: v.boolean(),
      /** The longest that a row may wait for further attempts. Absent: the default. */
      maxWaitMinutes: v.optional(v.number()),
    }),
  ),
  /** 0 once the dispatch of every chunk is settled; the job cannot end before. */
  unsettled: v.number(),
  /** The chunks with an unknown outcome of the dispatch. */
  unresolved: v.pipe(v.array(v.number()), v.readonly()),
  /** The most frequent domains of the job's list, which the summary counts. Removed when the job ends. */
  domains: v.optional(v.pipe(v.array(v.string()), v.readonly()), []),
  /** The number of erasures of an address from the job's list or results. */
  redactions: v.number(),
  /** The number of finished addresses at the last check of the job's progress. */
  seen: v.number(),
  /** True when some rows were corrected to the address of another row. Absent in 0.2.0. */
  hasDuplicates: v.optional(v.boolean()),
  /** The parent, whose rows this job verifies again. */
  parent: v.optional(v.string()),
  /** The earlier job whose list this job continues. Absent in 0.2.0. */
  continues: v.optional(v.string()),
  /** The number of addresses that the earlier list lacks. */
  newRows: v.optional(v.number()),
  /** The number of addresses that kept the result of the earlier list, at no charge. */
  kept: v.optional(v.number()),
  /** The column of the job's list with another service's verdicts. Absent in 0.2.0. */
  vendor: v.optional(v.object({ name: v.string(), at: v.number() })),
  /** The child, which verifies rows of this job again; removed when the child ends. */
  child: v.optional(v.string()),
  /** The callback, whose secret is encrypted for the owner. */
  callback: v.optional(v.object({ url: v.string(), secret: v.nullable(v.string()) })),
});

export const NO_PROGRESS = {
  processed: 0,
  valid: 0,
  invalid: 0,
  risky: 0,
  unknown: 0,
  refunds: NO_REFUNDS,
  replaced: 0,
  chunkRows: 0,
  unsettled: 0,
  unresolved: [],
  seen: 0,
  redactions: 0,
  domains: [],
  claim: null,
  deferred: {},
} as const;

export type Job = Readonly<v.InferOutput<typeof Job>> & {
  /** The number of rows that cost nothing, by cause. */
  readonly refunds: Refunds;
  /** The number of deferred rows of a batch or a file, by reason. */
  readonly deferred: Readonly<Record<string, number>>;
  /** True when the job's account has reported no bounces; set while a pass works on the job. */
  readonly bounceFree?: true | undefined;
};
export type JobProgress = Pick<Job, "total" | "processed" | ResultBucket>;

export const toJobKey = (id: string): Key => ({ pk: `JOB#${id}`, sk: "JOB" });
export const toJobsPartition = (owner: string): string => `JOBS#${owner}`;

/** One field per reason, so that a pass can add to it without reading the job. */
export const toDeferredField = (reason: string): string => `${DEFERRED}${reason}`;
const DEFERRED = "deferred_";

export const readJob = (item: Item): Job => ({
  ...v.parse(Job, item),
  refunds: readRefunds(item),
  deferred: readDeferred(item),
});

const readDeferred = (item: Item): Job["deferred"] =>
  Object.fromEntries(
    Object.entries(item)
      .filter(([field, rows]) => field.startsWith(DEFERRED) && Number(rows) > 0)
      .map(([field, rows]) => [field.slice(DEFERRED.length), Number(rows)]),
  );

export const toJobItem = ({ deferred, refunds, ...job }: Job): Item => ({
  ...toJobKey(job.id),
  list_pk: toJobsPartition(job.owner),
  list_sk: `${job.createdAt}#${job.id}`,
  ...job,
  // Release 0.2.0 counts with them.
  waits: 0,
  sends: 0,
  ...toRefundFields(refunds),
  ...Object.fromEntries(
    Object.entries(deferred).map(([reason, rows]) => [toDeferredField(reason), rows]),
  ),
});

export const isOpenJob = ({ status }: Pick<Job, "status">): boolean =>
  OPEN_STATUSES.some((open) => open === status);

export const findJob = (table: Table, id: string): Promise<Job | undefined> =>
  findItem(table, toJobKey(id), readJob);

/**
 * Finds the job for a repeat of the request that created it. One transaction wrote the job and the claim of the key, and the job is
 * retained longer, so only a deletion can remove it. Undefined when the read fails: the repeat then gets the stored answer.
 */
export const findReplayedJob = async (table: Table, id: string): Promise<Job | undefined> => {
  const read = await findJob(table, id).catch(() => "unreadable" as const);
  const what =
    "The job of this Idempotency-Key was deleted. To verify the addresses again, use a new key.";
  if (read === undefined) throw new Failure("RESULT_DELETED", "nothing_more", what);
  return read === "unreadable" ? undefined : read;
};

export async function* iterateJobs(table: Table, owner: string): AsyncGenerator<Job> {
  for await (const item of paginateQuery(table, { index: "list", pk: toJobsPartition(owner) }))
    yield readJob(item);
}

/** The record of a job is retained longer than its results, and has no addresses. */
const RECORD_RETENTION_SECONDS = 365 * 86_400;

export const getRecordExpiry = (now: Date): number =>
  toEpochSeconds(now) + RECORD_RETENTION_SECONDS;

/** The record of a job is retained for a year, so the address is erased from it; the result has its own retention. */
export const ERASED_FIELDS = { single: undefined, retry: undefined } as const;

/** The fields that a job gets when it ends. */
export const toDoneFields = (now: Date) => ({
  completedAt: now.toISOString(),
  expires_at: getRecordExpiry(now),
  domains: undefined,
});
