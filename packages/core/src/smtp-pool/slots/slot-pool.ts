import type { World } from "../../ports/world.ts";
import { type Decision, decide, toLength, type Wish } from "./decide.ts";
import { type Ended, endSession, type Lease } from "./end-session.ts";
import { createMemoryItems, type ItemStore, limitTime } from "./item-store.ts";
import {
  type Change,
  createExpiry,
  getBackoff,
  listTakenSlots,
  type ProviderState,
  parseProviderState,
  toItemKey,
} from "./provider-state.ts";
import {
  getJitteredPauseMs,
  NEXT_PAUSE_MS,
  type ProviderBackoff,
  type Slot,
  type SlotKey,
  type SlotPool,
  type SlotRequest,
  type SlotResult,
  type TurnHolder,
  toOrderName,
  toWaitQueueName,
} from "./slots.ts";

/** Another process changed the item first: how often it is read and decided again. */
const TRIES_MAX = 6;
/** A process looks again before its own pause is over, never after it. */
const YIELD_SHARE = 0.9;

export type SlotPorts = Pick<World, "now" | "random" | "sleep"> & { readonly table: ItemStore };

/** The provider's slots that this process holds, and those that it leaves to others for a moment. */
type LocalUse = { readonly own: Set<number>; readonly yielded: Set<number>; acquiring: number };

/** For a deployment of one process: what it knows is all there is to know. */
export const createLocalSlots = (ports: Omit<SlotPorts, "table">): SlotPool =>
  createSlotPool({ ...ports, table: createMemoryItems(ports) });

/** Slots that all processes with this table share. */
export const createSharedSlots = (ports: SlotPorts): SlotPool => {
  // A slot that was acquired too late is free when its lease ends.
  const shared = createSlotPool({ ...ports, table: limitTime(ports.table, ports) });
  // Without the table every process counts alone: less polite, but no verdict changes.
  const alone = createSlotPool({ ...ports, table: createMemoryItems(ports) });
  const endAnyway = (slotKey: SlotKey, slot: Slot): Slot => ({
    release: (end, work) =>
      slot.release(end, work).catch(() => alone.release(slotKey, NO_LEASE, { end, work })),
  });
  return {
    mayAcquire: shared.mayAcquire,
    acquire: async (slotKey, request) => {
      const acquired = await shared.acquire(slotKey, request).catch(() => null);
      if (!acquired) return alone.acquire(slotKey, request);
      if (acquired.kind !== "acquired") return acquired;
      return { kind: "acquired", slot: endAnyway(slotKey, acquired.slot) };
    },
  };
};

const NO_LEASE: Lease = { slot: -1, text: "", order: "", requester: null };

/** A session costs one read and one write before it and one write after it, whether it went well or begins a backoff. */
const createSlotPool = (ports: SlotPorts) => {
  const { random } = ports;
  const state = createStateStore(ports);
  const uses = createLocalUses(ports);

  const acquire = async (slotKey: SlotKey, request?: SlotRequest): Promise<SlotResult> => {
    const localUse = uses.get(slotKey);
    localUse.acquiring++;
    try {
      const settled = await settle({ ...ports, state }, slotKey, localUse, request);
      if (settled.kind === "open") {
        const lease = toLease(slotKey, settled, request);
        return { kind: "acquired", slot: createSlot(slotKey, lease, settled.state, request) };
      }
      if (settled.kind === "refuse") return { kind: "backoff", backoff: settled.backoff };
      if (settled.kind === "later") {
        const { atMs, ticket } = settled;
        return { kind: "later", comeBack: { at: new Date(atMs).toISOString(), ticket } };
      }
      const isNext = settled.kind === "wait" && settled.isNext;
      const pauseMs = isNext ? NEXT_PAUSE_MS * (0.5 + random()) : getJitteredPauseMs(random);
      uses.yieldSlots(slotKey, settled.taken, pauseMs * YIELD_SHARE);
      return { kind: "full", pauseMs };
    } finally {
      localUse.acquiring--;
      uses.forget(slotKey);
    }
  };

  const createSlot = (
    slotKey: SlotKey,
    lease: Lease,
    seen: ProviderState,
    request: SlotRequest | undefined,
  ): Slot => ({
    release: async (end, work) => {
      try {
        return await release(slotKey, lease, { end, work }, seen);
      } finally {
        if (request && work) moveTurn(request, -work.remaining);
        uses.get(slotKey).own.delete(lease.slot);
        uses.forget(slotKey);
      }
    },
  });

  /** Where another process has changed the item since, the end is decided again. */
  const release = async (
    slotKey: SlotKey,
    lease: Lease,
    ended: Ended,
    seen?: ProviderState,
  ): Promise<ProviderBackoff> => {
    const getMs = () => ports.now().getTime();
    let current = seen ?? (await state.read(slotKey));
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      const change = endSession(current, lease, ended, getMs());
      if (!change) return getBackoff(current, getMs());
      const written = await state.write(slotKey, change);
      if (typeof written === "object") return getBackoff(written, getMs());
      current = await state.read(slotKey);
    }
    throw new Error("the table did not take the end of the session");
  };

  return { mayAcquire: uses.mayAcquire, acquire, release };
};

