import type { AppWorld } from "../app-world.ts";
import { areOldJobsLeft, deleteOldJobs } from "../erasure/delete-old-jobs.ts";
import { paginateQuery } from "../lib/paginate-query.ts";
import { addMs, isTooFarAhead, MINUTE_MS } from "../lib/time.ts";
import { reportThresholds } from "../money/thresholds.ts";
import type { Item } from "../ports/table.ts";
import { acquireLease, readScheduledWork, SCHEDULE_PARTITIONS } from "../runtime/leases.ts";
import type { WorkKind } from "../runtime/work-kind.ts";
import type { Schedule } from "../runtime/worker.ts";
import { kinds } from "./kinds.ts";

const KINDS: ReadonlyMap<string, WorkKind<AppWorld>> = new Map(
  kinds.map((work) => [work.kind, work]),
);

/** Nothing was wrong, or another process did the work first. */
const NO_REPAIR_RESULTS = ["goes_on", "left_to_others"];

/** Tests whether the work was deferred until this time. Otherwise a crash left it after its lease. */
const isDeferred = ({ deferredUntil }: WorkKind<AppWorld>, item: Item): boolean =>
  deferredUntil?.(item) === readScheduledWork(item).due_sk;

const SHORTEST_WAIT_MS = Math.min(...[...KINDS.values()].map(({ longestWaitMs }) => longestWaitMs));

export const isMisplaced = (item: Item, now: Date): boolean => {
  const { due_kind: kind, due_sk: scheduledAt } = readScheduledWork(item);
  return isTooFarAhead(
    Date.parse(scheduledAt),
    now.getTime(),
    KINDS.get(kind)?.longestWaitMs ?? Number.POSITIVE_INFINITY,
  );
};

/** When the lease ends, another process may take the work over. */
const LEASE_MS = 5 * MINUTE_MS;
/** A limit per run and partition: a long backlog takes several runs, and several processes share it. */
const MAX_ITEMS_PER_RUN = 100;

/**
 * Finishes work that a crash left. Two runs may overlap: each first acquires a lease, under a condition that only one run
 * meets. Work of an interrupted run is due again after its lease.
 */
export const reconcile: Schedule<AppWorld> = {
  name: "reconcile",
  everySeconds: 60,
  async run(world) {
    // One repair may wait seconds for name servers, so the partitions run concurrently and few other repairs wait.
    await Promise.all(SCHEDULE_PARTITIONS.map((partition) => repairOverdue(world, partition)));
    const minute = Math.floor(world.now().getTime() / MINUTE_MS);
    const partition = SCHEDULE_PARTITIONS[minute % SCHEDULE_PARTITIONS.length];
    if (partition !== undefined) await repairMisplacedWork(world, partition);
    await reportThresholds(world);
    if (minute % MINUTES_OF_HOUR === OLD_JOBS_MINUTE || (await areOldJobsLeft(world.table)))
      await deleteOldJobs(world);
  },
};

/** Old jobs are deleted once an hour, and each minute while some are left. */
const MINUTES_OF_HOUR = 60;
const OLD_JOBS_MINUTE = 30;

/** One partition per run, because this reads everything scheduled in the partition. */
const repairMisplacedWork = async (world: AppWorld, pk: string): Promise<void> => {
  const from = addMs(world.now(), SHORTEST_WAIT_MS).toISOString();
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

/** A failed repair does not stop the next repair. */
const repairItem = async (world: AppWorld, item: Item): Promise<void> => {
  try {
    const { due_kind: kind } = readScheduledWork(item);
    const leased = await acquireLease(world, item, LEASE_MS);
    if (!leased) return;
    const work = KINDS.get(kind);
    if (!work) throw new Error(`no repair for work of kind ${kind}`);
    const result = await work.repair(world, leased);
    if (!isDeferred(work, item) && !NO_REPAIR_RESULTS.includes(result))
      world.log("repaired", { kind, done: result });
  } catch (cause) {
    world.log("repair_failed", { kind: item["due_kind"], cause });
  }
};
