import { createHash } from "node:crypto";
import * as v from "valibot";
import { isUnexpired } from "../../lib/time.ts";
import type { Fields, Item, Key, Where } from "../../ports/table.ts";
import type { Requester } from "../requester.ts";
import { compareTickets, PAUSE_MS, type SlotKey, type Ticket, toWaitQueueName } from "./slots.ts";

// Layout. The wait queue: the order in which processes get slots that all of them want. It exists from the first time
// that a process finds no free slot, and expires half an hour after the last. Positions count recipients, as in
// start-time fair queueing: an account's next ticket follows its last one, and is never below the ticket of the last
// session. So accounts take turns by sessions, however many recipients each of them has.
//
//   pk               sk            what
//   PROVIDER#<name>  WAIT#<slots>  clock: the highest position that a session began with; draws: the tickets drawn
//                                  end_<n>, done_<n>, draw_<n>, until_<n>: the accounts of hash n: the end of the last
//                                  ticket, the position up to which recipients have results, the number of the last
//                                  draw, and when the line counts as left (ms)
//                                  waiter_<token>: "<until, ms> <position> <draw>": a process that waits at the moment

/** The tickets of the accounts with one hash. */
type Line = {
  readonly end: number;
  readonly done: number;
  readonly draw: number;
  readonly until: number;
};
type Order = Pick<Ticket, "position" | "draw">;

export type WaitQueue = {
  /** Absent: no ticket was drawn yet. */
  readonly clock?: number | undefined;
  readonly draws: number;
  readonly lines: ReadonlyMap<number, Line>;
  readonly waiters: ReadonlyMap<string, Order & { readonly until: number }>;
};

/** Bounds the item: with more accounts than this at one mail provider, some share their turns. */
const LINES_MAX = 256;
const RETENTION_SECONDS = 1_800;
/** The rows behind a ticket come back within a quarter of an hour, or not at all. Each try renews it. */
const LINE_MS = 20 * 60_000;
/** Longer than any pause of a process that waits. */
const WAITER_MS = 3 * PAUSE_MS;

/** Callers get three of four turns, as in the queues of one process (fair-queue.ts). */
const RECIPIENT_COST = { caller: 1 / 3, list: 1 } as const;

const Counts = v.object({
  clock: v.optional(v.number()),
  draws: v.optional(v.number(), 0),
});

export const toWaitQueueKey = (slotKey: SlotKey): Key => {
  const name = toWaitQueueName(slotKey);
  const { limitKey } = slotKey;
  return { pk: `PROVIDER#${limitKey}`, sk: `WAIT#${name.slice(limitKey.length + 1)}` };
};

export const toLineNumber = ({ account, priority }: Requester): number =>
  createHash("sha256").update(`${priority} ${account}`).digest().readUInt32BE() % LINES_MAX;

export const parseWaitQueue = (item: Item | undefined): WaitQueue => {
  const lines = new Map<number, Line>();
  const waiters = new Map<string, Order & { readonly until: number }>();
  const getNumber = (field: string) => Number(item?.[field] ?? 0);
  for (const [field, value] of Object.entries(item ?? {})) {
    if (field.startsWith(END_PREFIX)) {
      const n = Number(field.slice(END_PREFIX.length));
      const [done, draw, until] = [`done_${n}`, `draw_${n}`, `until_${n}`].map(getNumber);
      lines.set(n, { end: Number(value), done: done ?? 0, draw: draw ?? 0, until: until ?? 0 });
    }
    if (field.startsWith(WAITER_PREFIX) && typeof value === "string") {
      const [until = 0, position = 0, draw = 0] = value.split(" ").map(Number);
      waiters.set(field.slice(WAITER_PREFIX.length), { until, position, draw });
    }
  }
  return { ...v.parse(Counts, item ?? {}), lines, waiters };
};

const END_PREFIX = "end_";
const WAITER_PREFIX = "waiter_";

const isActive = ({ until }: Line, atMs: number): boolean => isUnexpired(until, atMs, LINE_MS);

/**
 * The next ticket of a line, and the fields that draw it. The first position is the time: a queue that expired begins
 * again above all tickets that processes still hold, for a mail provider takes less than a thousand recipients a second.
 */
