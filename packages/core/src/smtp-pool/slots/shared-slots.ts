import { withTimeout } from "../../lib/timeout.ts";
import type { Fields, Where, WriteResult } from "../../ports/table.ts";
import type { World } from "../../ports/world.ts";
import type { SessionEnd } from "../backoff.ts";
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

/** Another process took the slot first: how many more slots this one tries, one after the other. */
const TRIES_MAX = 4;
/** After this time the table counts as down. A slot that it acquired all the same is free when its lease ends. */
const TABLE_MS = 3_000;

/** The provider's slots that this process holds, and those that it leaves to others for a moment. */
type LocalUse = { readonly own: Set<number>; readonly yielded: Set<number>; acquiring: number };

/** A slot in the table: `text` is unique, so a process releases no slot but its own. */
type SlotLease = { readonly slotKey: SlotKey; readonly slot: number; readonly text: string };

/**
 * Slots that all processes with this table share. A session costs one read and one write before it and one write after
 * it, whether it went well or begins the provider's backoff.
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

  const yieldSlots = (slotKey: SlotKey, slots: Iterable<number>): void => {
    const { yielded } = getLocalUse(slotKey);
    const isPausing = yielded.size > 0;
    for (const slot of slots) yielded.add(slot);
    if (isPausing || yielded.size === 0) return;
    void ports.sleep(ports.random() * PAUSE_MS).then(() => {
      yielded.clear();
      forget(slotKey);
    });
  };

  const release = async (
    { slotKey, ...lease }: SlotLease,
    seen: SharedProvider,
    end: SessionEnd | null,
  ) => {
    try {
      const shared = await releaseSlot(ports, { slotKey, ...lease }, seen, end);
      const atMs = ports.now().getTime();
      // Without this pause the process that releases a slot would acquire it again before any other.
      if (hasWaiter(shared, atMs)) yieldSlots(slotKey, Array(slotKey.connections).keys());
      return getBackoff(shared, atMs);
    } finally {
      getLocalUse(slotKey).own.delete(lease.slot);
      forget(slotKey);
    }
  };

  const acquire = async (slotKey: SlotKey): Promise<SlotResult> => {
    const localUse = getLocalUse(slotKey);
    localUse.acquiring++;
    try {
      const outcome = await acquireSlot(ports, slotKey, localUse);
      if (outcome.kind === "backoff") return outcome;
      if (outcome.kind === "full") {
        yieldSlots(slotKey, outcome.takenSlots);
        return { kind: "full" };
      }
      const { lease, shared } = outcome;
      return {
        kind: "acquired",
        slot: { release: (end) => release(lease, shared, end).catch(() => null) },
      };
    } finally {
      localUse.acquiring--;
      forget(slotKey);
    }
  };

  return {
    mayAcquire: (slotKey) => {
      const localUse = localUses.get(slotKey.providerKey);
      return !localUse || listOpenSlots(slotKey, localUse).length > 0;
    },
    // Without the table every process counts alone: less polite, but no verdict changes.
    acquire: (slotKey) => acquire(slotKey).catch(() => LOCAL_SLOT),
  };
};

const listOpenSlots = ({ slots }: SlotKey, { own, yielded }: LocalUse): readonly number[] =>
  slots.filter((slot) => !own.has(slot) && !yielded.has(slot));

type AcquireOutcome =
  | { readonly kind: "acquired"; readonly lease: SlotLease; readonly shared: SharedProvider }
  | { readonly kind: "backoff"; readonly backoff: ProviderBackoff }
  | { readonly kind: "full"; readonly takenSlots: readonly number[] };

const acquireSlot = async (
  ports: SlotPorts,
  slotKey: SlotKey,
  localUse: LocalUse,
): Promise<AcquireOutcome> => {
  const { now, random } = ports;
  const token = `${random()}`.slice(2);
  let isUnclear = false;
  for (let tries = 0; tries < TRIES_MAX && listOpenSlots(slotKey, localUse).length > 0; tries++) {
    const shared = await readProvider(ports, slotKey);
    const atMs = now().getTime();
    const backoff = getBackoff(shared, atMs);
    if (backoff) return { kind: "backoff", backoff };
    const taken = listTakenSlots(shared, atMs);
    const free = listOpenSlots(slotKey, localUse).filter((slot) => !taken.includes(slot));
    const slot = free[Math.floor(random() * free.length)];
    if (slot === undefined) {
      if (!isWaitMarkFresh(shared, atMs))
        await writeProvider(ports, slotKey, createWaitMark(atMs), {}).catch(ignoreError);
      return { kind: "full", takenSlots: taken.filter((other) => !localUse.own.has(other)) };
    }
    localUse.own.add(slot);
    const lease = { slotKey, slot, text: formatLease(token, atMs) };
    const claimed = await writeLease(ports, lease, shared).catch((error: unknown) => {
      localUse.own.delete(slot);
      throw error;
    });
    if (typeof claimed === "object") return { kind: "acquired", lease, shared: claimed };
    localUse.own.delete(slot);
    isUnclear = claimed === "lost";
  }
  if (isUnclear) throw new Error("the table does not say whether the slot is ours");
  return { kind: "full", takenSlots: [] };
};

/** One write on two conditions: the slot is free, and no process closed the provider since the read. */
const writeLease = async (
  ports: SlotPorts,
  { slotKey, slot, text }: SlotLease,
  seen: SharedProvider,
): Promise<SharedProvider | "refused" | "lost"> => {
  const where = { ...matchSlot(seen, slot), ...matchClosing(seen) };
  const written = await writeProvider(ports, slotKey, { [toSlotField(slot)]: text }, where);
  if (written.outcome === "committed") return parseSharedProvider(written.item);
  if (written.outcome === "refused") return "refused";
  // The reply was lost. The table shows whether the write was applied.
  const shared = await readProvider(ports, slotKey);
  return shared.slots.get(slot) === text ? shared : "lost";
};

/** Releases the slot and stores the session's end in one write. When it is refused, both are decided again. */
const releaseSlot = async (
  ports: SlotPorts,
  { slotKey, slot, text }: SlotLease,
  seen: SharedProvider,
  end: SessionEnd | null,
): Promise<SharedProvider> => {
  let shared = seen;
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const isOurs = shared.slots.get(slot) === text;
    const backoffChange = end && createBackoffChange(shared, end, ports.now().getTime());
    if (!isOurs && !backoffChange) break;
    const written = await writeProvider(
      ports,
      slotKey,
      { ...(isOurs && { [toSlotField(slot)]: undefined }), ...backoffChange },
      { ...(isOurs && matchSlot(shared, slot)), ...(backoffChange && matchBackoff(shared)) },
    );
    if (written.outcome === "committed") return parseSharedProvider(written.item);
    shared = await readProvider(ports, slotKey);
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
