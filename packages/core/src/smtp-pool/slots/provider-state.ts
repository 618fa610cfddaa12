import { createHash } from "node:crypto";
import * as v from "valibot";
import { isUnexpired } from "../../lib/time.ts";
import type { Amounts, Fields, Item, Key, Where } from "../../ports/table.ts";
import type { Order, Requester } from "../fairness.ts";
import { type ProviderRefusal, StoredRefusal, toRefusal } from "../refusal.ts";
import { PAUSE_MS, type ProviderBackoff, SESSION_MS } from "./slots.ts";

// Layout. One small item stores the shared state of one mail provider and exit. A process reads the item once before a
// session and writes it before and after the session. The item contains the wait queue only while processes wait; hosts with
// a lower limit than their provider's have separate wait queues, named by their slots. Positions count recipients, as in
// start-time fair queueing: an account's next ticket follows its last one, and is never below the ticket of the last session.
// So accounts take turns by sessions, however many recipients each of them has.
//
//   pk               sk      what
//   PROVIDER#<name>  SHARED  slot_<n>: "<until, ms> <token>", the lease of slot n
//                            backoff_until (ms), failures (in a row), refusal (the reply): after a 421
//                            pace (ms): how long a session takes for a recipient, on average
//                            clock <slots>: the highest position that a session began with; draws <slots>: the tickets drawn
//                            line_<n> <slots>: "<until, ms> <end> <draw>", of the accounts of hash n: when the line counts
//                            as left, the end of the last ticket, the number of the last draw
//                            done_<n> <slots>: the position up to which recipients of the line have results
//                            waiter_<token> <slots>: "<until, ms> <position> <draw>", a process that waits at the moment

/** The tickets of the accounts with one hash. `text`: the stored form. */
export type Line = {
  readonly until: number;
  readonly end: number;
  readonly draw: number;
  readonly done: number;
  readonly text: string;
};
type Waiter = Order & { readonly until: number };

/** The reason why the provider is closed to all sessions, if it is closed. */
export type Closing = {
  readonly backoffUntilMs: number;
  readonly failures: number;
  readonly refusal: ProviderRefusal | null;
};

export type ProviderState = Closing & {
  readonly slots: ReadonlyMap<number, string>;
  readonly paceMs: number | undefined;
  /** Undefined before the first ticket is drawn. */
  readonly clock: number | undefined;
  readonly draws: number;
  readonly lines: ReadonlyMap<number, Line>;
  readonly waiters: ReadonlyMap<string, Waiter>;
};

/** The changes of one write, and its conditions. */
export type Change = { readonly set: Fields; readonly add?: Amounts; readonly where?: Where };

export const BACKOFF_MAX_MS = 600_000;
/** Longer than any session with its read before and its write after: a crash leaks a slot no longer than this. */
export const LEASE_MS = SESSION_MS + 30_000;
/** An item that no process has written for so long expires, with its failures. */
export const RETENTION_SECONDS = 1_800;
/** Limits the item's size: if more accounts than this use one mail provider, some accounts share a line. */
const LINES_MAX = 256;
/** The rows with a ticket return within 15 minutes, or never. Each try renews the line. */
const LINE_MS = 20 * 60_000;
/** Longer than any pause of a process that waits. */
const WAITER_MS = 3 * PAUSE_MS;

export const toItemKey = (limitKey: string): Key => ({ pk: `PROVIDER#${limitKey}`, sk: "SHARED" });

const Stored = v.object({
  backoff_until: v.optional(v.number(), 0),
  failures: v.optional(v.number(), 0),
  pace: v.optional(v.number()),
  refusal: v.optional(StoredRefusal),
});

const SLOT = /^slot_(\d+)$/;

/** `slots`: the name of the wait queue in the item's fields. */
export const parseProviderState = (item: Item | undefined, slots: string): ProviderState => {
  const { backoff_until, failures, pace, refusal } = v.parse(Stored, item ?? {});
  const taken = new Map<number, string>();
  const lines = new Map<number, Line>();
  const waiters = new Map<string, Waiter>();
  for (const [field, value] of Object.entries(item ?? {})) {
    if (typeof value !== "string") continue;
    const slot = SLOT.exec(field)?.[1];
    if (slot !== undefined) taken.set(Number(slot), value);
    const [name = "", order] = field.split(" ", 2);
    if (order !== slots) continue;
    const [until = 0, position = 0, draw = 0] = value.split(" ").map(Number);
    if (name.startsWith(WAITER)) waiters.set(name.slice(WAITER.length), { until, position, draw });
    if (!name.startsWith(LINE)) continue;
    const n = Number(name.slice(LINE.length));
    const done = readNumber(item, toDoneField(n, slots)) ?? 0;
    lines.set(n, { until, end: position, draw, done, text: value });
  }
  return {
    slots: taken,
    backoffUntilMs: backoff_until,
    failures,
    refusal: refusal ? toRefusal(refusal) : null,
    paceMs: pace,
    clock: readNumber(item, toClockField(slots)),
    draws: readNumber(item, toDrawsField(slots)) ?? 0,
    lines,
    waiters,
  };
};