/** What this process holds of each provider, while it holds any. */
const createLocalUses = ({ sleep }: Pick<SlotPorts, "sleep">) => {
  const all = new Map<string, LocalUse>();
  const get = ({ limitKey }: SlotKey): LocalUse => {
    const use = all.get(limitKey) ?? { own: new Set(), yielded: new Set(), acquiring: 0 };
    all.set(limitKey, use);
    return use;
  };
  const forget = ({ limitKey }: SlotKey): void => {
    const use = all.get(limitKey);
    if (use && use.own.size + use.yielded.size + use.acquiring === 0) all.delete(limitKey);
  };
  return {
    get,
    forget,
    mayAcquire: (slotKey: SlotKey): boolean => {
      const use = all.get(slotKey.limitKey);
      return !use || listUsable(slotKey, use).length > 0;
    },
    yieldSlots: (slotKey: SlotKey, slots: readonly number[], ms: number): void => {
      const { yielded } = get(slotKey);
      const isPausing = yielded.size > 0;
      for (const slot of slots) yielded.add(slot);
      if (isPausing || yielded.size === 0) return;
      void sleep(ms).then(() => {
        yielded.clear();
        forget(slotKey);
      });
    },
  };
};

const listUsable = ({ slots }: SlotKey, { own, yielded }: LocalUse): readonly number[] =>
  slots.filter((slot) => !own.has(slot) && !yielded.has(slot));

/** The state of a provider as it is stored. */
const createStateStore = ({ table, now }: Pick<SlotPorts, "table" | "now">) => ({
  read: async (slotKey: SlotKey): Promise<ProviderState> =>
    parseProviderState(await table.get(toItemKey(slotKey.limitKey)), toOrderName(slotKey)),

  /** The state after the change. */
  write: async (
    slotKey: SlotKey,
    { set, add, where }: Change,
  ): Promise<ProviderState | "refused" | "ambiguous"> => {
    const written = await table.write({
      update: toItemKey(slotKey.limitKey),
      set: { ...set, ...createExpiry(now().getTime()) },
      ...(add && { add }),
      ...(where && { where }),
      orCreate: true,
    });
    return written.outcome === "committed"
      ? parseProviderState(written.item, toOrderName(slotKey))
      : written.outcome;
  },
});

type SettlePorts = SlotPorts & { readonly state: ReturnType<typeof createStateStore> };

type Settled =
  | (Extract<Decision, { kind: "open" }> & { readonly state: ProviderState })
  | Extract<Decision, { kind: "refuse" | "later" }>
  | (Extract<Decision, { kind: "wait" }> & { readonly taken: readonly number[] })
  | { readonly kind: "full"; readonly taken: readonly number[] };

const FULL: Settled = { kind: "full", taken: [] };

