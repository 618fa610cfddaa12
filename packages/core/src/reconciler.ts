import * as v from "valibot";
import type { AppWorld } from "./app-world.ts";
import { CHECK, repairCheck } from "./deliverability/check.ts";
import { INTERVAL_HOURS, MONITOR } from "./deliverability/monitor-items.ts";
import { sendDueMonitor } from "./deliverability/monitors.ts";
import { duePartitions, LONGEST_LEASE_MS, readDue, take } from "./due.ts";
import { everyItem } from "./every-item.ts";
import { FIND, repairFind } from "./find/once.ts";
import { CHUNK } from "./jobs/chunk-outcome.ts";
import { repairChunk } from "./jobs/chunk-worker.ts";
import { repairFile } from "./jobs/dispatch.ts";
import { FILE } from "./jobs/file.ts";
import { JOB, LOOK_AGAIN_MS, repairJob } from "./jobs/repair.ts";
import { repairSingle, SINGLE } from "./jobs/single.ts";
import { HOUR_MS, inMs, isTooFarAhead } from "./moments.ts";
import { readOperation } from "./money/operations.ts";
import type { Item } from "./table.ts";
import { continueAsJob } from "./verify/once.ts";
import { MAX_WAIT_MINUTES } from "./verify/retry.ts";
import { repairDelivery } from "./webhooks/deliver.ts";
import { fanOut } from "./webhooks/fan-out.ts";
import { DELIVERY, EVENT } from "./webhooks/items.ts";
import { TRIED_FOR_MS } from "./webhooks/policy.ts";
import type { Schedule } from "./worker.ts";

type Repair = (world: AppWorld, item: Item) => Promise<string>;

/** What is done with work that nobody finished in time, by its kind. The word that comes back is counted. */
const REPAIRS: Readonly<Record<string, Repair>> = {
  verify: async (world, item) => {
    const ended = await continueAsJob(world, readOperation(item));
    return ended === "ended" ? "went_on_as_job" : "left_to_others";
  },
  [CHECK]: repairCheck,
  [MONITOR]: sendDueMonitor,
  [FIND]: repairFind,
  [FILE]: repairFile,
  [SINGLE]: repairSingle,
  [JOB]: repairJob,
  [CHUNK]: repairChunk,
  [EVENT]: fanOut,
  [DELIVERY]: repairDelivery,
};

/** Nothing was wrong, or another process was faster. */
const NOTHING_REPAIRED = ["goes_on", "left_to_others"];

/** The moments that items name themselves: a webhook's next attempt, a monitor's next run, rows that wait. */
const Planned = v.object({
  due_sk: v.string(),
  nextAt: v.optional(v.string()),
  nextTryAt: v.optional(v.string()),
  retryAt: v.optional(v.string()),
  retry: v.optional(v.object({ at: v.string() })),
});

/** Work that was put off until this moment. After it is taken it is due by its lease: then somebody left it undone. */
const isPlanned = (item: Item): boolean => {
  const { success, output } = v.safeParse(Planned, item);
  if (!success) return false;
  const { due_sk: dueAt, nextAt, nextTryAt, retryAt, retry } = output;
  return [nextAt, nextTryAt, retryAt, retry?.at].includes(dueAt);
};

const MINUTE_MS = 60_000;

/**
 * For how long work of a kind is put off at most. What is due later than that was written by a wrong clock, and is due
 * now: a clock that was set back would otherwise let it lie until the same time comes again.
 */
const LONGEST_WAIT_MS: Readonly<Record<string, number>> = {
  // The lease of a request, or that of a repair.
  verify: LONGEST_LEASE_MS,
  [CHECK]: LONGEST_LEASE_MS,
  [FIND]: LONGEST_LEASE_MS,
  [FILE]: LONGEST_LEASE_MS,
  [EVENT]: LONGEST_LEASE_MS,
  // A job is looked at once an hour; rows of it wait an hour at most, and half a minute for others to join them.
  [JOB]: LOOK_AGAIN_MS,
  [SINGLE]: MAX_WAIT_MINUTES.most * MINUTE_MS + MINUTE_MS,
  [CHUNK]: MAX_WAIT_MINUTES.most * MINUTE_MS + MINUTE_MS,
  // The last attempt comes a day after the first, and its message has a minute of grace.
  [DELIVERY]: TRIED_FOR_MS + MINUTE_MS,
  [MONITOR]: INTERVAL_HOURS.most * HOUR_MS,
};
const SHORTEST_WAIT_MS = Math.min(...Object.values(LONGEST_WAIT_MS));

/** Whether work stands later than it can have been put off to. */
export const isMisplaced = (item: Item, now: Date): boolean => {
  const { due_kind: kind, due_sk: dueAt } = readDue(item);
  return isTooFarAhead(
    Date.parse(dueAt),
    now.getTime(),
    LONGEST_WAIT_MS[kind] ?? Number.POSITIVE_INFINITY,
  );
};

/** Whoever takes work has this long before somebody else may. */
const LEASE_MS = 5 * MINUTE_MS;
/** In one run, of each partition: a great heap is worked off in several runs, and by several processes. */
const ITEMS_MAX = 100;

/**
 * Finishes what a crash left. Two may run at once: each piece is taken first, under a condition that only one of
 * them meets. A run that breaks off leaves what it took to be due again after the lease.
 */
export const reconcile: Schedule<AppWorld> = {
  name: "reconcile",
  everySeconds: 60,
  async run(world) {
    // One piece may wait seconds for strangers' name servers: that shall not hold up all the others.
    await Promise.all(duePartitions.map((partition) => repairAll(world, partition)));
    const minute = Math.floor(world.now().getTime() / MINUTE_MS);
    const partition = duePartitions[minute % duePartitions.length];
    if (partition !== undefined) await repairMisplaced(world, partition);
  },
};

/** One partition in each run, because all that waits in it is read. */
const repairMisplaced = async (world: AppWorld, pk: string): Promise<void> => {
  const from = inMs(world.now(), SHORTEST_WAIT_MS).toISOString();
  for await (const item of everyItem(world.table, { index: "due", pk, sk: { from, to: "9" } }))
    if (isMisplaced(item, world.now())) await repair(world, item);
};

const repairAll = async (world: AppWorld, partition: string): Promise<void> => {
  for (const item of await dueIn(world, partition)) await repair(world, item);
};

const dueIn = async (world: AppWorld, partition: string): Promise<readonly Item[]> => {
  const now = world.now().toISOString();
  const { items } = await world.table.query({
    index: "due",
    pk: partition,
    sk: { from: "0", to: now },
    limit: ITEMS_MAX,
  });
  return items;
};

/** One piece that cannot be repaired keeps nobody from the next. */
const repair = async (world: AppWorld, item: Item): Promise<void> => {
  try {
    const { due_kind: kind } = readDue(item);
    const taken = await take(world, item, LEASE_MS);
    if (!taken) return;
    const done = REPAIRS[kind];
    if (!done) throw new Error(`nobody knows what to do with ${kind}`);
    const word = await done(world, taken);
    if (!isPlanned(item) && !NOTHING_REPAIRED.includes(word))
      world.log("repaired", { kind, done: word });
  } catch (cause) {
    world.log("repair_failed", { kind: item["due_kind"], cause });
  }
};
