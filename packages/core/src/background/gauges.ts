import { readJob, toJobKey } from "../jobs/items.ts";
import { toCredits } from "../money/credits.ts";
import { readOperation, toOperationKey } from "../money/operations.ts";
import type { Item } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import { readScheduledWork, SCHEDULE_PARTITIONS } from "../runtime/leases.ts";
import { readIncident } from "./incidents.ts";
import { isMisplaced } from "./reconciler.ts";

/** What tells an operator that repairs stand still, before a customer does. */
export type Gauges = {
  /** How late the latest piece of due work is. */
  readonly dueAgeSeconds: number;
  /** Credits that have been held for more than an hour. */
  readonly heldOverAnHour: number;
  /** How many pieces of due work stand later than they can have been put off to: a wrong clock wrote them. */
  readonly dueMisplaced: number;
  /** By how much the clock jumped within the last hour, negative where it was set back. */
  readonly clockJumpSeconds: number;
  /** How often this machine lacked descriptors, memory or ports within the last hour. */
  readonly resourcesExhausted: number;
};

const HOUR_MS = 60 * 60_000;
/** Of each partition, the most overdue: where more than this waits, there is enough to ring. */
const MAX_ITEMS_PER_PARTITION = 500;

/** Whatever holds credits is due some day, so all of it stands in the one index. Only reads. */
export const readGauges = async (world: Pick<World, "table" | "now">): Promise<Gauges> => {
  const { table, now } = world;
  const pages = await Promise.all(
    SCHEDULE_PARTITIONS.map((pk) =>
      table.query({ index: "due", pk, limit: MAX_ITEMS_PER_PARTITION }),
    ),
  );
  const items = pages.flatMap((page) => page.items);
  const nowMs = now().getTime();
  const latenessMs = items.map((item) => nowMs - Date.parse(readScheduledWork(item).due_sk));
  const heldOverAnHour = items
    .map(readHeldCredits)
    .filter(({ sinceMs }) => nowMs - sinceMs > HOUR_MS)
    .reduce((sum, { credits }) => sum + credits, 0);
  return {
    dueAgeSeconds: Math.floor(Math.max(0, ...latenessMs) / 1000),
    heldOverAnHour: heldOverAnHour,
    dueMisplaced: await countMisplaced(world),
    clockJumpSeconds: await readIncident(world, "clock_jumped"),
    resourcesExhausted: await readIncident(world, "resources_exhausted"),
  };
};

/** What stands furthest ahead, of each partition. */
const countMisplaced = async ({ table, now }: Pick<World, "table" | "now">): Promise<number> => {
  const pages = await Promise.all(
    SCHEDULE_PARTITIONS.map((pk) =>
      table.query({ index: "due", pk, newestFirst: true, limit: MAX_ITEMS_PER_PARTITION }),
    ),
  );
  return pages.flatMap(({ items }) => items).filter((item) => isMisplaced(item, now())).length;
};

const NONE_HELD = { credits: 0, sinceMs: Number.POSITIVE_INFINITY };

const readHeldCredits = (item: Item): { readonly credits: number; readonly sinceMs: number } => {
  if (item.sk === toOperationKey("").sk) {
    const { amount, openedAt } = readOperation(item);
    return { credits: toCredits(amount), sinceMs: Date.parse(openedAt) };
  }
  if (item.sk === toJobKey("").sk) {
    const { held, createdAt } = readJob(item);
    return { credits: toCredits(held), sinceMs: Date.parse(createdAt) };
  }
  return NONE_HELD;
};
