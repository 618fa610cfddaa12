import { type Account, iterateAccounts } from "../accounts/account-items.ts";
import { getRetentionDays } from "../accounts/retention.ts";
import { isOpenJob, iterateJobs } from "../jobs/items.ts";
import { freeIfChildEnded } from "../jobs/replace-rows.ts";
import { DAY_MS } from "../lib/time.ts";
import { getOwnerId, KEY_MODES } from "../money/payer.ts";
import type { World } from "../ports/world.ts";
import { deleteJob } from "./delete-job.ts";

/** Per run. What is left is deleted in the next one. */
const JOBS_MAX = 200;

/**
 * Deletes the jobs of accounts with a retention of their own that ended before it, also those that were accepted under a
 * longer one. Without such a setting the parts of a job expire automatically.
 */
export const deleteOldJobs = async (world: World): Promise<void> => {
  let left = JOBS_MAX;
  for await (const account of iterateAccounts(world.table)) {
    if (account.retentionDays === undefined) continue;
    for (const mode of KEY_MODES) {
      const owner = getOwnerId({ account: account.account, mode });
      left -= await deleteOwnersJobs(world, owner, getCutOff(account, world.now()), left);
      if (left <= 0) return;
    }
  }
};

const getCutOff = (account: Account, now: Date): string =>
  new Date(now.getTime() - getRetentionDays(account) * DAY_MS).toISOString();

const deleteOwnersJobs = async (
  world: World,
  owner: string,
  cutOff: string,
  most: number,
): Promise<number> => {
  let count = 0;
  // The oldest is first, and none ends before it is created.
  for await (const found of iterateJobs(world.table, owner)) {
    if (count >= most || found.createdAt > cutOff) return count;
    if (isOpenJob(found) || (found.completedAt ?? found.createdAt) > cutOff) continue;
    const job = await freeIfChildEnded(world, found);
    if (job.child !== undefined) continue;
    await deleteJob(world, job);
    count += 1;
  }
  return count;
};
