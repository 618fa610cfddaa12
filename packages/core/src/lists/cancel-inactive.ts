import { getAccountStatus } from "../accounts/account-items.ts";
import { findAccount } from "../accounts/accounts.ts";
import { Failure } from "../lib/failure.ts";
import { getOwnerId, KEY_MODES } from "../money/payer.ts";
import type { World } from "../ports/world.ts";
import { isOpenJob, iterateJobs, type Job } from "../rows/items.ts";
import { cancelJob } from "./cancel-job.ts";

// The jobs of an account that is disabled or closed are cancelled: at once by the operator's command, and by its worker
// if a request that had begun before creates one afterwards.

/**
 * A worker calls this before it works on a job. Returns the job with its account's bounces, or undefined after cancelling the job
 * of an inactive account. An account that is not stored counts as active.
 */
export const admitJob = async (world: World, job: Job): Promise<Job | undefined> => {
  const account = await findAccount(world.table, job.account);
  const isActive = !account || getAccountStatus(account) === "active";
  if (!isActive && (await tryCancel(world, job)) !== "ended") return undefined;
  return { ...job, bounceFree: account?.bounceFree };
};

export type CancelledJobs = {
  readonly cancelled: number;
  /** Jobs that cannot be cancelled yet, such as a list during its dispatch. Their workers cancel them. */
  readonly left: readonly string[];
};

/** Cancels all open jobs of an account, of live and of test keys. */
export const cancelOpenJobs = async (world: World, account: string): Promise<CancelledJobs> => {
  const left: string[] = [];
  let cancelled = 0;
  for (const job of await listOpenJobs(world, account)) {
    const result = await tryCancel(world, job).catch((cause: unknown) => {
      if (cause instanceof Failure && cause.retryable) return "left" as const;
      throw cause;
    });
    if (result === "left") left.push(job.id);
    if (result === "cancelled") cancelled++;
  }
  return { cancelled, left };
};

/** "Ended": the job has ended, or ends without more work. */
const tryCancel = async (world: World, job: Job): Promise<"cancelled" | "ended"> => {
  try {
    await cancelJob(world, job);
    return "cancelled";
  } catch (cause) {
    if (cause instanceof Failure && cause.code === "JOB_ENDED") return "ended";
    throw cause;
  }
};

const listOpenJobs = async ({ table }: World, account: string): Promise<readonly Job[]> => {
  const open: Job[] = [];
  for (const mode of KEY_MODES) {
    const owner = getOwnerId({ account, mode });
    for await (const job of iterateJobs(table, owner)) if (isOpenJob(job)) open.push(job);
  }
  return open;
};
