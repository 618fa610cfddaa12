import { findMailProvider } from "@mailproof/mail/mail-providers";
import type { Amounts, Fields, Table, Where } from "../../ports/table.ts";
import type { World } from "../../ports/world.ts";
import type { SlotKey, SlotRequest, SlotTurn, Ticket } from "./slots.ts";
import {
  countAhead,
  countWaitersAhead,
  createMarkRemoval,
  createWaiterMark,
  createWaitQueueExpiry,
  drawNext,
  hasWaiters,
  isMarkFresh,
  parseWaitQueue,
  removeStale,
  renewLine,
  toLength,
  toLineNumber,
  toWaitQueueKey,
  type WaitQueue,
} from "./wait-queue-items.ts";

/** A process waits for a slot itself when it should get one within this time; else its recipients come back later. */
const SOON_MS = 8_000;
/** And no longer than this, whatever was expected: a Lambda that waits is paid for. */
const PROCESS_WAIT_MAX_MS = 15_000;
/** So many processes for each slot may wait themselves: one of them is there as soon as a slot is free. */
const WAITERS_PER_SLOT = 2;
/** Recipients come back a fifth earlier than expected: a slot that waits for recipients is lost, not the reverse. */
const EARLINESS = 0.8;
/** A process that did not try for so long had no wait, but a backoff. */
const TRY_INTERVAL_MS_MAX = 5_000;
const RETURN_MS_MIN = 2_000;
/** Then the expectation is renewed: other recipients may not have come back. A queue delays messages for longer. */
const RETURN_MS_MAX = 5 * 60_000;
/** Of one recipient in one session, until a session has shown it; and for so long no expectation counts. */
const PACE = { presumedMs: 200, returnMsMax: 10_000 } as const;

const DRAWS_MAX = 10;

/** `first`: the process may take a slot. `wait`: it tries again soon. `return`: its recipients come back at `atMs`. */
export type WaitStep =
  | { readonly kind: "first" }
  | { readonly kind: "wait"; readonly isNext: boolean }
  | { readonly kind: "return"; readonly atMs: number; readonly ticket: Ticket };

type WaitPorts = Pick<World, "now" | "random"> & { readonly table: Pick<Table, "get" | "write"> };

type WaitTable = ReturnType<typeof createWaitTable>;

const createWaitTable = ({ table, now }: Pick<WaitPorts, "table" | "now">) => ({
  read: async (slotKey: SlotKey): Promise<WaitQueue> =>
    parseWaitQueue(await table.get(toWaitQueueKey(slotKey))),

  write: (slotKey: SlotKey, set: Fields, more: { add?: Amounts; where?: Where } = {}) => {
    const update = toWaitQueueKey(slotKey);
    const all = { ...set, ...createWaitQueueExpiry(now().getTime()) };
    return table.write({ update, set: all, ...more, orCreate: true });
  },
});

/** Gives the turn its ticket. Returns the queue as it is then. */
const drawTicket = async (
  { read, write }: WaitTable,
  slotKey: SlotKey,
  { requester, countRecipients, turn }: SlotRequest,
  { seen, now }: { readonly seen: WaitQueue; readonly now: World["now"] },
): Promise<WaitQueue> => {
  let queue = seen;
  for (let tries = 1; ; tries++) {
    const atMs = now().getTime();
    const recipients = countRecipients();
    const { ticket, set, where } = drawNext(slotKey, queue, { requester, recipients, atMs });
    const drawn = { ...removeStale(queue, atMs), ...set };
    const written = await write(slotKey, drawn, { add: { draws: 1 }, where });
    const isDrawn = written.outcome === "committed";
    // Refused: another process of the account has drawn. Two that have the same ticket do no harm.
    if (isDrawn || tries === DRAWS_MAX) turn.ticket = ticket;
    if (isDrawn) return parseWaitQueue(written.item);
    queue = await read(slotKey);
    if (turn.ticket) return queue;
  }
};

/** Sessions of one host queue that begin side by side have one ticket. */
const createTicketDraw = ({ now, random }: WaitPorts, table: WaitTable) => {
  const underWay = new WeakMap<SlotTurn, Promise<WaitQueue>>();
  return (slotKey: SlotKey, request: SlotRequest, seen: WaitQueue): Promise<WaitQueue> => {
    const { turn } = request;
    turn.token ||= `${random()}`.slice(2);
    const drawing =
      underWay.get(turn) ??
      drawTicket(table, slotKey, request, { seen, now }).finally(() => underWay.delete(turn));
    underWay.set(turn, drawing);
    return drawing;
  };
};

type Standing = {
  readonly queue: WaitQueue;
  readonly ticket: Ticket;
  readonly atMs: number;
  /** How many free slots there are, and the provider's pace where it is known. */
  readonly free: number;
  readonly paceMs: number | undefined;
};

