import { ownerOf } from "@mailproof/core/access/payer";
import { Failure } from "@mailproof/core/failure";
import { refundedPrice } from "@mailproof/core/jobs/completion";
import { findDeferred } from "@mailproof/core/jobs/deferrals";
import { findJob, JOB_STATUSES, type Job } from "@mailproof/core/jobs/items";
import type { Row } from "@mailproof/core/jobs/results";
import { toCredits } from "@mailproof/core/money/credits";
import type { World } from "@mailproof/core/world";
import * as v from "valibot";
import type { Caller } from "../http/endpoint.ts";
import { Credits, Integer } from "./common.ts";
import { toWire, VerificationResult } from "./verification.ts";

/** A job without its results, as the list and the job itself show it. */
export const JobFacts = v.object({
  job_id: v.string(),
  name: v.optional(v.string()),
  kind: v.picklist(["single", "batch", "file"]),
  status: v.picklist(JOB_STATUSES),
  progress: v.object({
    total: Integer,
    processed: Integer,
    valid: Integer,
    invalid: Integer,
    risky: Integer,
    unknown: Integer,
  }),
  processed_emails: Integer,
  deferred: v.optional(
    v.object({
      count: Integer,
      by_reason: v.record(v.string(), Integer),
      next_attempt_at: v.string(),
    }),
  ),
  created_at: v.string(),
  completed_at: v.optional(v.string()),
  credits_refunded: v.optional(Credits),
  error: v.optional(v.string()),
});

export const ResultRow = v.object({ ...VerificationResult.entries, row: Integer });

export const readJobFacts = async (
  { table }: Pick<World, "table">,
  job: Job,
): Promise<v.InferOutput<typeof JobFacts>> => {
  const { total, processed, valid, invalid, risky, unknown } = job;
  const deferred = await findDeferred(table, job);
  const refunded = refundedPrice(job);
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
      },
    }),
    created_at: job.createdAt,
    ...(job.completedAt && { completed_at: job.completedAt }),
    ...(job.completedAt && refunded > 0 && { credits_refunded: toCredits(refunded) }),
    ...(job.error && { error: job.error }),
  };
};

export const toRow = ({ row, result }: Row): v.InferOutput<typeof ResultRow> => ({
  row,
  ...toWire(result),
});

/** The caller's own job: another's is missing in just the same words. */
export const jobOf = async (world: World, caller: Caller, id: string): Promise<Job> => {
  const job = await findJob(world.table, id);
  if (job && job.owner === ownerOf(caller)) return job;
  throw new Failure("NOT_FOUND", "nothing_charged", "There is no such job.");
};
