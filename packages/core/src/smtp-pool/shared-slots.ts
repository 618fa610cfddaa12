import { withTimeout } from "../lib/timeout.ts";
import type { Fields, Where, WriteResult } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import type { SessionEnd } from "./backoff.ts";
import {
  createBackoffChange,
  createExpiry,
  createWaitMark,
  formatLease,
  getBackoff,
  hasWaiter,
  isWaitMarkFresh,
  listTakenSlots,
  matchBackoff,
  matchClosing,
  matchSlot,
  parseSharedProvider,
  type SharedProvider,
  toItemKey,
  toSlotField,
} from "./shared-provider.ts";
import {
  LOCAL_SLOT,
  PAUSE_MS,
  type ProviderBackoff,
  type SlotKey,
  type SlotPool,
  type SlotResult,
} from "./slots.ts";

export type SlotPorts = Pick<World, "table" | "now" | "random" | "sleep">;

/** Somebody was quicker: so often it is tried anew, one after the other. */
const TRIES_MAX = 4;
/** After this the table counts as away. A place that it wrote all the same ends with its lease. */
const TABLE_MS = 3_000;

/** What this process has of an operator, and what it leaves to others for a moment. */
type LocalUse = { readonly own: Set<number>; readonly yielded: Set<number>; acquiring: number };

/** A place that stands in the table: `text` is ours alone, so nobody's place is given back but our own. */
type SlotLease = { readonly slotKey: SlotKey; readonly slot: number; readonly text: string };

/**
 * Places that all processes with this table share. A session costs one read and one write before it and one write
 * after it, whether it went well or closes the operator for everybody.
 */
export const createSharedSlots = (ports: SlotPorts): SlotPool => {
  const localUses = new Map<string, LocalUse>();
  const getLocalUse = ({ providerKey }: SlotKey): LocalUse => {
    const localUse = localUses.get(providerKey) ?? {
      own: new Set(),
      yielded: new Set(),
      acquiring: 0,
    };
    localUses.set(providerKey, localUse);
    return localUse;
  };
  const forget = ({ providerKey }: SlotKey): void => {
    const localUse = localUses.get(providerKey);
    if (localUse && localUse.own.size + localUse.yielded.size + localUse.acquiring === 0)
      localUses.delete(providerKey);
  };

  const yieldSlots = (spot: SlotKey, slots: Iterable<number>): void => {
    const { yielded: left } = getLocalUse(spot);
    const isPausing = left.size > 0;
    for (const place of slots) left.add(place);
    if (isPausing || left.size === 0) return;
    void ports.sleep(ports.random() * PAUSE_MS).then(() => {
      left.clear();
      forget(spot);
    });
  };

  const release = async (
    { slotKey: spot, ...standing }: SlotLease,
    seen: SharedProvider,
    end: SessionEnd | null,
  ) => {
    try {
      const shared = await releaseSlot(ports, { slotKey: spot, ...standing }, seen, end);
      const atMs = ports.now().getTime();
      // Whoever gives a place back would be the first to ask for it again, and nobody else would ever get one.
      if (hasWaiter(shared, atMs)) yieldSlots(spot, Array(spot.connections).keys());
      return getBackoff(shared, atMs);
    } finally {
      getLocalUse(spot).own.delete(standing.slot);
      forget(spot);
    }
  };

  const acquire = async (spot: SlotKey): Promise<SlotResult> => {
    const localUse = getLocalUse(spot);
    localUse.acquiring++;
    try {
      const outcome = await acquireSlot(ports, spot, localUse);
      if ("backoff" in outcome) return outcome.backoff;
      if ("takenSlots" in outcome) {
        yieldSlots(spot, outcome.takenSlots);
        return "full";
      }
      const { lease: standing, shared } = outcome;
      return { release: (end) => release(standing, shared, end).catch(() => null) };
    } finally {
      localUse.acquiring--;
      forget(spot);
    }
  };

  return {
    mayAcquire: (spot) => {
      const localUse = localUses.get(spot.providerKey);
      return !localUse || listOpenSlots(spot, localUse).length > 0;
    },
    // Without the table every process goes by its own count: less polite, but no verdict is made of it.
    acquire: (spot) => acquire(spot).catch(() => LOCAL_SLOT),
  };
};

const listOpenSlots = ({ slots }: SlotKey, { own, yielded: left }: LocalUse): readonly number[] =>
  slots.filter((place) => !own.has(place) && !left.has(place));

