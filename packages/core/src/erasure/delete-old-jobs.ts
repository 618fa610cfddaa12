import * as v from "valibot";
import { iterateAccounts } from "../accounts/account-items.ts";
import { getRetentionDays } from "../accounts/retention.ts";
import { DAY_MS } from "../lib/time.ts";
import { getOwnerId, KEY_MODES } from "../money/payer.ts";
import type { Key, Table } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import { isOpenJob, iterateJobs, type Job } from "../rows/items.ts";
import { freeIfChildEnded } from "../rows/replace-rows.ts";
import { deleteJob } from "./delete-job.ts";

// Layout.
//
//   pk      sk       content
//   HEALTH  OLDJOBS  present while old jobs are left; the owner of the job that was deleted last

const RUN: Key = { pk: "HEALTH", sk: "OLDJOBS" };
const Run = v.object({ after: v.string() });

/** The limits of one run. The next run, a minute later, deletes the remaining jobs. */
const JOBS_MAX = 200;
const RUN_MS = 20_000;

/** True when the last run stopped before it had deleted all old jobs. */
export const areOldJobsLeft = async ({ get }: Pick<Table, "get">): Promise<boolean> =>
  (await get(RUN)) !== undefined;

/**
 * Deletes jobs that ended before the account's own retention, including jobs that it accepted under a longer retention. Without
 * such a setting the parts of a job expire automatically. The owners take turns, one job each, and a run starts after the last
 * run's owner.
 */
export const deleteOldJobs = async (world: World): Promise<void> => {
  const item = await world.table.get(RUN);
  const after = item && v.parse(Run, item).after;
  const untilMs = world.now().getTime() + RUN_MS;
  let left = JOBS_MAX;
  let waiting = await listOwners(world, after);
  while (waiting.length > 0) {
    const others: OwnersJobs[] = [];
    for (const one of waiting) {
      const { value: job } = await one.jobs.next();
      if (!job) continue;
      if (left === 0 || world.now().getTime() >= untilMs) return;
      await deleteJob(world, job);
      left -= 1;
      await world.table.write({ put: { ...RUN, after: one.owner } });
      others.push(one);
    }
    waiting = others;
  }
  if (left < JOBS_MAX || item) await world.table.write({ remove: RUN });
};

type OwnersJobs = { readonly owner: string; readonly jobs: AsyncGenerator<Job, undefined> };

/** Lists the owners after `after` first. */
const listOwners = async (world: World, after = ""): Promise<readonly OwnersJobs[]> => {
  const owners: OwnersJobs[] = [];
  for await (const account of iterateAccounts(world.table)) {
    if (account.retentionDays === undefined) continue;
    const cutOffMs = world.now().getTime() - getRetentionDays(account) * DAY_MS;
    for (const mode of KEY_MODES) {
      const owner = getOwnerId({ account: account.account, mode });
      owners.push({ owner, jobs: iterateOldJobs(world, owner, new Date(cutOffMs).toISOString()) });
    }
  }
  const sorted = owners.toSorted((a, b) => (a.owner < b.owner ? -1 : 1));
  const isLater = ({ owner }: OwnersJobs): boolean => owner > after;
  return [...sorted.filter(isLater), ...sorted.filter((one) => !isLater(one))];
};

async function* iterateOldJobs(
  world: World,
  owner: string,
  cutOff: string,
): AsyncGenerator<Job, undefined> {
  // The oldest job is first, and no job ends before it is created.
  for await (const found of iterateJobs(world.table, owner)) {
    if (found.createdAt > cutOff) return;
    if (isOpenJob(found) || (found.completedAt ?? found.createdAt) > cutOff) continue;
    const job = await freeIfChildEnded(world, found);
    if (job.child === undefined) yield job;
  }
}