const readNumber = (item: Item | undefined, field: string): number | undefined => {
  const value = item?.[field];
  return typeof value === "number" ? value : undefined;
};

const LINE = "line_";
const WAITER = "waiter_";

export const toSlotField = (slot: number): string => `slot_${slot}`;
export const toClockField = (slots: string): string => `clock ${slots}`;
export const toDrawsField = (slots: string): string => `draws ${slots}`;
export const toLineField = (n: number, slots: string): string => `${LINE}${n} ${slots}`;
export const toDoneField = (n: number, slots: string): string => `done_${n} ${slots}`;
export const toWaiterField = (token: string, slots: string): string => `${WAITER}${token} ${slots}`;

export const toLineNumber = ({ account, priority }: Requester): number =>
  createHash("sha256").update(`${priority} ${account}`).digest().readUInt32BE() % LINES_MAX;

/** Lists the leases in the fields of a write; undefined when the write ends a lease. */
export const listLeases = (set: Fields) =>
  Object.entries(set).flatMap(([field, value]) =>
    SLOT.test(field) ? [{ field, text: typeof value === "string" ? value : undefined }] : [],
  );

export const formatLease = (token: string, atMs: number): string => `${atMs + LEASE_MS} ${token}`;

/** The slots that processes hold. */
export const listTakenSlots = ({ slots }: ProviderState, atMs: number): readonly number[] =>
  [...slots].flatMap(([slot, text]) =>
    isUnexpired(Number(text.split(" ", 1)[0]), atMs, LEASE_MS) ? [slot] : [],
  );

export const isBackingOff = ({ backoffUntilMs }: Closing, atMs: number): boolean =>
  isUnexpired(backoffUntilMs, atMs, BACKOFF_MAX_MS);

/** `ms` 0: the provider does not back off. */
export const getBackoff = (state: Closing, atMs: number): ProviderBackoff => ({
  ms: isBackingOff(state, atMs) ? state.backoffUntilMs - atMs : 0,
  failures: state.failures,
  refusal: state.refusal,
});

export const formatLine = ({ end, draw }: Pick<Line, "end" | "draw">, atMs: number): string =>
  `${atMs + LINE_MS} ${end} ${draw}`;

export const formatWaiter = ({ position, draw }: Order, atMs: number): string =>
  `${atMs + WAITER_MS} ${position} ${draw}`;

export const isLineActive = ({ until }: Line, atMs: number): boolean =>
  isUnexpired(until, atMs, LINE_MS);

/** True until shortly before the line expires: a process renews it in between. */
export const isLineFresh = ({ until }: Line, atMs: number): boolean => until - atMs > LINE_MS / 2;

export const isWaiting = ({ until }: Waiter, atMs: number): boolean =>
  isUnexpired(until, atMs, WAITER_MS);

/** True until shortly before the process's mark expires: the process renews it in between. */
export const isMarkFresh = ({ waiters }: ProviderState, token: string, atMs: number): boolean =>
  (waiters.get(token)?.until ?? 0) - atMs > WAITER_MS / 2;

/** Lists the other processes that wait at the moment. */
export const listWaiters = (
  { waiters }: ProviderState,
  token: string,
  atMs: number,
): readonly Order[] =>
  [...waiters].flatMap(([other, waiter]) =>
    other !== token && isWaiting(waiter, atMs) ? [waiter] : [],
  );

/** Every write sets these fields. */
export const createExpiry = (atMs: number): Fields => ({
  expires_at: Math.ceil(atMs / 1000) + RETENTION_SECONDS,
});

export const MISSING = { missing: true } as const;

/** Removes the fields of expired lines and waiters. */
export const removeStale = (state: ProviderState, order: string, atMs: number): Fields => {
  const lines = [...state.lines].filter(([, line]) => !isLineActive(line, atMs));
  const waiters = [...state.waiters].filter(([, waiter]) => !isWaiting(waiter, atMs));
  return Object.fromEntries(
    [
      ...lines.flatMap(([n]) => [toLineField(n, order), toDoneField(n, order)]),
      ...waiters.map(([token]) => toWaiterField(token, order)),
    ].map((field) => [field, undefined]),
  );
};

/** Callers get three of four turns, as in the queues of one process (fairness.ts). */
const RECIPIENT_COST = { caller: 1 / 3, list: 1 } as const;

/** Converts a number of recipients to positions in a line. */
export const toLength = ({ priority }: Requester, recipients: number): number =>
  recipients * RECIPIENT_COST[priority];
