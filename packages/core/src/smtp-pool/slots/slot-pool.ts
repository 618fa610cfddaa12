import { createBoundedMap } from "@mailproof/mail/lib/bounded-map";
import { type ItemStore, limitTime } from "../../lib/limit-time.ts";
import type { World } from "../../ports/world.ts";
import { type Decision, decide, type Wish } from "./decide.ts";
import { type Ended, endSession, type Lease } from "./end-session.ts";
import { createLocalSlots, type LocalSlots } from "./local-slots.ts";
import {
  type Change,
  createExpiry,
  getBackoff,
  listTakenSlots,
  type ProviderState,
  parseProviderState,
  toItemKey,
  toLength,
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

/** How often the pool reads and decides again after another process changed the item first. */
const TRIES_MAX = 6;
/** The process tries again within this share of its pause, so never after it. */
const YIELD_SHARE = 0.9;
/** The number of providers whose slots this process remembers. A forgotten provider costs one read of the table. */
const REMEMBERED_MAX = 10_000;

type SlotPorts = Pick<World, "now" | "random" | "sleep"> & { readonly table: ItemStore };

/** The provider's slots that this process holds, and those that it leaves to others for a moment. */
type LocalUse = { readonly own: Set<number>; readonly yielded: Set<number> };

/**
 * Slots that all processes with this table share. A session costs one read and one write before it and one write after it,
 * whether it succeeds or begins a backoff.
 */
export const createSharedSlots = (ports: SlotPorts): SlotPool => {
  const uses = createBoundedMap<LocalUse>({ weightMax: REMEMBERED_MAX });
  // A slot that was acquired too late becomes free when its lease ends.
  const state = createStateStore({ ...ports, table: limitTime(ports.table, ports) });
  // Without the table every process counts alone: more sessions reach the provider, but no verdict changes.
  const alone = createLocalSlots(ports);
  const shared: Shared = { ...ports, state, alone };

  const getUse = ({ limitKey }: SlotKey): LocalUse => {
    const use = uses.get(limitKey) ?? { own: new Set(), yielded: new Set() };
    uses.set(limitKey, use);
    return use;
  };

  return {
    mayAcquire: (slotKey) => {
      const use = uses.get(slotKey.limitKey);
      return !use || listUsable(slotKey, use).length > 0;
    },
    acquire: (slotKey, request) =>
      settle(shared, slotKey, getUse(slotKey), request).catch(() =>
        alone.acquire(slotKey, request),
      ),
  };
};

type Shared = Omit<SlotPorts, "table"> & {
  readonly state: StateStore;
  readonly alone: LocalSlots;
};

/** Decides and writes the change of the decision. When another process wrote first, it decides again. */
const settle = async (
  shared: Shared,
  slotKey: SlotKey,
  use: LocalUse,
  request: SlotRequest | undefined,
): Promise<SlotResult> => {
  const { state, now, random } = shared;
  const token = request ? (request.queue.token ||= createToken(random)) : createToken(random);
  let current: ProviderState | undefined;
  let isUnclear = false;
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    current ??= await state.read(slotKey);
    const usable = listUsable(slotKey, use);
    if (usable.length === 0) break;
    const atMs = now().getTime();
    const wish: Wish = {
      token,
      order: toOrderName(slotKey),
      queue: toWaitQueueName(slotKey),
      slots: slotKey.slots,
      usable,
      chance: random(),
      place: request ?? null,
    };
    const decision = decide({}, { state: current, wish, atMs });
    if (decision.kind === "open") {
      const opened = await claim(state, slotKey, use, decision);
      if (typeof opened === "object") {
        if (request) moveTurn(request, request.batch);
        const { slot, lease: text } = decision;
        const requester = request?.queue.turn.ticket ? request.requester : null;
        const lease = { slot, text, order: wish.order, requester };
        const held = { slotKey, use, request, lease };
        return { kind: "acquired", slot: createSlot(shared, held, opened) };
      }
      isUnclear = opened === "ambiguous";
      current = undefined;
    } else if (decision.kind === "draw" && request) {
      current = await draw(state, slotKey, request.queue, decision);
    } else {
      if (decision.kind === "refuse") return { kind: "backoff", backoff: decision.backoff };
      if (request && "turn" in decision) request.queue.turn = decision.turn;
      if ("change" in decision && decision.change) await state.write(slotKey, decision.change);
      if (decision.kind !== "later") {
        const isNext = decision.kind === "wait" && decision.isNext;
        return pause(shared, use, listTakenSlots(current, atMs), isNext);
      }
      const { ticket } = decision;
      return { kind: "later", comeBack: { at: new Date(decision.atMs).toISOString(), ticket } };
    }
  }
  if (isUnclear) throw new Error("the table does not say whether the slot is ours");
  return pause(shared, use, [], false);
};

