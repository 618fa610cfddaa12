import { createHash } from "node:crypto";
import type { MailHost } from "@mailproof/mail/dns/mail-hosts";
import { DEFAULT_LIMITS } from "@mailproof/mail/mail-provider-table";
import { findMailProvider, PROVIDER_CONNECTIONS } from "@mailproof/mail/mail-providers";
import type { SessionOutcome } from "@mailproof/mail/smtp/connect";
import { DIRECT_EXIT } from "@mailproof/mail/smtp/wire";
import type { Requester, Ticket } from "../fairness.ts";
import type { ProviderRefusal } from "../refusal.ts";

/** The host and the provider that a session needs a slot for. */
export type SlotKey = {
  readonly providerKey: string;
  /** The exit that the session leaves by. */
  readonly exit: string;
  /** The provider and the exit: each exit has the provider's limits. */
  readonly limitKey: string;
  readonly host: string;
  /** The concurrency at the provider by this exit, over all the provider's hosts. */
  readonly connections: number;
  /** The provider's slots that this host may use, counted from 0. */
  readonly slots: readonly number[];
};

/** The parts of a session's end that concern the server's limits for us. */
export type SessionEnd = {
  /** The outcome of the session in which the server asked us to come back later. */
  readonly refusal: SessionOutcome | null;
  readonly needsCooldown: boolean;
};

export const NO_REFUSAL: SessionEnd = { refusal: null, needsCooldown: false };

/** `ms`: how long the backoff still lasts; 0 without a backoff. `failures`: consecutive failures. */
export type ProviderBackoff = {
  readonly ms: number;
  readonly failures: number;
  readonly refusal: ProviderRefusal | null;
};

export type Slot = {
  /**
   * Releases the slot, and reports the session's end to all processes; null when the session never reached this provider.
   * Returns the provider's backoff from then on.
   */
  release(end: SessionEnd | null, work?: SessionWork): Promise<ProviderBackoff>;
};

/** The work of a session. `answered`: how many of its recipients got a result. */
export type SessionWork = {
  readonly ms: number;
  readonly answered: number;
  readonly remaining: number;
};

/** An earlier ticket counts only in its own queue, since the hosts of the domain may have changed. */
export const resumeTurn = (
  holder: TurnHolder,
  slotKey: SlotKey,
  ticket: Ticket | undefined,
): void => {
  if (ticket?.queue !== toWaitQueueName(slotKey)) return;
  const { turn } = holder;
  if (!turn.ticket || ticket.position < turn.ticket.position) holder.turn = { ...turn, ticket };
};

/** The name of the wait queue: processes that may use the same slots share one wait queue. */
export const toOrderName = ({ slots, connections }: SlotKey): string =>
  slots.length < connections ? slots.join("-") : "all";

export const toWaitQueueName = (slotKey: SlotKey): string =>
  `${slotKey.limitKey} ${toOrderName(slotKey)}`;

/** The return of recipients that found no slot within their turn: its time, and the ticket that they keep. */
export type SlotReturn = {
  readonly at: string;
  readonly ticket: Ticket;
  /** The reason of the reply after which the provider gets no session until then. Absent: no slot was free. */
  readonly reason?: string;
};

/** The turn of one host queue of this process among all that want the same slots. */
export type SlotTurn = {
  readonly ticket: Ticket | null;
  /** The time at which this process's wait began, and its latest try. A backoff between two tries ends the wait. */
  readonly waitsSinceMs: number | null;
  readonly triedAtMs: number;
};

/** The holder of a turn is a host queue. The pool names it, and changes its turn. */
export type TurnHolder = {
  token: string;
  turn: SlotTurn;
  /** A process is drawing a ticket for this turn. */
  drawing: Promise<unknown> | null;
};

export const createTurnHolder = (): TurnHolder => ({
  token: "",
  drawing: null,
  turn: { ticket: null, waitsSinceMs: null, triedAtMs: 0 },
});

export type SlotRequest = {
  readonly queue: TurnHolder;
  readonly requester: Requester;
  /** The number of recipients in this session, and the maximum of a session. */
  readonly batch: number;
  readonly sessionLength: number;
  /** How many recipients of the host queue have no result yet. */
  readonly recipients: number;
  /** True when the recipients have another exit: then they do not wait behind others. */
  readonly mayLeave: boolean;
};

/** The sessions that all processes have open together: one slot is one session. */
export type SlotPool = {
  /** False while this process knows that no slot is free. */
  mayAcquire(slotKey: SlotKey): boolean;
  /** Never rejects. Without a request, a session that has begun needs a slot at a second provider. */
  acquire(slotKey: SlotKey, request?: SlotRequest): Promise<SlotResult>;
};

export type SlotResult =
  | { readonly kind: "acquired"; readonly slot: Slot }
  | { readonly kind: "backoff"; readonly backoff: ProviderBackoff }
  /** The process tries again after `pauseMs`. */
  | { readonly kind: "full"; readonly pauseMs?: number }
  | { readonly kind: "later"; readonly comeBack: SlotReturn };

/**
 * The key of a provider with all its hosts, or of one IP address, in whatever order DNS lists the addresses. `share`: of
 * the limits, while the exit warms up.
 */
export const toSlotKey = (at: MailHost | undefined, exit = DIRECT_EXIT, share = 1): SlotKey => {
  const host = at?.host ?? "";
  const provider = findMailProvider(host);
  const isOther = provider.name === "other";
  const providerKey = isOther ? (at?.ips.toSorted()[0] ?? "") : provider.name;
  const limitKey = exit === DIRECT_EXIT ? providerKey : `${providerKey} by ${exit}`;
  const take = (count: number) => Math.max(1, Math.floor(count * share));
  const hostConnections = take(provider.limits.connections);
  const connections = isOther ? hostConnections : take(PROVIDER_CONNECTIONS);
  const slots = isOther
    ? ALL_SLOTS.slice(0, hostConnections)
    : listSlots(host, hostConnections, connections);
  return { providerKey, exit, limitKey, host, connections, slots };
};

/** Returns the provider key of the host with this name. */
export const findProviderKey = (hosts: readonly MailHost[], name: string): string =>
  toSlotKey(hosts.find(({ host }) => host === name)).providerKey;

const ALL_SLOTS = [...Array(DEFAULT_LIMITS.connections).keys()];

/**
 * A host whose limit is lower than its provider's always uses the same slots of the provider, so one slot keeps both
 * counts. Two such hosts may have a slot in common; then they take turns.
 */
const listSlots = (host: string, hostConnections: number, connections: number): number[] => {
  const first = hashToNumber(host);
  return Array.from({ length: hostConnections }, (_, n) => (first + n) % connections);
};

const hashToNumber = (text: string): number =>
  createHash("sha256").update(text).digest().readUInt32BE();

/** The pause before another attempt to acquire a slot, with jitter: otherwise all would try at the same time. */
export const getJitteredPauseMs = (random: () => number): number =>
  PAUSE_MS / 5 + random() * PAUSE_MS;

/** The longest duration of a session; another session serves the recipients that it did not reach. */
export const SESSION_MS = 120_000;

export const PAUSE_MS = 1_000;
/** The average pause of the process that is next in the order. */
export const NEXT_PAUSE_MS = 120;