export const drawNext = (
  slotKey: SlotKey,
  queue: WaitQueue,
  { requester, recipients, atMs }: Draw,
): { readonly ticket: Ticket; readonly set: Fields; readonly where: Where } => {
  const n = toLineNumber(requester);
  const line = queue.lines.get(n);
  const clock = queue.clock ?? atMs;
  const current = line && isActive(line, atMs) && line.end > clock ? line : undefined;
  const position = current?.end ?? clock;
  const draw = queue.draws + 1;
  return {
    ticket: { queue: toWaitQueueName(slotKey), position, draw },
    set: {
      clock,
      [`${END_PREFIX}${n}`]: position + toLength(requester, recipients),
      [`done_${n}`]: current?.done ?? position,
      [`draw_${n}`]: draw,
      [`until_${n}`]: atMs + LINE_MS,
    },
    where: { [`${END_PREFIX}${n}`]: line?.end ?? { missing: true } },
  };
};

type Draw = {
  readonly requester: Requester;
  readonly recipients: number;
  readonly atMs: number;
};

/** How far this many recipients move a line on. */
export const toLength = ({ priority }: Requester, recipients: number): number =>
  recipients * RECIPIENT_COST[priority];

/** How much stands before a ticket: of other lines what has a lower position, and one session where the draw was earlier. */
export const countAhead = (
  { lines }: WaitQueue,
  { position, draw }: Order,
  {
    requester,
    sessionLength,
    atMs,
  }: Pick<Draw, "requester" | "atMs"> & {
    readonly sessionLength: number;
  },
): number => {
  const own = toLineNumber(requester);
  let ahead = 0;
  for (const [n, line] of lines) {
    if (!isActive(line, atMs)) continue;
    const turn = n !== own && line.draw < draw ? sessionLength : 0;
    ahead += Math.max(0, Math.min(line.end, position + turn) - line.done);
  }
  return ahead;
};

/** The processes that wait at the moment with a lower ticket than this one. */
export const countWaitersAhead = (
  { waiters }: WaitQueue,
  token: string,
  order: Order,
  atMs: number,
): number =>
  [...waiters].filter(
    ([other, waiter]) =>
      other !== token &&
      isUnexpired(waiter.until, atMs, WAITER_MS) &&
      compareTickets(waiter, order) < 0,
  ).length;

export const hasWaiters = ({ waiters }: WaitQueue, token: string, atMs: number): boolean =>
  [...waiters].some(([other, { until }]) => other !== token && isUnexpired(until, atMs, WAITER_MS));

/**
 * Some rows of a line want a slot: it counts for another while. Null: it does so anyway. Without this a queue that is longer
 * than LINE_MS would look empty to all that are in it, and they would come back every few seconds (docs/design/mail-slots.md).
 */
export const renewLine = (
  { lines }: WaitQueue,
  requester: Requester,
  atMs: number,
): { readonly set: Fields; readonly where: Where } | null => {
  const n = toLineNumber(requester);
  const line = lines.get(n);
  if (!line || line.until - atMs > LINE_MS / 2) return null;
  return { set: { [`until_${n}`]: atMs + LINE_MS }, where: { [`${END_PREFIX}${n}`]: line.end } };
};

/** One process renews its mark before it expires. */
export const isMarkFresh = ({ waiters }: WaitQueue, token: string, atMs: number): boolean =>
  (waiters.get(token)?.until ?? 0) - atMs > WAITER_MS / 2;

export const createWaiterMark = (
  token: string,
  { position, draw }: Order,
  atMs: number,
): Fields => ({
  [`${WAITER_PREFIX}${token}`]: `${atMs + WAITER_MS} ${position} ${draw}`,
});

export const createMarkRemoval = (token: string): Fields => ({
  [`${WAITER_PREFIX}${token}`]: undefined,
});

/** The fields of lines and waiters that are over. The process that draws a ticket removes them. */
export const removeStale = (queue: WaitQueue, atMs: number): Fields => ({
  ...Object.fromEntries(
    [...queue.lines]
      .filter(([, line]) => !isActive(line, atMs))
      .flatMap(([n]) =>
        [`${END_PREFIX}${n}`, `done_${n}`, `draw_${n}`, `until_${n}`].map((field) => [
          field,
          undefined,
        ]),
      ),
  ),
  ...Object.fromEntries(
    [...queue.waiters]
      .filter(([, { until }]) => !isUnexpired(until, atMs, WAITER_MS))
      .map(([token]) => [`${WAITER_PREFIX}${token}`, undefined]),
  ),
});

export const createWaitQueueExpiry = (atMs: number): Fields => ({
  expires_at: Math.ceil(atMs / 1000) + RETENTION_SECONDS,
});