type AcquireOutcome =
  | { readonly lease: SlotLease; readonly shared: SharedProvider }
  | { readonly backoff: ProviderBackoff }
  | { readonly takenSlots: readonly number[] };

const acquireSlot = async (
  ports: SlotPorts,
  spot: SlotKey,
  localUse: LocalUse,
): Promise<AcquireOutcome> => {
  const { now, random } = ports;
  const token = `${random()}`.slice(2);
  let isUnclear = false;
  for (let tries = 0; tries < TRIES_MAX && listOpenSlots(spot, localUse).length > 0; tries++) {
    const shared = await readProvider(ports, spot);
    const atMs = now().getTime();
    const rest = getBackoff(shared, atMs);
    if (rest) return { backoff: rest };
    const taken = listTakenSlots(shared, atMs);
    const free = listOpenSlots(spot, localUse).filter((place) => !taken.includes(place));
    const place = free[Math.floor(random() * free.length)];
    if (place === undefined) {
      if (!isWaitMarkFresh(shared, atMs))
        await writeProvider(ports, spot, createWaitMark(atMs), {}).catch(ignoreError);
      return { takenSlots: taken.filter((other) => !localUse.own.has(other)) };
    }
    localUse.own.add(place);
    const standing = { slotKey: spot, slot: place, text: formatLease(token, atMs) };
    const claimed = await writeLease(ports, standing, shared).catch((error: unknown) => {
      localUse.own.delete(place);
      throw error;
    });
    if (typeof claimed === "object") return { lease: standing, shared: claimed };
    localUse.own.delete(place);
    isUnclear = claimed === "lost";
  }
  if (isUnclear) throw new Error("the table does not say whether the place is ours");
  return { takenSlots: [] };
};

/** In the very write: that the place is free, and that nobody closed the operator since we looked. */
const writeLease = async (
  ports: SlotPorts,
  { slotKey: spot, slot: place, text }: SlotLease,
  seen: SharedProvider,
): Promise<SharedProvider | "refused" | "lost"> => {
  const where = { ...matchSlot(seen, place), ...matchClosing(seen) };
  const written = await writeProvider(ports, spot, { [toSlotField(place)]: text }, where);
  if (written.outcome === "committed") return parseSharedProvider(written.item);
  if (written.outcome === "refused") return "refused";
  // The reply was lost. Whether it came through stands in the place.
  const shared = await readProvider(ports, spot);
  return shared.slots.get(place) === text ? shared : "lost";
};

/** The place is free and what was met is told, in one write. Refused, both are decided anew on what is there now. */
const releaseSlot = async (
  ports: SlotPorts,
  { slotKey: spot, slot: place, text }: SlotLease,
  seen: SharedProvider,
  end: SessionEnd | null,
): Promise<SharedProvider> => {
  let shared = seen;
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const isOurs = shared.slots.get(place) === text;
    const backoffChange = end && createBackoffChange(shared, end, ports.now().getTime());
    if (!isOurs && !backoffChange) break;
    const written = await writeProvider(
      ports,
      spot,
      { ...(isOurs && { [toSlotField(place)]: undefined }), ...backoffChange },
      { ...(isOurs && matchSlot(shared, place)), ...(backoffChange && matchBackoff(shared)) },
    );
    if (written.outcome === "committed") return parseSharedProvider(written.item);
    shared = await readProvider(ports, spot);
  }
  return shared;
};

const readProvider = async (ports: SlotPorts, { providerKey }: SlotKey): Promise<SharedProvider> =>
  parseSharedProvider(await withTableTimeout(ports, ports.table.get(toItemKey(providerKey))));

const writeProvider = (
  ports: SlotPorts,
  { providerKey }: SlotKey,
  set: Fields,
  where: Where,
): Promise<WriteResult> => {
  const update = toItemKey(providerKey);
  const all = { ...set, ...createExpiry(ports.now().getTime()) };
  return withTableTimeout(ports, ports.table.write({ update, set: all, where, orCreate: true }));
};

const withTableTimeout = async <Result>(
  ports: SlotPorts,
  call: Promise<Result>,
): Promise<Result> => {
  const result = await withTimeout(ports, TABLE_MS, call);
  if (result === "late") throw new Error("the table does not answer in time");
  return result;
};

const ignoreError = (): void => {};
