import * as v from "valibot";
import type { AppWorld } from "../app-world.ts";
import { CHECK, repairCheck } from "../deliverability/check-once.ts";
import { OPEN_MS } from "../deliverability/mail-tests/create-mail-test.ts";
import { MAIL_TEST } from "../deliverability/mail-tests/items.ts";
import { repairMailTest } from "../deliverability/mail-tests/mail-test-worker.ts";
import { INTERVAL_HOURS, MONITOR } from "../deliverability/monitor-items.ts";
import { sendScheduledMonitor } from "../deliverability/monitors.ts";
import { ERASURE, ERASURE_WAIT_MS, repairErasure } from "../erasure/erase-address.ts";
import { EXPORT } from "../exports/export-items.ts";
import { repairExport } from "../exports/export-worker.ts";
import { FIND, repairFind } from "../find/find-once.ts";
import { CHUNK } from "../jobs/chunk-outcome.ts";
import { repairChunk } from "../jobs/chunk-worker.ts";
import { DELETION, LATE_WRITES_MS, repairDeletion } from "../jobs/delete-job.ts";
import { deleteOldJobs } from "../jobs/delete-old-jobs.ts";
import { repairFile } from "../jobs/dispatch.ts";
import { FILE } from "../jobs/file.ts";
import { JOB, JOB_CHECK_INTERVAL_MS, repairJob } from "../jobs/repair-job.ts";
import { paginateQuery } from "../lib/paginate-query.ts";
import { addMs, HOUR_MS, isTooFarAhead, MINUTE_MS } from "../lib/time.ts";
import { readOperation } from "../money/operation-items.ts";
import { reportThresholds } from "../money/report-thresholds.ts";
import type { Item } from "../ports/table.ts";
import {
  acquireLease,
  MAX_LEASE_MS,
  readScheduledWork,
  SCHEDULE_PARTITIONS,
} from "../runtime/leases.ts";
import type { Schedule } from "../runtime/worker.ts";
import { repairSingle, SINGLE } from "../singles/single-job.ts";
import { continueAsJob } from "../singles/verify-once.ts";
import { MAX_WAIT_MINUTES } from "../verify/retry.ts";
import { repairDelivery } from "../webhooks/deliver-event.ts";
import { fanOut } from "../webhooks/fan-out.ts";
import { DELIVERY, EVENT } from "../webhooks/items.ts";
import { RETRY_WINDOW_MS } from "../webhooks/retry-policy.ts";

type Repair = (world: AppWorld, item: Item) => Promise<string>;

/** Repairs overdue work, by its kind. The result is logged and counted. */
const REPAIRS: Readonly<Record<string, Repair>> = {
  verify: async (world, item) => {
    const result = await continueAsJob(world, readOperation(item));
    return result === "ended" ? "went_on_as_job" : "left_to_others";
  },
  [CHECK]: repairCheck,
  [MONITOR]: sendScheduledMonitor,
  [MAIL_TEST]: repairMailTest,
  [FIND]: repairFind,
  [FILE]: repairFile,
  [SINGLE]: repairSingle,
  [JOB]: repairJob,
  [CHUNK]: repairChunk,
  [DELETION]: repairDeletion,
  [ERASURE]: repairErasure,
  [EXPORT]: repairExport,
  [EVENT]: fanOut,
  [DELIVERY]: repairDelivery,
};

/** Nothing was wrong, or another process was faster. */
const NO_REPAIR_RESULTS = ["goes_on", "left_to_others"];

/**
 * The times that items store: a webhook's next attempt, a monitor's next run, the next attempt of deferred rows, the end of
 * an address.
 */
const DeferredWork = v.object({
  due_sk: v.string(),
  nextAt: v.optional(v.string()),
  nextTryAt: v.optional(v.string()),
  retryAt: v.optional(v.string()),
  openUntil: v.optional(v.string()),
  retry: v.optional(v.object({ at: v.string() })),
});

/** Whether the work was deferred until this time. Overdue work whose lease was acquired before was left by a crash. */
const isDeferred = (item: Item): boolean => {
  const { success, output } = v.safeParse(DeferredWork, item);
  if (!success) return false;
  const { due_sk: scheduledAt, nextAt, nextTryAt, retryAt, openUntil, retry } = output;
  return [nextAt, nextTryAt, retryAt, openUntil, retry?.at].includes(scheduledAt);
};

