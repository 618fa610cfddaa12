import { withTimeout } from "../../lib/timeout.ts";
import type { Fields, Table, Where, WriteResult } from "../../ports/table.ts";
import type { World } from "../../ports/world.ts";
import type { SessionEnd } from "../backoff.ts";
import {
  createBackoffChange,
  createExpiry,
  createPaceChange,
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
  getJitteredPauseMs,
  LOCAL_SLOT,
  NEXT_PAUSE_MS,
  type ProviderBackoff,
  type SessionWork,
  type SlotKey,
  type SlotPool,
  type SlotRequest,
  type SlotResult,
  type SlotReturn,
} from "./slots.ts";
import { createWaitQueues } from "./wait-queue.ts";

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
  const waitQueues = createWaitQueues({ ...ports, table: withTimeouts(ports) });
  const localUses = new Map<string, LocalUse>();
  const getLocalUse = ({ limitKey }: SlotKey): LocalUse => {
    const localUse = localUses.get(limitKey) ?? {
      own: new Set(),
      yielded: new Set(),
      acquiring: 0,
    };
    localUses.set(limitKey, localUse);
    return localUse;
  };
  const forget = ({ limitKey }: SlotKey): void => {
    const localUse = localUses.get(limitKey);
    if (localUse && localUse.own.size + localUse.yielded.size + localUse.acquiring === 0)
      localUses.delete(limitKey);
  };

  const yieldSlots = (slotKey: SlotKey, slots: Iterable<number>, ms: number): void => {
    const { yielded } = getLocalUse(slotKey);
    const isPausing = yielded.size > 0;
    for (const slot of slots) yielded.add(slot);
    if (isPausing || yielded.size === 0) return;
    void ports.sleep(ms).then(() => {
      yielded.clear();
      forget(slotKey);
    });
  };

  const release = async (
    { slotKey, ...lease }: SlotLease,
    seen: SharedProvider,
    { end, work, request }: SlotEnd,
  ) => {
    try {
      const [shared] = await Promise.all([
        releaseSlot(ports, { slotKey, ...lease }, seen, { end, work }),
        request && work && waitQueues.end(slotKey, request, work).catch(ignoreError),
      ]);
      return getBackoff(shared, ports.now().getTime());
    } finally {
      getLocalUse(slotKey).own.delete(lease.slot);
      forget(slotKey);
    }
  };

  const acquire = async (slotKey: SlotKey, request?: SlotRequest): Promise<SlotResult> => {
    const localUse = getLocalUse(slotKey);
    localUse.acquiring++;
    try {
      const outcome = await acquireSlot({ ...ports, waitQueues }, slotKey, localUse, request);
      if (outcome.kind === "full") {
        const pauseMs = toPauseMs(ports, outcome.isNext);
        yieldSlots(slotKey, outcome.takenSlots, pauseMs * YIELD_SHARE);
        return { kind: "full", pauseMs };
      }
      if (outcome.kind !== "acquired") return outcome;
      const { lease, shared } = outcome;
      if (request) void waitQueues.begin(slotKey, request).catch(ignoreError);
      return {
        kind: "acquired",
        slot: {
          release: (end, work) => release(lease, shared, { end, work, request }).catch(toNull),
        },
      };
    } finally {
      localUse.acquiring--;
      forget(slotKey);
    }
  };

  return {
    mayAcquire: (slotKey) => {
      const localUse = localUses.get(slotKey.limitKey);
      return !localUse || listOpenSlots(slotKey, localUse).length > 0;
    },
    // Without the table every process counts alone: less polite, but no verdict changes.
    acquire: (slotKey, request) => acquire(slotKey, request).catch(() => LOCAL_SLOT),
  };
};

type SlotEnd = {
  readonly end: SessionEnd | null;
  readonly work?: SessionWork | undefined;
  readonly request?: SlotRequest | undefined;
};

/** A process looks again before its own pause is over, never after it. */
const YIELD_SHARE = 0.9;

/** The next process in the queue looks often: a slot should not stand idle. */
const toPauseMs = ({ random }: SlotPorts, isNext: boolean): number =>
  isNext ? NEXT_PAUSE_MS * (0.5 + random()) : getJitteredPauseMs(random);

const listOpenSlots = ({ slots }: SlotKey, { own, yielded }: LocalUse): readonly number[] =>
  slots.filter((slot) => !own.has(slot) && !yielded.has(slot));