/** Decides, and writes what the decision changes. Where another process was faster, it is decided again. */
const settle = async (
  { state, now, random }: SettlePorts,
  slotKey: SlotKey,
  localUse: LocalUse,
  request: SlotRequest | undefined,
): Promise<Settled> => {
  const token = request ? (request.queue.token ||= createToken(random)) : createToken(random);
  let current: ProviderState | undefined;
  let isUnclear = false;
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    current ??= await state.read(slotKey);
    const usable = listUsable(slotKey, localUse);
    if (usable.length === 0) return FULL;
    const atMs = now().getTime();
    const decision = decide(
      current,
      createWish(slotKey, { usable, token, chance: random() }, request),
      atMs,
    );
    if (decision.kind === "open") {
      const opened = await claim(state, slotKey, localUse, decision);
      if (typeof opened === "object") {
        if (request) moveTurn(request, request.batch);
        return { ...decision, state: opened };
      }
      isUnclear = opened === "ambiguous";
      current = undefined;
    } else if (decision.kind === "draw" && request) {
      current = await draw(state, slotKey, request.queue, decision);
    } else {
      if (decision.kind === "refuse") return decision;
      if (request && "turn" in decision) request.queue.turn = decision.turn;
      if ("change" in decision && decision.change) await state.write(slotKey, decision.change);
      if (decision.kind === "later") return decision;
      const taken = listTakenSlots(current, atMs).filter((slot) => !localUse.own.has(slot));
      return decision.kind === "wait" ? { ...decision, taken } : { kind: "full", taken };
    }
  }
  if (isUnclear) throw new Error("the table does not say whether the slot is ours");
  return FULL;
};

/** Sessions of one host queue that begin side by side have one ticket. Returns the state where it is known. */
const draw = async (
  state: SettlePorts["state"],
  slotKey: SlotKey,
  queue: TurnHolder,
  { change, turn }: Extract<Decision, { kind: "draw" }>,
): Promise<ProviderState | undefined> => {
  if (queue.drawing) return queue.drawing.then(() => undefined);
  const write = async (): Promise<ProviderState | undefined> => {
    const drawn = await state.write(slotKey, change);
    // Refused: another process of the account has drawn.
    if (typeof drawn !== "object") return undefined;
    queue.turn = turn;
    return drawn;
  };
  const drawing = write().finally(() => {
    queue.drawing = null;
  });
  queue.drawing = drawing;
  return drawing;
};

/** Takes the slot. Ambiguous: nobody knows whether it is ours. */
const claim = async (
  state: SettlePorts["state"],
  slotKey: SlotKey,
  { own }: LocalUse,
  { slot, lease, change }: Extract<Decision, { kind: "open" }>,
): Promise<ProviderState | "refused" | "ambiguous"> => {
  own.add(slot);
  let claimed: ProviderState | "refused" | "ambiguous" | undefined;
  try {
    claimed = await state.write(slotKey, change);
    if (claimed !== "ambiguous") return claimed;
    // The reply was lost. The table shows whether the write was applied.
    const shown = await state.read(slotKey);
    claimed = shown.slots.get(slot) === lease ? shown : "ambiguous";
    return claimed;
  } finally {
    if (typeof claimed !== "object") own.delete(slot);
  }
};

const createWish = (
  slotKey: SlotKey,
  own: Pick<Wish, "usable" | "token" | "chance">,
  request: SlotRequest | undefined,
): Wish => ({
  ...own,
  order: toOrderName(slotKey),
  queue: toWaitQueueName(slotKey),
  slots: slotKey.slots,
  place: request
    ? { ...request, turn: request.queue.turn, recipients: request.countRecipients() }
    : null,
});

const toLease = (
  slotKey: SlotKey,
  { slot, lease: text }: Extract<Decision, { kind: "open" }>,
  request: SlotRequest | undefined,
): Lease => ({
  slot,
  text,
  order: toOrderName(slotKey),
  requester: request?.queue.turn.ticket ? request.requester : null,
});

/** A session that begins takes its recipients' turn, and gives back what it did not reach. */
const moveTurn = ({ queue, requester }: SlotRequest, recipients: number): void => {
  const { ticket } = queue.turn;
  if (!ticket) return;
  const position = ticket.position + toLength(requester, recipients);
  queue.turn = {
    ...queue.turn,
    ticket: { ...ticket, position },
    ...(recipients > 0 && { waitsSinceMs: null }),
  };
};

const createToken = (random: () => number): string => `${random()}`.slice(2);
