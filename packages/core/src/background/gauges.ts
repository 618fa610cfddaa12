import { HOUR_MS } from "../lib/time.ts";
import { toCredits } from "../money/credits.ts";
import { readOperation, toOperationKey } from "../money/operation-items.ts";
import type { Item } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import { readJob, toJobKey } from "../rows/items.ts";
import { readScheduledWork, SCHEDULE_PARTITIONS } from "../runtime/leases.ts";
import { listProviderBlocks } from "../smtp-pool/circuit-breaker/circuit-items.ts";
import { isInDoubt, listCanaryCounts } from "../verify/canaries.ts";
import { readIncident } from "./incidents.ts";
import { isMisplaced } from "./reconciler.ts";

/** These numbers show the operator that repairs have stopped before customers notice. */
export type Gauges = {
  readonly dueAgeSeconds: number;
  readonly heldOverAnHour: number;
  /** The number of items that a wrong clock scheduled later than their kind permits. */
  readonly dueMisplaced: number;
  /** The clock's jump within the last hour; negative when the clock was set back. */
  readonly clockJumpSeconds: number;
  /** How often this machine lacked descriptors, memory or ports within the last hour. */
  readonly resourcesExhausted: number;
  /** The mail providers that are believed to refuse unknown recipients but accepted a canary. */
  readonly providersInDoubt: number;
  /** The large mail providers that refuse sessions from one of our exits, counted once per exit. */
  readonly mailProvidersBlocked: number;
};

/** Reads only the most overdue items of each partition: a longer backlog raises the alarm anyway. */
const MAX_ITEMS_PER_PARTITION = 500;

/** Reads only. All work that holds credits is scheduled, so one index contains it. */
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
    providersInDoubt: (await listCanaryCounts(table)).filter(isInDoubt).length,
    mailProvidersBlocked: (await listProviderBlocks(world)).length,
  };
};

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
