import type { Fields } from "../../ports/table.ts";
import { compareTickets, type Order, type Ticket } from "../fairness.ts";
import {
  decideByProcess,
  findAnswer,
  PROCESS_RULES,
  type Process,
  type ProcessDecision,
  type Rule,
} from "../process-rules.ts";
import {
  type Change,
  formatLease,
  formatLine,
  formatWaiter,
  getBackoff,
  isBackingOff,
  isLineActive,
  isLineFresh,
  isMarkFresh,
  listTakenSlots,
  listWaiters,
  MISSING,
  type ProviderState,
  removeStale,
  toClockField,
  toDoneField,
  toDrawsField,
  toLength,
  toLineField,
  toLineNumber,
  toSlotField,
  toWaiterField,
} from "./provider-state.ts";
import type { ProviderBackoff, SlotRequest, SlotTurn, TurnHolder } from "./slots.ts";

// Who may open a session to a mail provider, and when: a pure function of what this process knows (process-rules.ts) and,
// once it was read, of what all processes know of the provider.

/** A process waits for a slot itself when it should get one within this time; else its recipients return later. */
const SOON_MS = 8_000;
/** A process never waits longer than this, because a waiting Lambda costs money. */
const PROCESS_WAIT_MAX_MS = 15_000;
/** The number of processes that may wait for each slot without a return: one of them acquires the slot when it is free. */
const WAITERS_PER_SLOT = 2;
/** Recipients return a fifth earlier than estimated, because an idle slot is lost and an early recipient only waits. */
const EARLINESS = 0.8;
/** A longer interval between two tries is a backoff and no wait. */
const TRY_INTERVAL_MS_MAX = 5_000;
const RETURN_MS_MIN = 2_000;
/** Recipients return within this time to renew the expectation, since others may not return. A queue may delay a message for longer. */
const RETURN_MS_MAX = 5 * 60_000;
/** The presumed time per recipient until a session has measured it, and the longest return until then. */
const PACE = { presumedMs: 200, returnMsMax: 10_000 } as const;

/** A process that wants a slot for a session. */
export type Wish = {
  /** Identifies this process and host queue among the waiters, and in the lease of the slot. */
  readonly token: string;
  /** The name of the process's wait queue: processes that may use the same slots share one wait queue. */
  readonly order: string;
  readonly queue: string;
  readonly slots: readonly number[];
  /** The slots that this process neither holds nor leaves to others. */
  readonly usable: readonly number[];
  /** A random number from 0 to 1 that chooses one of the free slots. */
  readonly chance: number;
  /** Null when a running session needs a slot at a second provider: such a session does not join the wait queue. */
  readonly place: Place | null;
};

/** The fields of a request that the rules read. */
type Place = Omit<SlotRequest, "queue" | "batch"> & { readonly queue: Pick<TurnHolder, "turn"> };

/** The knowledge of all processes about a provider, and this process's request. */
type Provider = { readonly state: ProviderState; readonly wish: Wish; readonly atMs: number };

/** A decision holds once its change is written; `turn` is the turn from then on. */
export type Decision =
  | ProcessDecision
  /** Nothing in this process prevents a session, so the pool reads the provider's state. */
  | { readonly kind: "ask" }
  | {
      readonly kind: "open";
      readonly slot: number;
      readonly lease: string;
      readonly change: Change;
    }
  /** The caller gives the turn a ticket, then calls `decide` again. */
  | { readonly kind: "draw"; readonly turn: SlotTurn; readonly change: Change }
  /** The process asks again soon; `isNext`: very soon. */
  | {
      readonly kind: "wait";
      readonly isNext: boolean;
      readonly turn: SlotTurn;
      readonly change: Change | null;
    }
  /** The recipients return at that time. */
  | {
      readonly kind: "later";
      readonly atMs: number;
      readonly ticket: Ticket;
      readonly turn: SlotTurn;
      readonly change: Change | null;
    }
  /** The process tries again after a pause. */
  | { readonly kind: "full" }
  | { readonly kind: "refuse"; readonly backoff: ProviderBackoff };

type Standing = Provider & {
  readonly free: readonly number[];
  /** The other processes that are waiting now. */
  readonly waiters: readonly Order[];
};
type Placed = Standing & { readonly place: Place };
type Ticketed = Placed & { readonly ticket: Ticket };

// The first rule whose condition is true decides. docs/design/mail-slots.md prints the rules as a table.

