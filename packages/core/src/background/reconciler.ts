import * as v from "valibot";
import type { AppWorld } from "../app-world.ts";
import { CHECK, repairCheck } from "../deliverability/check-once.ts";
import { INTERVAL_HOURS, MONITOR } from "../deliverability/monitor-items.ts";
import { sendScheduledMonitor } from "../deliverability/monitors.ts";
import { FIND, repairFind } from "../find/find-once.ts";
import { CHUNK } from "../jobs/chunk-outcome.ts";
import { repairChunk } from "../jobs/chunk-worker.ts";
import { repairFile } from "../jobs/dispatch.ts";
import { FILE } from "../jobs/file.ts";
import { JOB, JOB_CHECK_INTERVAL_MS, repairJob } from "../jobs/repair-job.ts";
import { repairSingle, SINGLE } from "../jobs/single.ts";
import { paginateQuery } from "../lib/paginate-query.ts";
import { addMs, HOUR_MS, isTooFarAhead } from "../lib/time.ts";
import { readOperation } from "../money/operations.ts";
import type { Item } from "../ports/table.ts";
import {
  acquireLease,
  MAX_LEASE_MS,
  readScheduledWork,
  SCHEDULE_PARTITIONS,
} from "../runtime/leases.ts";
import type { Schedule } from "../runtime/worker.ts";
import { MAX_WAIT_MINUTES } from "../verify/retry.ts";
import { continueAsJob } from "../verify/verify-once.ts";
import { repairDelivery } from "../webhooks/deliver-event.ts";
import { fanOut } from "../webhooks/fan-out.ts";
import { DELIVERY, EVENT } from "../webhooks/items.ts";
import { RETRY_WINDOW_MS } from "../webhooks/retry-policy.ts";

type Repair = (world: AppWorld, item: Item) => Promise<string>;

/** What is done with work that nobody finished in time, by its kind. The word that comes back is counted. */
const REPAIRS: Readonly<Record<string, Repair>> = {
  verify: async (world, item) => {
    const result = await continueAsJob(world, readOperation(item));
    return result === "ended" ? "went_on_as_job" : "left_to_others";
  },
  [CHECK]: repairCheck,
  [MONITOR]: sendScheduledMonitor,
  [FIND]: repairFind,
  [FILE]: repairFile,
  [SINGLE]: repairSingle,
  [JOB]: repairJob,
  [CHUNK]: repairChunk,
  [EVENT]: fanOut,
  [DELIVERY]: repairDelivery,
};

/** Nothing was wrong, or another process was faster. */
const NO_REPAIR_RESULTS = ["goes_on", "left_to_others"];

/** The moments that items name themselves: a webhook's next attempt, a monitor's next run, rows that wait. */
const DeferredWork = v.object({
  due_sk: v.string(),
  nextAt: v.optional(v.string()),
  nextTryAt: v.optional(v.string()),
  retryAt: v.optional(v.string()),
  retry: v.optional(v.object({ at: v.string() })),
});

/** Work that was put off until this moment. After it is taken it is due by its lease: then somebody left it undone. */
const isDeferred = (item: Item): boolean => {
  const { success, output } = v.safeParse(DeferredWork, item);
  if (!success) return false;
  const { due_sk: scheduledAt, nextAt, nextTryAt, retryAt, retry } = output;
  return [nextAt, nextTryAt, retryAt, retry?.at].includes(scheduledAt);
};

const MINUTE_MS = 60_000;

/**
 * For how long work of a kind is put off at most. What is due later than that was written by a wrong clock, and is due
 * now: a clock that was set back would otherwise let it lie until the same time comes again.
 */
const MAX_WAIT_MS: Readonly<Record<string, number>> = {
  // The lease of a request, or that of a repair.
  verify: MAX_LEASE_MS,
  [CHECK]: MAX_LEASE_MS,
  [FIND]: MAX_LEASE_MS,
  [FILE]: MAX_LEASE_MS,
  [EVENT]: MAX_LEASE_MS,
  // A job is looked at once an hour; rows of it wait an hour at most, and half a minute for others to join them.
  [JOB]: JOB_CHECK_INTERVAL_MS,
  [SINGLE]: MAX_WAIT_MINUTES.most * MINUTE_MS + MINUTE_MS,
  [CHUNK]: MAX_WAIT_MINUTES.most * MINUTE_MS + MINUTE_MS,
  // The last attempt comes a day after the first, and its message has a minute of grace.
  [DELIVERY]: RETRY_WINDOW_MS + MINUTE_MS,
  [MONITOR]: INTERVAL_HOURS.most * HOUR_MS,
};
const MIN_MAX_WAIT_MS = Math.min(...Object.values(MAX_WAIT_MS));

/** Whether work stands later than it can have been put off to. */
export const isMisplaced = (item: Item, now: Date): boolean => {
  const { due_kind: kind, due_sk: scheduledAt } = readScheduledWork(item);
  return isTooFarAhead(
    Date.parse(scheduledAt),
    now.getTime(),
    MAX_WAIT_MS[kind] ?? Number.POSITIVE_INFINITY,
  );
};

/** Whoever takes work has this long before somebody else may. */
const LEASE_MS = 5 * MINUTE_MS;
/** In one run, of each partition: a great heap is worked off in several runs, and by several processes. */
const MAX_ITEMS_PER_RUN = 100;

/**
 * Finishes what a crash left. Two may run at once: each piece is taken first, under a condition that only one of
 * them meets. A run that breaks off leaves what it took to be due again after the lease.
 */
export const reconcile: Schedule<AppWorld> = {
  name: "reconcile",
  everySeconds: 60,
  async run(world) {
    // One piece may wait seconds for strangers' name servers: that shall not hold up all the others.
    await Promise.all(SCHEDULE_PARTITIONS.map((partition) => repairOverdue(world, partition)));
    const minute = Math.floor(world.now().getTime() / MINUTE_MS);
    const partition = SCHEDULE_PARTITIONS[minute % SCHEDULE_PARTITIONS.length];
    if (partition !== undefined) await repairMisplacedWork(world, partition);
  },
};

/** One partition in each run, because all that waits in it is read. */
const repairMisplacedWork = async (world: AppWorld, pk: string): Promise<void> => {
  const from = addMs(world.now(), MIN_MAX_WAIT_MS).toISOString();
  for await (const item of paginateQuery(world.table, { index: "due", pk, sk: { from, to: "9" } }))
    if (isMisplaced(item, world.now())) await repairItem(world, item);
};

const repairOverdue = async (world: AppWorld, partition: string): Promise<void> => {
  for (const item of await findOverdue(world, partition)) await repairItem(world, item);
};

const findOverdue = async (world: AppWorld, partition: string): Promise<readonly Item[]> => {
  const now = world.now().toISOString();
  const { items } = await world.table.query({
    index: "due",
    pk: partition,
    sk: { from: "0", to: now },
    limit: MAX_ITEMS_PER_RUN,
  });
  return items;
};

/** One piece that cannot be repaired keeps nobody from the next. */
const repairItem = async (world: AppWorld, item: Item): Promise<void> => {
  try {
    const { due_kind: kind } = readScheduledWork(item);
    const leased = await acquireLease(world, item, LEASE_MS);
    if (!leased) return;
    const repairKind = REPAIRS[kind];
    if (!repairKind) throw new Error(`nobody knows what to do with ${kind}`);
    const result = await repairKind(world, leased);
    if (!isDeferred(item) && !NO_REPAIR_RESULTS.includes(result))
      world.log("repaired", { kind, done: result });
  } catch (cause) {
    world.log("repair_failed", { kind: item["due_kind"], cause });
  }
};
