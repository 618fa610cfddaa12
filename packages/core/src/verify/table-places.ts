import type { Fields, Where, Written } from "../table.ts";
import { within } from "../within.ts";
import type { World } from "../world.ts";
import { OWN_PLACE, PAUSE_MS, type Places, type Rest, type Spot, type Taken } from "./places.ts";
import type { Ended } from "./rest.ts";
import {
  asSeen,
  changeAfter,
  closingAsSeen,
  isWanted,
  isWantedLong,
  kept,
  placeAsSeen,
  placeField,
  placeText,
  readShared,
  restOf,
  type Shared,
  sharedKey,
  takenPlaces,
  wanted,
} from "./shared-operator.ts";

export type PlaceDoors = Pick<World, "table" | "now" | "random" | "sleep">;

/** Somebody was quicker: so often it is tried anew, one after the other. */
const TRIES_MAX = 4;
/** After this the table counts as away. A place that it wrote all the same ends with its lease. */
const TABLE_MS = 3_000;

/** What this process has of an operator, and what it leaves to others for a moment. */
type Here = { readonly own: Set<number>; readonly left: Set<number>; asking: number };

/** A place that stands in the table: `text` is ours alone, so nobody's place is given back but our own. */
type Standing = { readonly spot: Spot; readonly place: number; readonly text: string };

/**
 * Places that all processes with this table share. A session costs one read and one write before it and one write
 * after it, whether it went well or closes the operator for everybody.
 */
export const tablePlaces = (doors: PlaceDoors): Places => {
  const known = new Map<string, Here>();
  const hereAt = ({ operator }: Spot): Here => {
    const here = known.get(operator) ?? { own: new Set(), left: new Set(), asking: 0 };
    known.set(operator, here);
    return here;
  };
  const forget = ({ operator }: Spot): void => {
    const here = known.get(operator);
    if (here && here.own.size + here.left.size + here.asking === 0) known.delete(operator);
  };

  const leave = (spot: Spot, places: Iterable<number>): void => {
    const { left } = hereAt(spot);
    const isPausing = left.size > 0;
    for (const place of places) left.add(place);
    if (isPausing || left.size === 0) return;
    void doors.sleep(doors.random() * PAUSE_MS).then(() => {
      left.clear();
      forget(spot);
    });
  };

  const give = async ({ spot, ...standing }: Standing, seen: Shared, ended: Ended | null) => {
    try {
      const shared = await giveBack(doors, { spot, ...standing }, seen, ended);
      const atMs = doors.now().getTime();
      // Whoever gives a place back would be the first to ask for it again, and nobody else would ever get one.
      if (isWanted(shared, atMs)) leave(spot, Array(spot.connections).keys());
      return restOf(shared, atMs);
    } finally {
      hereAt(spot).own.delete(standing.place);
      forget(spot);
    }
  };

  const take = async (spot: Spot): Promise<Taken> => {
    const here = hereAt(spot);
    here.asking++;
    try {
      const came = await takePlace(doors, spot, here);
      if ("rest" in came) return came.rest;
      if ("taken" in came) {
        leave(spot, came.taken);
        return "full";
      }
      const { standing, shared } = came;
      return { give: (ended) => give(standing, shared, ended).catch(() => null) };
    } finally {
      here.asking--;
      forget(spot);
    }
  };

  return {
    mayHave: (spot) => {
      const here = known.get(spot.operator);
      return !here || mayHave(spot, here).length > 0;
    },
    // Without the table every process goes by its own count: less polite, but no verdict is made of it.
    take: (spot) => take(spot).catch(() => OWN_PLACE),
  };
};

const mayHave = ({ places }: Spot, { own, left }: Here): readonly number[] =>
  places.filter((place) => !own.has(place) && !left.has(place));

type Came =
  | { readonly standing: Standing; readonly shared: Shared }
  | { readonly rest: Rest }
  | { readonly taken: readonly number[] };

const takePlace = async (doors: PlaceDoors, spot: Spot, here: Here): Promise<Came> => {
  const { now, random } = doors;
  const token = `${random()}`.slice(2);
  let isLost = false;
  for (let tries = 0; tries < TRIES_MAX && mayHave(spot, here).length > 0; tries++) {
    const shared = await read(doors, spot);
    const atMs = now().getTime();
    const rest = restOf(shared, atMs);
    if (rest) return { rest };
    const taken = takenPlaces(shared, atMs);
    const free = mayHave(spot, here).filter((place) => !taken.includes(place));
    const place = free[Math.floor(random() * free.length)];
    if (place === undefined) {
      if (!isWantedLong(shared, atMs)) await write(doors, spot, wanted(atMs), {}).catch(ignored);
      return { taken: taken.filter((other) => !here.own.has(other)) };
    }
    here.own.add(place);
    const standing = { spot, place, text: placeText(token, atMs) };
    const stood = await standAt(doors, standing, shared).catch((error: unknown) => {
      here.own.delete(place);
      throw error;
    });
    if (typeof stood === "object") return { standing, shared: stood };
    here.own.delete(place);
    isLost = stood === "lost";
  }
  if (isLost) throw new Error("the table does not say whether the place is ours");
  return { taken: [] };
};

/** In the very write: that the place is free, and that nobody closed the operator since we looked. */
const standAt = async (
  doors: PlaceDoors,
  { spot, place, text }: Standing,
  seen: Shared,
): Promise<Shared | "refused" | "lost"> => {
  const where = { ...placeAsSeen(seen, place), ...closingAsSeen(seen) };
  const written = await write(doors, spot, { [placeField(place)]: text }, where);
  if (written.outcome === "committed") return readShared(written.item);
  if (written.outcome === "refused") return "refused";
  // The reply was lost. Whether it came through stands in the place.
  const shared = await read(doors, spot);
  return shared.places.get(place) === text ? shared : "lost";
};

/** The place is free and what was met is told, in one write. Refused, both are decided anew on what is there now. */
const giveBack = async (
  doors: PlaceDoors,
  { spot, place, text }: Standing,
  seen: Shared,
  ended: Ended | null,
): Promise<Shared> => {
  let shared = seen;
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const isOurs = shared.places.get(place) === text;
    const change = ended && changeAfter(shared, ended, doors.now().getTime());
    if (!isOurs && !change) break;
    const written = await write(
      doors,
      spot,
      { ...(isOurs && { [placeField(place)]: undefined }), ...change },
      { ...(isOurs && placeAsSeen(shared, place)), ...(change && asSeen(shared)) },
    );
    if (written.outcome === "committed") return readShared(written.item);
    shared = await read(doors, spot);
  }
  return shared;
};

const read = async (doors: PlaceDoors, { operator }: Spot): Promise<Shared> =>
  readShared(await inTime(doors, doors.table.get(sharedKey(operator))));

const write = (
  doors: PlaceDoors,
  { operator }: Spot,
  set: Fields,
  where: Where,
): Promise<Written> => {
  const update = sharedKey(operator);
  const all = { ...set, ...kept(doors.now().getTime()) };
  return inTime(doors, doors.table.write({ update, set: all, where, orCreate: true }));
};

const inTime = async <Came>(doors: PlaceDoors, call: Promise<Came>): Promise<Came> => {
  const came = await within(doors, TABLE_MS, call);
  if (came === "late") throw new Error("the table does not answer in time");
  return came;
};

const ignored = (): void => {};