const FOR_ALL: readonly Rule<Standing, Decision>[] = [
  {
    when: "the provider backs off",
    holds: ({ state, atMs }) => isBackingOff(state, atMs),
    decision: "`refuse`, with the reply and the time that is left",
    answer: ({ state, atMs }) => ({ kind: "refuse", backoff: getBackoff(state, atMs) }),
  },
  {
    when: "a slot is free, and no other process waits or the session waits in no order",
    holds: ({ free, waiters, wish: { place } }) =>
      free.length > 0 && (place === null || waiters.length === 0),
    decision: "`open`",
    answer: (standing) => open(standing),
  },
  {
    when: "the session waits in no order: it has begun, and needs a slot at a second provider",
    holds: ({ wish: { place } }) => place === null,
    decision: "`full`: it asks again within 1.2 s, for 20 s",
    answer: () => ({ kind: "full" }),
  },
];

const FOR_PLACES: readonly Rule<Placed, Decision>[] = [
  {
    when: "the recipients have no ticket, and another exit",
    holds: ({ place: { queue, mayLeave } }) => mayLeave && !queue.turn.ticket,
    decision: "`leave`, by that exit",
    answer: () => ({ kind: "leave" }),
  },
  {
    when: "they have no ticket",
    holds: ({ place: { queue } }) => !queue.turn.ticket,
    decision: "`draw` one, and decide again",
    answer: (standing) => draw(standing),
  },
];

const FOR_TICKETS: readonly Rule<Ticketed, Decision>[] = [
  {
    when: "more slots are free than processes with earlier tickets wait",
    holds: (standing) => countWaitersAhead(standing) < standing.free.length,
    decision: "`open`",
    answer: (standing) => open(standing),
  },
  {
    when: "a slot is expected within 8 s, fewer than two processes for each slot wait before it, and it has waited for 15 s at most",
    holds: (standing) =>
      expectMs(standing) <= SOON_MS &&
      measureWait(standing) <= PROCESS_WAIT_MAX_MS &&
      countWaitersAhead(standing) < standing.wish.slots.length * WAITERS_PER_SLOT,
    decision: "`wait`: it asks again within 0.2 s if it is next, else within 1.2 s",
    answer: (standing) => wait(standing),
  },
  {
    when: "else",
    holds: () => true,
    decision:
      "`later`: its recipients come back with their ticket, after four fifths of the time expected",
    answer: (standing) => comeBack(standing),
  },
];

export const RULES = [...PROCESS_RULES, ...FOR_ALL, ...FOR_PLACES, ...FOR_TICKETS] as const;

export const decide = (process: Process, provider: Provider | null): Decision =>
  decideByProcess(process) ?? (provider ? decideByProvider(provider) : { kind: "ask" });

const decideByProvider = ({ state, wish, atMs }: Provider): Decision => {
  const taken = listTakenSlots(state, atMs);
  const free = wish.usable.filter((slot) => !taken.includes(slot));
  const { place } = wish;
  const standing = { state, wish, atMs, free, waiters: listWaiters(state, wish.token, atMs) };
  const ticket = place?.queue.turn.ticket;
  return (
    findAnswer(FOR_ALL, standing) ??
    (place && findAnswer(FOR_PLACES, { ...standing, place })) ??
    (place && ticket && findAnswer(FOR_TICKETS, { ...standing, place, ticket })) ?? { kind: "full" }
  );
};

/** The write has two conditions: the slot is free, and no process has closed the provider since the read. */
const open = ({ state, wish, atMs, free }: Standing): Decision => {
  const { token, order, chance, place } = wish;
  const slot = free[Math.floor(chance * free.length)] ?? 0;
  const lease = formatLease(`${token}-${slot}`, atMs);
  const ticket = place?.queue.turn.ticket;
  const isFurther = ticket && ticket.position > (state.clock ?? 0);
  const change: Change = {
    set: {
      [toSlotField(slot)]: lease,
      ...(isFurther && { [toClockField(order)]: ticket.position }),
      ...(state.waiters.has(token) && { [toWaiterField(token, order)]: undefined }),
    },
    where: {
      [toSlotField(slot)]: state.slots.get(slot) ?? MISSING,
      backoff_until: state.backoffUntilMs || MISSING,
      // The clock never goes back.
      ...(isFurther && { [toClockField(order)]: state.clock ?? MISSING }),
    },
  };
  return { kind: "open", slot, lease, change };
};

/**
 * The next ticket of the account's line. The first position is the time in ms: so a wait queue that expired begins again above
 * all tickets that processes still hold, because a mail provider accepts fewer than a thousand recipients a second.
 */
