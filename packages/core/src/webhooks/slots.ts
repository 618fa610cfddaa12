import { getWindowStart } from "../lib/time.ts";
import type { World } from "../ports/world.ts";
import { toSlotsKey } from "./items.ts";

// Limits the concurrent calls to one URL. A URL that hangs occupies only its own slots; a URL whose calls all fail has a single
// slot until a call succeeds again.

const SLOTS = 8;
const SLOTS_WHILE_FAILING = 1;

/**
 * A slot counts in the half-minute in which it was acquired, and a call takes far less. So a slot that a crash left expires
 * with its window. The cost: up to twice as many calls at the boundary of two windows.
 */
const WINDOW_SECONDS = 30;

export type DeliverySlot = { readonly concurrencyKey: string; readonly window: number };

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
  // After a lost reply, at worst an unused slot is counted for half a minute.
  return outcome === "refused" ? undefined : { concurrencyKey, window };
};

/** Ignores a failure: a slot that is not released expires with its window. */
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
