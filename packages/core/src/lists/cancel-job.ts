import { Failure } from "../lib/failure.ts";
import { addMs } from "../lib/time.ts";
import type { Halves } from "../money/credits.ts";
import { move } from "../money/ledger.ts";
import type { MovedAmounts } from "../money/moves.ts";
import type { Update } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import {
  ERASED_FIELDS,
  findJob,
  isOpenJob,
  JOB,
  type Job,
  OPEN_STATUSES,
  toDoneFields,
  toJobKey,
} from "../rows/items.ts";
import { getPriceAtEnd, getRowsPrice, toRefundFields } from "../rows/refunds.ts";
import { freeParent } from "../rows/replace-rows.ts";
import { commit } from "../runtime/commit.ts";
import { scheduleWork, UNSCHEDULED } from "../runtime/leases.ts";

// Cancelling ends a job at once, in one transaction with its refund: every row without a stored result. Whatever counts a
// row changes the job's item under the condition that the job is open, so nothing counts after it, and it is refused if
// something was counted since it read the job.

/** The request retries this often when a worker stores a pass between the request's read and its write. */
const ATTEMPTS_MAX = 20;
/** If the cancelling process has not freed the parent of a cancelled child by then, the reconciler frees the parent. */
const FREE_PARENT_MS = 60_000;
const RETRY_MS = 50;

/** Returns the cancelled job, also if it was cancelled before. A job that ended in another way is a failure. */
export const cancelJob = async (world: World, found: Job): Promise<Job> => {
  let job = found;
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    if (!isOpenJob(job)) return endChild(world, requireCancelled(job));
    if (isDispatching(job)) throw createNotQueuedFailure();
    if (countRemaining(job) === 0) throw createEndedFailure("has a result for every address");
    // After a lost reply the loop continues: the next read shows whether the job was cancelled.
    await tryCancel(world, job);
    if (attempt > 0) await world.sleep(world.random() * RETRY_MS);
    job = (await findJob(world.table, job.id)) ?? job;
  }
  const what = "The job is changing too fast to be cancelled. Send this again.";
  throw new Failure("UNAVAILABLE", "nothing_charged", what);
};

/** The job is already cancelled, so the reconciler repeats each step that fails here. */
const endChild = async (world: World, job: Job): Promise<Job> => {
  if (job.parent !== undefined)
    await freeParent(world, job).catch((cause: unknown) => {
      world.log("parent_not_freed", { job: job.id, cause });
    });
  return job;
};

const requireCancelled = (job: Job): Job => {
  if (job.status === "cancelled") return job;
  throw createEndedFailure(`has ${job.status}`);
};

const createEndedFailure = (why: string): Failure =>
  new Failure("JOB_ENDED", "nothing_charged", `The job ${why}, so it cannot be cancelled.`);

/** A file's price is held by its operation until its chunks are sent, so the job cannot refund it yet. */
const isDispatching = ({ unsettled, unresolved }: Job): boolean =>
  unsettled > 0 && unresolved.length === 0;

const DISPATCH_RETRY_MS = 5_000;

const createNotQueuedFailure = (): Failure => {
  const what = "The job's addresses are still being queued. Send this again in a few seconds.";
  return new Failure("NOT_READY", "nothing_charged", what, {
    retryable: true,
    retryAfterMs: DISPATCH_RETRY_MS,
  });
};

/** Counts the rows without a result: not begun, in progress or deferred. */
const countRemaining = ({ total, processed, refunds }: Job): number =>
  total - processed - refunds.no_result;

const tryCancel = async (world: World, job: Job): Promise<void> => {
  const end = buildCancelledJob(world, job);
  const [entry, ...others] = buildMoney(world, job);
  // The ledger entry stays, so after a lost reply it shows the outcome. The job of a test key has no entry.
  await commit(
    world,
    entry ? { proof: entry, also: [...others, end] } : { proof: null, also: [end] },
  );
};

const buildCancelledJob = (world: World, job: Job): Update => {
  const { id, processed, refunds, unsettled } = job;
  return {
    update: toJobKey(id),
    set: {
      // The reconciler must still copy the results of a child to its parent.
      ...(job.parent === undefined
        ? UNSCHEDULED
        : scheduleWork(JOB, id, addMs(world.now(), FREE_PARENT_MS), world.newId("txn"))),
      ...toDoneFields(world.now()),
      ...ERASED_FIELDS,
      status: "cancelled",
      ...toRefundFields({ cancelled: countRemaining(job) }),
      held: 0,
      unsettled: 0,
      unresolved: [],
    },
    where: {
      status: { oneOf: OPEN_STATUSES },
      processed,
      ...toRefundFields({ no_result: refunds.no_result }),
      unsettled,
    },
  };
};

const buildMoney = (world: World, job: Job) => {
  const { id, account, createdAt: openedAt, mode, shard, countedIn } = job;
  if (mode !== "live") return [];
  const entry = {
    account,
    operation: id,
    openedAt,
    countedIn,
    step: "cancel" as const,
    at: world.now().toISOString(),
    moved: toMoved(job),
    reason: "cancelled" as const,
    paidFor: job.reason,
    token: world.newId("txn"),
  };
  return move(entry, shard);
};

/** Releases the held credits of the remaining rows first. The rest of the hold is paid, because those rows have results. */
const toMoved = (job: Job): MovedAmounts => {
  const due = getRowsPrice(job, countRemaining(job));
  const release = Math.min(due, job.held);
  return {
    release: release as Halves,
    settle: (job.held - release) as Halves,
    refund: (due - release + getPriceAtEnd(job)) as Halves,
  };
};
