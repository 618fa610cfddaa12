import { commit } from "../commit.ts";
import { NOT_DUE } from "../due.ts";
import { type MoneyOutcome, withMoney } from "../failure.ts";
import { releaseClaim } from "../money/claims.ts";
import { type Halves, PRICE } from "../money/credits.ts";
import { move } from "../money/ledger.ts";
import type { Json, Write } from "../table.ts";
import { announce } from "../webhooks/items.ts";
import type { World } from "../world.ts";
import { doneAt, findJob, isOpen, type Job, jobKey, OPEN_STATUSES } from "./items.ts";

/** When all is done, the job says so, once, and whoever asked to be told is told. True: it is done by now. */
export const completeIfDone = async (world: World, id: string): Promise<boolean> => {
  const job = await findJob(world.table, id);
  if (!job || !isOpen(job)) return true;
  if (job.unsettled > 0 || job.processed + job.refunded < job.total) return false;
  // Also when there is nothing but what was given back: not one address was verified.
  const isLost = job.lost === job.processed;
  const { outcome } = isLost
    ? await end(world, job, "failed", errorOf(job))
    : await end(world, job, "completed");
  if (outcome === "ambiguous") throw new Error("it is not known whether the job is done");
  return true;
};

/** Why, and what it means for the money. */
const errorOf = (job: Job): string =>
  withMoney(
    job.processed === 0
      ? "None of it could be done."
      : "Every part of the job broke on our side, again and again.",
    moneyWhenLost(job),
  );

/** By contract a batch has no refunds for verifications that fail. */
const moneyWhenLost = ({ processed, kind, mode }: Job): MoneyOutcome => {
  if (mode === "test") return "nothing_charged";
  return processed === 0 || kind === "file" ? "refunded" : "kept";
};

const end = (world: World, job: Job, status: "completed" | "failed", error?: string) =>
  commit(world, [
    // First: it is what another hand, or an earlier try of ours, may have done already.
    endedJob(world, job, status, error),
    newsOf(world, job, status, error),
    ...keyOf(job),
    ...refundOfUnasked(world, job),
  ]);

/** What rows that only say that their mail server was not asked have cost. */
const unaskedPrice = ({ mode, kind, unasked }: Job): Halves =>
  (mode === "live" ? unasked * PRICE_OF[kind] : 0) as Halves;

/** All that was refunded of an accepted job: also what was not queued, and what failed on our side. */
export const refundedPrice = (job: Job): Halves => {
  const { mode, kind, refunded, lost } = job;
  // By contract a batch has no refunds for verifications that fail.
  const rows = mode === "live" ? refunded + (kind === "file" ? lost : 0) : 0;
  return (rows * PRICE_OF[kind] + unaskedPrice(job)) as Halves;
};

const PRICE_OF: Readonly<Record<Job["kind"], Halves>> = {
  single: PRICE.verify,
  batch: PRICE.batchAddress,
  file: PRICE.fileAddress,
};

/** In the write that ends the job, so it happens once: by then the price of every row is settled. */
const refundOfUnasked = (world: World, job: Job): readonly Write[] => {
  const refund = unaskedPrice(job);
  return refund === 0
    ? []
    : move({
        account: job.account,
        operation: job.id,
        openedAt: job.createdAt,
        step: "unasked",
        at: world.now().toISOString(),
        moved: { refund },
        reason: "not asked",
      });
};

/** What was paid back whole leaves its key free: whoever sends the same again buys anew. */
const keyOf = ({ id, claim, refunded, total }: Job): Write[] =>
  claim && refunded === total ? [releaseClaim(claim, id)] : [];

export const endedJob = (
  world: World,
  { id }: Job,
  status: "completed" | "failed",
  error?: string,
) => ({
  update: jobKey(id),
  set: { ...NOT_DUE, ...doneAt(world.now()), status, ...(error && { error }) },
  where: { status: { oneOf: OPEN_STATUSES } },
});

export const newsOf = (world: World, job: Job, status: "completed" | "failed", error?: string) => {
  const { total, processed, valid, invalid, risky, unknown } = job;
  const data: Record<string, Json> = {
    job_id: job.id,
    status,
    progress: { total, processed, valid, invalid, risky, unknown },
    ...(error && { error }),
  };
  return announce(world, job.owner, `job.${status}`, data, job.callback);
};
