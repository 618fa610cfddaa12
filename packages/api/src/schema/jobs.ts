import { readVendorVerdict } from "@mailproof/core/intake/vendors";
import { Failure } from "@mailproof/core/lib/failure";
import { toCredits } from "@mailproof/core/money/credits";
import { getOwnerId } from "@mailproof/core/money/payer";
import { findPayingPerson } from "@mailproof/core/money/spending";
import type { World } from "@mailproof/core/ports/world";
import { findDeferred } from "@mailproof/core/rows/deferrals";
import { findJob, JOB_STATUSES, type Job } from "@mailproof/core/rows/items";
import { getRefundedPrice } from "@mailproof/core/rows/refunds";
import type { VerifiedRow } from "@mailproof/core/rows/results";
import { STATUSES } from "@mailproof/core/verify/result";
import * as v from "valibot";
import type { Caller } from "../http/endpoint.ts";
import { Credits, describe, Integer } from "./common.ts";
import * as field from "./fields.ts";
import { toWire, VerificationResult } from "./verification.ts";

const Status = describe(
  v.picklist(JOB_STATUSES),
  "pending: queued. processing: running. completed: every address has its result. failed: see `error`. cancelled: it was cancelled, and the addresses without a result were refunded. enqueue_unknown: it is not known whether some of the addresses are queued; their credits are held.",
);

/** A job without its results: an entry of the list, and the first fields of a job. */
export const JobSummary = v.object({
  job_id: field.text("The job's id."),
  name: field.maybeText("The job's name. Left out when it has none."),
  kind: describe(
    v.picklist(["single", "batch", "file"]),
    "What created the job: a slow single verification, a batch, or a file.",
  ),
  status: describe(Status, "The state of the job."),
  progress: field.object("Number of addresses by state.", {
    total: field.integer("Addresses in the job."),
    processed: field.integer("Addresses with a result."),
    valid: field.integer("Valid addresses."),
    invalid: field.integer("Invalid and disposable addresses."),
    risky: field.integer("Risky, catch-all, role and spam trap addresses."),
    unknown: field.integer("Unknown addresses, and those without a status."),
  }),
  processed_emails: field.integer(
    "Addresses with a result. Exports are measured against this number.",
  ),
  deferred: field.maybeObject(
    "Addresses that wait for another attempt because their mail host or DNS could not answer yet. Left out when none waits.",
    {
      count: field.integer("Number of waiting addresses."),
      by_reason: describe(
        v.record(v.string(), Integer),
        "Number of waiting addresses for each reason. `waiting_for_provider`: all connections that the mail provider allows are in use. Such a wait is not an attempt, and ends with one.",
      ),
      next_attempt_at: field.text(
        "When the first of them is attempted again, ISO 8601; with `waiting_for_provider` an estimate from the rate at that provider. A time in the past means that the attempt is under way.",
      ),
      latest_end_at: field.maybeText(
        "When the last of them has its result at the latest, ISO 8601, apart from the minutes that the attempts take. Left out while other addresses are verified, and where a wait has no limit.",
      ),
    },
  ),
  created_at: field.text("When it was created, ISO 8601."),
  completed_at: field.maybeText("When the job ended, ISO 8601. Left out while it runs."),
  credits_refunded: describe(
    v.optional(Credits),
    "Credits refunded for addresses that could not be queued, failed on our side, had no result when the job was cancelled, or are `unknown` because our limits or rules kept us from asking the mail server, or our address, exit or circuit from reaching it. Present when the job has ended and there are any.",
  ),
  person_id: field.maybeText("The person who created the job. Left out when a key did."),
  parent_job_id: field.maybeText(
    "The job whose rows this one verifies again. Left out for any other job.",
  ),
  continues_job_id: field.maybeText(
    "The earlier job whose list this one continues. Left out for any other job.",
  ),
  new_emails: field.maybeInteger(
    "With `continues_job_id`: addresses that the earlier list does not have.",
  ),
  kept_emails: field.maybeInteger(
    "With `continues_job_id`: addresses that kept the result of the earlier list, and cost nothing.",
  ),
  child_job_id: field.maybeText(
    "The job that verifies rows of this one again. Left out when it has ended.",
  ),
  error: field.maybeText(
    "Why the job failed and what happened to its credits. Left out otherwise.",
  ),
});