const draw = ({ state, wish: { queue, order }, atMs, place }: Placed): Decision => {
  const { requester, recipients } = place;
  const n = toLineNumber(requester);
  const line = state.lines.get(n);
  const clock = state.clock ?? atMs;
  const current = line && isLineActive(line, atMs) && line.end > clock ? line : undefined;
  const position = current?.end ?? clock;
  const number = state.draws + 1;
  const isFirst = state.clock === undefined;
  const change: Change = {
    set: {
      ...removeStale(state, order, atMs),
      ...(isFirst && { [toClockField(order)]: clock }),
      [toLineField(n, order)]: formatLine(
        { end: position + toLength(requester, recipients), draw: number },
        atMs,
      ),
      [toDoneField(n, order)]: current?.done ?? position,
    },
    add: { [toDrawsField(order)]: 1 },
    where: {
      [toLineField(n, order)]: line?.text ?? MISSING,
      ...(isFirst && { [toClockField(order)]: MISSING }),
    },
  };
  return {
    kind: "draw",
    turn: { ...place.queue.turn, ticket: { queue, position, draw: number } },
    change,
  };
};

const wait = (standing: Ticketed): Decision => {
  const { state, wish, atMs, place, ticket } = standing;
  const { token, order, slots } = wish;
  const mark = { [toWaiterField(token, order)]: formatWaiter(ticket, atMs) };
  return {
    kind: "wait",
    isNext: countWaitersAhead(standing) < slots.length,
    turn: { ...place.queue.turn, waitsSinceMs: atMs - measureWait(standing), triedAtMs: atMs },
    change: createMark(standing, isMarkFresh(state, token, atMs) ? {} : mark),
  };
};

const comeBack = (standing: Ticketed): Decision => {
  const { state, wish, atMs, place, ticket } = standing;
  const { token, order } = wish;
  // After a wait without a slot the next wait is at least as long, because a dead process may still hold a slot.
  const vainMs = Math.min(measureWait(standing), PROCESS_WAIT_MAX_MS);
  const laterMs = Math.max(RETURN_MS_MIN, vainMs, expectMs(standing) * EARLINESS);
  const inMs = Math.min(state.paceMs === undefined ? PACE.returnMsMax : RETURN_MS_MAX, laterMs);
  const removal = state.waiters.has(token) ? { [toWaiterField(token, order)]: undefined } : {};
  return {
    kind: "later",
    atMs: atMs + inMs,
    ticket,
    turn: { ...place.queue.turn, waitsSinceMs: null },
    change: createMark(standing, removal),
  };
};

/**
 * Extends the line's lease while some of its rows want a slot. Otherwise a wait queue longer than LINE_MS would look empty to
 * its processes, and their rows would return every few seconds.
 */
const createMark = (
  { state, wish: { order }, atMs, place }: Ticketed,
  mark: Fields,
): Change | null => {
  const n = toLineNumber(place.requester);
  const line = state.lines.get(n);
  if (line && !isLineFresh(line, atMs))
    return {
      set: { ...mark, [toLineField(n, order)]: formatLine(line, atMs) },
      where: { [toLineField(n, order)]: line.text },
    };
  return Object.keys(mark).length > 0 ? { set: mark } : null;
};

/** The processes that wait at the moment with a lower ticket than this one. */
const countWaitersAhead = ({ waiters, ticket }: Ticketed): number =>
  waiters.filter((waiter) => compareTickets(waiter, ticket) < 0).length;

/** Measures how long this process has waited without a return. */
const measureWait = ({ place, atMs }: Ticketed): number => {
  const { waitsSinceMs, triedAtMs } = place.queue.turn;
  return waitsSinceMs === null || atMs - triedAtMs > TRY_INTERVAL_MS_MAX ? 0 : atMs - waitsSinceMs;
};

/** Estimates the time until a session begins for this ticket, from the pace of earlier sessions. */
const expectMs = (standing: Ticketed): number => {
  const { state, wish } = standing;
  return (countAhead(standing) * (state.paceMs ?? PACE.presumedMs)) / wish.slots.length;
};

/** Counts the recipients before a ticket: those of other lines at a lower position, and one session for an earlier draw at an equal one. */
const countAhead = ({ state, place, ticket, atMs }: Ticketed): number => {
  const own = toLineNumber(place.requester);
  let ahead = 0;
  for (const [n, line] of state.lines) {
    if (!isLineActive(line, atMs)) continue;
    const turn = n !== own && line.draw < ticket.draw ? place.sessionLength : 0;
    ahead += Math.max(0, Math.min(line.end, ticket.position + turn) - line.done);
  }
  return ahead;
};
