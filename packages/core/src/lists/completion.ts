import { type MoneyOutcome, withMoneySentence } from "../lib/failure.ts";
import { releaseClaim } from "../money/idempotency-claims.ts";
import type { Json, Write } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import {
  ERASED_FIELDS,
  findJob,
  isOpenJob,
  type Job,
  OPEN_STATUSES,
  toDoneFields,
  toJobKey,
} from "../rows/items.ts";
import { buildMoneyAtEnd } from "../rows/refunds.ts";
import { replaceParentRows } from "../rows/replace-rows.ts";
import { commit } from "../runtime/commit.ts";
import { UNSCHEDULED } from "../runtime/leases.ts";
import { emitEvent } from "../webhooks/items.ts";

/** Ends the job once all its addresses are done, and emits its event, exactly once. Returns true for an ended job. */
export const completeIfDone = async (world: World, id: string): Promise<boolean> => {
  const job = await findJob(world.table, id);
  if (!job || !isOpenJob(job)) return true;
  if (job.unsettled > 0 || job.processed + job.refunds.no_result < job.total) return false;
  const freed = await replaceParentRows(world, job);
  // A job whose every address was refunded has failed, too.
  const hasFailed = job.total > 0 && job.refunds.failed === job.processed;
  const { outcome } = hasFailed
    ? await endJob(world, job, freed, "failed", toJobError(job))
    : await endJob(world, job, freed, "completed");
  if (outcome === "ambiguous") throw new Error("unknown whether the job was ended");
  return true;
};

/** Describes the reason of the job's failure and the fate of its credits. */
const toJobError = (job: Job): string => {
  const failed = `All attempts to verify the ${job.kind === "single" ? "address" : "addresses"} failed on our side.`;
  const isLost = job.kind !== "single" && job.processed === 0;
  const what = isLost ? "None of the addresses could be verified." : failed;
  return withMoneySentence(what, getMoneyOutcome(job));
};

/** Release 0.2.0 does not count failed rows of a batch as unreached, and keeps their price. */
const getMoneyOutcome = ({ processed, kind, mode, refunds }: Job): MoneyOutcome => {
  if (mode === "test") return "nothing_charged";
  return kind !== "batch" || refunds.not_reached >= processed ? "refunded" : "kept";
};

const endJob = (
  world: World,
  job: Job,
  freed: readonly Write[],
  status: "completed" | "failed",
  error?: string,
) =>
  commit(world, {
    proof: null,
    also: [
      // Another worker, or an earlier attempt of this worker, may have ended the job already.
      buildJobEnd(world, job, status, error),
      emitJobEvent(world, job, status, error),
      ...buildKeyRelease(job),
      ...buildMoneyAtEnd(world, job),
      ...freed,
    ],
  });

/** A job that was refunded completely releases its Idempotency-Key: the same request then starts a new job. */
const buildKeyRelease = ({ id, claim, refunds, total }: Job): Write[] =>
  claim && refunds.no_result === total ? [releaseClaim(claim, id)] : [];

export const buildJobEnd = (
  world: World,
  { id }: Job,
  status: "completed" | "failed",
  error?: string,
) => ({
  update: toJobKey(id),
  set: {
    ...UNSCHEDULED,
    ...toDoneFields(world.now()),
    ...ERASED_FIELDS,
    status,
    held: 0,
    ...(error && { error }),
  },
  where: { status: { oneOf: OPEN_STATUSES } },
});

export const emitJobEvent = (
  world: World,
  job: Job,
  status: "completed" | "failed",
  error?: string,
) => {
  const { total, processed, valid, invalid, risky, unknown } = job;
  const data: Record<string, Json> = {
    job_id: job.id,
    status,
    progress: { total, processed, valid, invalid, risky, unknown },
    ...(error && { error }),
  };
  return emitEvent(world, job.owner, `job.${status}`, data, job.callback);
};