/** How long until a session begins for this ticket, by the pace of the sessions so far. */
const expectMs = (
  slotKey: SlotKey,
  { requester }: SlotRequest,
  { queue, ticket, atMs, paceMs = PACE.presumedMs }: Standing,
): number => {
  const { recipientsPerConnection: sessionLength } = findMailProvider(slotKey.host).limits;
  const ahead = countAhead(queue, ticket, { requester, sessionLength, atMs });
  return (ahead * paceMs) / slotKey.slots.length;
};

/** For how long this process has waited itself. */
const measureWait = (turn: SlotTurn, atMs: number): number => {
  if (turn.waitsSinceMs === null || atMs - turn.triedAtMs > TRY_INTERVAL_MS_MAX)
    turn.waitsSinceMs = atMs;
  turn.triedAtMs = atMs;
  return atMs - turn.waitsSinceMs;
};

/** What a process does now that has a ticket. */
const chooseStep = (slotKey: SlotKey, request: SlotRequest, standing: Standing): WaitStep => {
  const { turn } = request;
  const { queue, ticket, atMs, free, paceMs } = standing;
  const ahead = countWaitersAhead(queue, turn.token, ticket, atMs);
  if (ahead < free) return { kind: "first" };
  const waitedMs = measureWait(turn, atMs);
  const expectedMs = expectMs(slotKey, request, standing);
  const isSoon = expectedMs <= SOON_MS && waitedMs <= PROCESS_WAIT_MAX_MS;
  if (isSoon && ahead < slotKey.slots.length * WAITERS_PER_SLOT)
    return { kind: "wait", isNext: ahead < slotKey.slots.length };
  turn.waitsSinceMs = null;
  // After a wait in vain the next one is at least as long: a slot may be held by a process that is gone.
  const vainMs = Math.min(waitedMs, PROCESS_WAIT_MAX_MS);
  const laterMs = Math.max(RETURN_MS_MIN, vainMs, expectedMs * EARLINESS);
  const inMs = Math.min(paceMs === undefined ? PACE.returnMsMax : RETURN_MS_MAX, laterMs);
  return { kind: "return", atMs: atMs + inMs, ticket };
};

type WaitingProcess = Pick<Standing, "ticket" | "atMs"> & Pick<SlotTurn, "token">;

/** Null: the mark of the process is right as it is. */
const changeMark = (
  { kind }: WaitStep,
  queue: WaitQueue,
  { token, ticket, atMs }: WaitingProcess,
): Fields | null => {
  if (kind === "wait" && !isMarkFresh(queue, token, atMs))
    return createWaiterMark(token, ticket, atMs);
  return kind === "return" && queue.waiters.has(token) ? createMarkRemoval(token) : null;
};

/** The order of all processes that want the same slots. */
export const createWaitQueues = (ports: WaitPorts) => {
  const { now } = ports;
  const table = createWaitTable(ports);
  const { read, write } = table;
  const draw = createTicketDraw(ports, table);

  /** What a process does that wants a slot while `free` of them are free and others may want one, too. */
  const decide = async (
    slotKey: SlotKey,
    request: SlotRequest,
    slots: Pick<Standing, "free" | "paceMs">,
  ): Promise<WaitStep> => {
    const { turn } = request;
    const seen = await read(slotKey);
    if (!turn.ticket && slots.free > 0 && !hasWaiters(seen, turn.token, now().getTime()))
      return { kind: "first" };
    const queue = turn.ticket ? seen : await draw(slotKey, request, seen);
    const { ticket, token } = turn;
    if (!ticket) throw new Error("no ticket was drawn");
    const atMs = now().getTime();
    const step = chooseStep(slotKey, request, { queue, ticket, atMs, ...slots });
    const mark = changeMark(step, queue, { token, ticket, atMs });
    const renewal = renewLine(queue, request.requester, atMs);
    if (renewal) await write(slotKey, { ...renewal.set, ...mark }, { where: renewal.where });
    else if (mark) await write(slotKey, mark);
    return step;
  };

  /** A session begins: the clock goes on, and the process waits no longer. */
  const begin = async (
    slotKey: SlotKey,
    { turn, requester, batch }: SlotRequest,
  ): Promise<void> => {
    const { ticket, token } = turn;
    if (!ticket) return;
    turn.waitsSinceMs = null;
    turn.ticket = { ...ticket, position: ticket.position + toLength(requester, batch) };
    const { position } = ticket;
    const moved = await write(
      slotKey,
      { clock: position, ...createMarkRemoval(token) },
      { where: { clock: { below: position } } },
    );
    if (moved.outcome !== "committed") await write(slotKey, createMarkRemoval(token));
  };

  /** A session ends: so many of its recipients have results, and the others keep their turn. */
  const end = async (
    slotKey: SlotKey,
    { turn, requester }: SlotRequest,
    { answered, remaining }: { readonly answered: number; readonly remaining: number },
  ): Promise<void> => {
    const { ticket } = turn;
    if (!ticket) return;
    turn.ticket = { ...ticket, position: ticket.position - toLength(requester, remaining) };
    const done = `done_${toLineNumber(requester)}`;
    await write(slotKey, {}, { add: { [done]: toLength(requester, answered) } });
  };

  return { decide, begin, end };
};