export const OWN_COLUMNS = describe(
  v.optional(v.record(v.string(), v.string())),
  "The cells of the row, by the names of the list's columns.",
);

const Elsewhere = v.object({
  vendor: field.text("The name of the service."),
  verdict: field.text("Its word in the list."),
  status: describe(v.picklist(STATUSES), "The `status` that this word means here."),
});

export const toElsewhere = (
  { vendor: column }: Pick<Job, "vendor">,
  cells: readonly string[],
): { readonly elsewhere?: v.InferOutput<typeof Elsewhere> } => {
  const elsewhere = readVendorVerdict(column, cells);
  return elsewhere ? { elsewhere } : {};
};

export const ResultRow = field.object("The result of one row of a job.", {
  ...VerificationResult.entries,
  row: field.integer("The row's number in the submitted list, from 1."),
  elsewhere: describe(
    v.optional(Elsewhere),
    "The verdict of another service that the list has in this row; in a page of rows with `columns=true`. Left out when there is none.",
  ),
  cells: describe(
    v.optional(v.array(v.string())),
    "With `columns=true`: the cells of the row, in the order of `columns`. A cell beyond the last column has no name there.",
  ),
});

export const readJobSummary = async (
  { table }: Pick<World, "table">,
  job: Job,
): Promise<v.InferOutput<typeof JobSummary>> => {
  const { total, processed, valid, invalid, risky, unknown } = job;
  const deferred = await findDeferred(table, job);
  const refunded = getRefundedPrice(job);
  const person = findPayingPerson(job);
  return {
    job_id: job.id,
    ...(job.name !== null && { name: job.name }),
    kind: job.kind,
    status: job.status,
    progress: { total, processed, valid, invalid, risky, unknown },
    processed_emails: processed,
    ...(deferred && {
      deferred: {
        count: deferred.count,
        by_reason: deferred.byReason,
        next_attempt_at: deferred.nextAttemptAt,
        ...(deferred.latestEndAt !== undefined && { latest_end_at: deferred.latestEndAt }),
      },
    }),
    created_at: job.createdAt,
    ...(job.completedAt && { completed_at: job.completedAt }),
    ...(job.completedAt && refunded > 0 && { credits_refunded: toCredits(refunded) }),
    ...(person && { person_id: person }),
    ...(job.parent !== undefined && { parent_job_id: job.parent }),
    ...(job.continues !== undefined && { continues_job_id: job.continues }),
    ...(job.newRows !== undefined && { new_emails: job.newRows }),
    ...(job.kept !== undefined && { kept_emails: job.kept }),
    ...(job.child !== undefined && { child_job_id: job.child }),
    ...(job.error && { error: job.error }),
  };
};

export const toRow = (
  { row, result }: VerifiedRow,
  cells?: readonly string[],
): v.InferOutput<typeof ResultRow> => ({
  row,
  ...toWire(result),
  ...(cells && { cells: [...cells] }),
});

/** Undefined when the job does not exist or belongs to another account. */
export const findOwnJob = async (
  { table }: Pick<World, "table">,
  caller: Caller,
  id: string,
): Promise<Job | undefined> => {
  const job = await findJob(table, id);
  return job?.owner === getOwnerId(caller) ? job : undefined;
};

/** Returns the caller's job. A job of another account causes the same failure as a missing job. */
export const requireJob = async (world: World, caller: Caller, id: string): Promise<Job> => {
  const job = await findOwnJob(world, caller, id);
  if (!job) throw noSuchJob();
  return job;
};

export const noSuchJob = (): Failure => new Failure("NOT_FOUND", "nothing_charged", "No such job.");

/** Call after reading rows: a job that was deleted meanwhile may have lost some of them. */
export const assertNotDeleted = async (
  { table }: Pick<World, "table">,
  { id }: Pick<Job, "id">,
): Promise<Job> => {
  const job = await findJob(table, id);
  if (!job) throw noSuchJob();
  return job;
};