/** Pauses, and leaves the slots of other processes to them meanwhile. */
const pause = (
  { random, sleep }: Shared,
  { own, yielded }: LocalUse,
  taken: readonly number[],
  isNext: boolean,
): SlotResult => {
  const pauseMs = isNext ? NEXT_PAUSE_MS * (0.5 + random()) : getJitteredPauseMs(random);
  const isPausing = yielded.size > 0;
  for (const slot of taken) if (!own.has(slot)) yielded.add(slot);
  if (!isPausing && yielded.size > 0) void sleep(pauseMs * YIELD_SHARE).then(() => yielded.clear());
  return { kind: "full", pauseMs };
};

type Held = {
  readonly slotKey: SlotKey;
  readonly use: LocalUse;
  readonly request: SlotRequest | undefined;
  readonly lease: Lease;
};

const createSlot = (shared: Shared, held: Held, seen: ProviderState): Slot => ({
  release: async (end, work) => {
    const { slotKey, use, request, lease } = held;
    try {
      return await release(shared, slotKey, lease, { end, work }, seen);
    } catch {
      return shared.alone.close(slotKey, end);
    } finally {
      if (request && work) moveTurn(request, -work.remaining);
      use.own.delete(lease.slot);
    }
  },
});

/** When another process changed the item since the read, the pool computes the change again. */
const release = async (
  { state, now }: Shared,
  slotKey: SlotKey,
  lease: Lease,
  ended: Ended,
  seen: ProviderState,
): Promise<ProviderBackoff> => {
  const getMs = () => now().getTime();
  let current = seen;
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const change = endSession(current, lease, ended, getMs());
    if (!change) return getBackoff(current, getMs());
    const written = await state.write(slotKey, change);
    if (typeof written === "object") return getBackoff(written, getMs());
    current = await state.read(slotKey);
  }
  throw new Error("the table did not take the end of the session");
};

const listUsable = ({ slots }: SlotKey, { own, yielded }: LocalUse): readonly number[] =>
  slots.filter((slot) => !own.has(slot) && !yielded.has(slot));

/** Reads and writes the stored state of a provider. */
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

type StateStore = ReturnType<typeof createStateStore>;

/** Draws one ticket for all concurrent sessions of a host queue. Returns the state if it is known. */
const draw = async (
  state: StateStore,
  slotKey: SlotKey,
  queue: TurnHolder,
  { change, turn }: Extract<Decision, { kind: "draw" }>,
): Promise<ProviderState | undefined> => {
  if (queue.drawing) return queue.drawing.then(() => undefined);
  const write = async (): Promise<ProviderState | undefined> => {
    const drawn = await state.write(slotKey, change);
    // The write was refused: another process of the account has drawn a ticket.
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

/** Takes the slot. "Ambiguous" means that the reply was lost, and another read failed to show the owner. */
const claim = async (
  state: StateStore,
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

/** Moves the turn by the recipients of a new session, or back by those that the session did not reach. */
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
