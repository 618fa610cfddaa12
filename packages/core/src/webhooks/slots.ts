import { getWindowStart } from "../lib/time.ts";
import type { World } from "../ports/world.ts";
import { toSlotsKey } from "./items.ts";

// How many calls to one address may be under way at a time. One that hangs keeps its own places busy and nobody
// else's; one at which everything fails has a single place, until something arrives again.

const SLOTS = 8;
const SLOTS_WHILE_FAILING = 1;

/**
 * A place is counted in the half-minute in which it was taken, and a call takes far less. So one that a crash left
 * behind is forgotten with its window; the price is that at the seam of two windows there may be twice as many.
 */
const WINDOW_SECONDS = 30;

export type DeliverySlot = { readonly concurrencyKey: string; readonly window: number };

/** Undefined: there is none just now. */
export const acquireSlot = async (
  { table, now }: Pick<World, "table" | "now">,
  concurrencyKey: string,
  isFailing: boolean,
): Promise<DeliverySlot | undefined> => {
  const window = getWindowStart(now(), WINDOW_SECONDS);
  const { outcome } = await table.write({
    update: toSlotsKey(concurrencyKey, window),
    add: { n: 1 },
    bounds: { n: { atMost: isFailing ? SLOTS_WHILE_FAILING : SLOTS } },
    set: { expires_at: window + 2 * WINDOW_SECONDS },
    orCreate: true,
  });
  // A lost reply: at worst one place is counted that nobody has, for half a minute.
  return outcome === "refused" ? undefined : { concurrencyKey, window };
};

/** Best effort: what is not given back is forgotten soon. */
export const releaseSlot = async (
  { table }: Pick<World, "table">,
  { concurrencyKey, window }: DeliverySlot,
): Promise<void> => {
  await table
    .write({
      update: toSlotsKey(concurrencyKey, window),
      add: { n: -1 },
      bounds: { n: { atLeast: 0 } },
    })
    .catch(() => undefined);
};
