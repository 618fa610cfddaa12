import { windowAt } from "../moments.ts";
import type { World } from "../world.ts";
import { placesKey } from "./items.ts";

// How many calls to one address may be under way at a time. One that hangs keeps its own places busy and nobody
// else's; one at which everything fails has a single place, until something arrives again.

const PLACES = 8;
const PLACES_WHILE_FAILING = 1;

/**
 * A place is counted in the half-minute in which it was taken, and a call takes far less. So one that a crash left
 * behind is forgotten with its window; the price is that at the seam of two windows there may be twice as many.
 */
const WINDOW_SECONDS = 30;

export type Place = { readonly lane: string; readonly window: number };

/** Undefined: there is none just now. */
export const takePlace = async (
  { table, now }: Pick<World, "table" | "now">,
  lane: string,
  isFailing: boolean,
): Promise<Place | undefined> => {
  const window = windowAt(now(), WINDOW_SECONDS);
  const { outcome } = await table.write({
    update: placesKey(lane, window),
    add: { n: 1 },
    leaving: { n: { atMost: isFailing ? PLACES_WHILE_FAILING : PLACES } },
    set: { expires_at: window + 2 * WINDOW_SECONDS },
    orCreate: true,
  });
  // A lost reply: at worst one place is counted that nobody has, for half a minute.
  return outcome === "refused" ? undefined : { lane, window };
};

/** Best effort: what is not given back is forgotten soon. */
export const leavePlace = async (
  { table }: Pick<World, "table">,
  { lane, window }: Place,
): Promise<void> => {
  await table
    .write({
      update: placesKey(lane, window),
      add: { n: -1 },
      leaving: { n: { atLeast: 0 } },
    })
    .catch(() => undefined);
};