/**
 * How far ahead work of a kind is scheduled at most. Work that is scheduled later was written by a wrong clock and is
 * repaired now: after the clock was set back, it would otherwise wait until the clock reaches that time again.
 */
const MAX_WAIT_MS: Readonly<Record<string, number>> = {
  // The lease of a request, or that of a repair.
  verify: MAX_LEASE_MS,
  [CHECK]: MAX_LEASE_MS,
  [FIND]: MAX_LEASE_MS,
  [FILE]: MAX_LEASE_MS,
  [EXPORT]: MAX_LEASE_MS,
  [EVENT]: MAX_LEASE_MS,
  // A job is checked once an hour; its rows wait an hour at most, and half a minute for others to join them.
  [JOB]: JOB_CHECK_INTERVAL_MS,
  [SINGLE]: MAX_WAIT_MINUTES.most * MINUTE_MS + MINUTE_MS,
  [CHUNK]: MAX_WAIT_MINUTES.most * MINUTE_MS + MINUTE_MS,
  [DELETION]: LATE_WRITES_MS,
  [ERASURE]: ERASURE_WAIT_MS,
  // The last attempt is a day after the first, and its message has a minute of grace.
  [DELIVERY]: RETRY_WINDOW_MS + MINUTE_MS,
  [MONITOR]: INTERVAL_HOURS.most * HOUR_MS,
  [MAIL_TEST]: OPEN_MS,
};
const MIN_MAX_WAIT_MS = Math.min(...Object.values(MAX_WAIT_MS));

/** Whether work is scheduled later than its kind permits. */
export const isMisplaced = (item: Item, now: Date): boolean => {
  const { due_kind: kind, due_sk: scheduledAt } = readScheduledWork(item);
  return isTooFarAhead(
    Date.parse(scheduledAt),
    now.getTime(),
    MAX_WAIT_MS[kind] ?? Number.POSITIVE_INFINITY,
  );
};

/** How long a process has the work before another may take it. */
const LEASE_MS = 5 * MINUTE_MS;
/** Per run and partition: a long backlog takes several runs, and several processes share it. */
const MAX_ITEMS_PER_RUN = 100;

/**
 * Finishes what a crash left. Two runs may overlap: each first acquires a lease, under a condition that only one of
 * them meets. Work of an interrupted run is due again after its lease.
 */
export const reconcile: Schedule<AppWorld> = {
  name: "reconcile",
  everySeconds: 60,
  async run(world) {
    // One repair may wait seconds for foreign name servers; the partitions run concurrently so that it delays few
    // others.
    await Promise.all(SCHEDULE_PARTITIONS.map((partition) => repairOverdue(world, partition)));
    const minute = Math.floor(world.now().getTime() / MINUTE_MS);
    const partition = SCHEDULE_PARTITIONS[minute % SCHEDULE_PARTITIONS.length];
    if (partition !== undefined) await repairMisplacedWork(world, partition);
    await reportThresholds(world);
    if (minute % MINUTES_OF_HOUR === OLD_JOBS_MINUTE) await deleteOldJobs(world);
  },
};

/** Old jobs are deleted once an hour. */
const MINUTES_OF_HOUR = 60;
const OLD_JOBS_MINUTE = 30;

/** One partition per run, because it reads everything scheduled in it. */
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

/** A repair that fails does not stop the next. */
const repairItem = async (world: AppWorld, item: Item): Promise<void> => {
  try {
    const { due_kind: kind } = readScheduledWork(item);
    const leased = await acquireLease(world, item, LEASE_MS);
    if (!leased) return;
    const repairKind = REPAIRS[kind];
    if (!repairKind) throw new Error(`no repair for work of kind ${kind}`);
    const result = await repairKind(world, leased);
    if (!isDeferred(item) && !NO_REPAIR_RESULTS.includes(result))
      world.log("repaired", { kind, done: result });
  } catch (cause) {
    world.log("repair_failed", { kind: item["due_kind"], cause });
  }
};