type AcquireOutcome =
  | { readonly kind: "acquired"; readonly lease: SlotLease; readonly shared: SharedProvider }
  | { readonly kind: "backoff"; readonly backoff: ProviderBackoff }
  | { readonly kind: "full"; readonly takenSlots: readonly number[]; readonly isNext: boolean }
  | { readonly kind: "later"; readonly comeBack: SlotReturn };

type AcquirePorts = SlotPorts & { readonly waitQueues: ReturnType<typeof createWaitQueues> };

const acquireSlot = async (
  ports: AcquirePorts,
  slotKey: SlotKey,
  localUse: LocalUse,
  request: SlotRequest | undefined,
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
    const step = await decideStep(ports, slotKey, { request, shared, free: free.length });
    if (step.kind === "return") {
      const { atMs: backMs, ticket } = step;
      return { kind: "later", comeBack: { at: new Date(backMs).toISOString(), ticket } };
    }
    if (step.kind === "leave") return { kind: "full", takenSlots: [], isNext: false };
    if (slot === undefined || step.kind === "wait") {
      if (!isWaitMarkFresh(shared, atMs))
        await writeProvider(ports, slotKey, createWaitMark(atMs), {}).catch(ignoreError);
      const takenSlots = taken.filter((other) => !localUse.own.has(other));
      return { kind: "full", takenSlots, isNext: step.kind === "wait" && step.isNext };
    }
    // Another session of this process took it meanwhile.
    if (localUse.own.has(slot)) continue;
    localUse.own.add(slot);
    const lease = { slotKey, slot, text: formatLease(token, now().getTime()) };
    const claimed = await writeLease(ports, lease, shared).catch((error: unknown) => {
      localUse.own.delete(slot);
      throw error;
    });
    if (typeof claimed === "object") return { kind: "acquired", lease, shared: claimed };
    localUse.own.delete(slot);
    isUnclear = claimed === "lost";
  }
  if (isUnclear) throw new Error("the table does not say whether the slot is ours");
  return { kind: "full", takenSlots: [], isNext: false };
};

type Standing = {
  readonly request: SlotRequest | undefined;
  readonly shared: SharedProvider;
  readonly free: number;
};

/** While a slot is free and no process waits, there is no order to keep. */
const decideStep = async (
  { waitQueues, now }: AcquirePorts,
  slotKey: SlotKey,
  { request, shared, free }: Standing,
) => {
  const isContended = free === 0 || hasWaiter(shared, now().getTime());
  if (!request || !isContended) return { kind: "first" } as const;
  if (request.mayLeave && !request.turn.ticket) return { kind: "leave" } as const;
  return waitQueues.decide(slotKey, request, { free, paceMs: shared.pace });
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
  { end, work }: SlotEnd,
): Promise<SharedProvider> => {
  let shared = seen;
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const isOurs = shared.slots.get(slot) === text;
    const backoffChange = end && createBackoffChange(shared, end, ports.now().getTime());
    if (!isOurs && !backoffChange) break;
    const written = await writeProvider(
      ports,
      slotKey,
      {
        ...(isOurs && { [toSlotField(slot)]: undefined }),
        ...(work && createPaceChange(shared, work)),
        ...backoffChange,
      },
      { ...(isOurs && matchSlot(shared, slot)), ...(backoffChange && matchBackoff(shared)) },
    );
    if (written.outcome === "committed") return parseSharedProvider(written.item);
    shared = await readProvider(ports, slotKey);
  }
  return shared;
};

const readProvider = async (ports: SlotPorts, { limitKey }: SlotKey): Promise<SharedProvider> =>
  parseSharedProvider(await withTableTimeout(ports, ports.table.get(toItemKey(limitKey))));

const writeProvider = (
  ports: SlotPorts,
  { limitKey }: SlotKey,
  set: Fields,
  where: Where,
): Promise<WriteResult> => {
  const update = toItemKey(limitKey);
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

/** The table as the wait queues use it. */
const withTimeouts = (ports: SlotPorts): Pick<Table, "get" | "write"> => ({
  get: (key) => withTableTimeout(ports, ports.table.get(key)),
  write: (write) => withTableTimeout(ports, ports.table.write(write)),
});

const toNull = (): null => null;
const ignoreError = (): void => {};
