import type { MailHost } from "@mailproof/mail/dns/mail-hosts";
import type { ProviderLimits } from "@mailproof/mail/mail-provider-table";
import { findMailProvider } from "@mailproof/mail/mail-providers";
import { getAffinityKey } from "@mailproof/mail/smtp/connect";
import type { Exits } from "./exits.ts";
import { createFairQueue, type FairQueue, type Requester } from "./fairness.ts";
import type { PendingProbe } from "./probe.ts";
import { createProviderRegistry, type ProviderUse } from "./providers.ts";
import {
  createTurnHolder,
  type SlotKey,
  type SlotRequest,
  type TurnHolder,
  toWaitQueueName,
} from "./slots/slots.ts";

/** Fewer recipients than this get one session, not several: ten connections for ten addresses would burden a server. */
const RECIPIENTS_PER_SESSION = 25;

/** `withoutPipelining`: how many of the next sessions send one command at a time. */
type HostState = { sessions: number; queues: number; withoutPipelining: number };

/** The queue for one set of hosts and one exit. */
export type HostQueue = TurnHolder & {
  readonly key: string;
  /** The part of the key that is the same for all exits. */
  readonly hostsKey: string;
  readonly provider: ProviderUse;
  readonly slotKey: SlotKey;
  readonly limits: ProviderLimits;
  /** Shared by all queues whose sessions begin at this host. */
  readonly host: HostState;
  readonly waiting: FairQueue<PendingProbe>;
  /** The recipients of sessions that are open or wait for a slot. */
  taken: number;
  sessions: number;
  /** The most recipients that a session takes; the catch-all states of their domains are read before it begins. */
  batchSizeMax: number;
  /** True after a session found no free slot; the queue tries again after a release or after the wait. */
  isFull: boolean;
  /** A session began within the last `GATHER_MS`. */
  hasJustOpened: boolean;
  /** An account with many sessions, one of which was here within the last `GATHER_ROWS_MS`. */
  gathersFor: string | null;
};

export type HostQueues = ReturnType<typeof createHostQueues>;

/** The host queues that have recipients waiting or sessions open. */
export const createHostQueues = (exits: Exits, random: () => number) => {
  const all = new Map<string, HostQueue>();
  const hosts = new Map<string, HostState>();
  const { getProviderUse, findProviderUse, forget } = createProviderRegistry();
  /** The key contains the exit's share, so recipients that arrive after it grew get a queue with the new limits. */
  const toKey = (hostsKey: string, exit: string) =>
    `${hostsKey} by ${exit} ${exits.getShare(exit)}`;
  const toHostKey = ({ host, exit }: SlotKey) => `${host} by ${exit}`;

  const addQueue = (hostsKey: string, slotKey: SlotKey): HostQueue => {
    const hostKey = toHostKey(slotKey);
    const host = hosts.get(hostKey) ?? { sessions: 0, queues: 0, withoutPipelining: 0 };
    hosts.set(hostKey, host);
    host.queues++;
    const keys = { key: toKey(hostsKey, slotKey.exit), hostsKey };
    const queue = createHostQueue(keys, slotKey, host, getProviderUse(slotKey));
    all.set(queue.key, queue);
    return queue;
  };

  const findQueue = (hostsKey: string, exit: string) => all.get(toKey(hostsKey, exit));

  const getOrAddQueue = (hostsKey: string, host: MailHost | undefined, exit: string): HostQueue =>
    findQueue(hostsKey, exit) ?? addQueue(hostsKey, exits.toSlotKey(host, exit));

  const close = (queue: HostQueue): void => {
    if (all.get(queue.key) !== queue) return;
    all.delete(queue.key);
    queue.host.queues--;
    if (queue.host.queues === 0) hosts.delete(toHostKey(queue.slotKey));
    queue.provider.queues.delete(queue.key);
    forget(queue.provider);
  };

  return {
    all: all as ReadonlyMap<string, HostQueue>,
    exits,
    random,
    findQueue,
    getOrAddQueue,
    findProviderUse,
    close,
    forget,
  };
};

const createHostQueue = (
  keys: Pick<HostQueue, "key" | "hostsKey">,
  slotKey: SlotKey,
  host: HostState,
  provider: ProviderUse,
): HostQueue => {
  provider.queues.add(keys.key);
  return {
    ...keys,
    provider,
    slotKey,
    host,
    limits: findMailProvider(slotKey.host).limits,
    waiting: createFairQueue(),
    ...createTurnHolder(),
    taken: 0,
    sessions: 0,
    batchSizeMax: Number.POSITIVE_INFINITY,
    isFull: false,
    hasJustOpened: false,
    gathersFor: null,
  };
};

/**
 * The host queue for a recipient. Only domains with exactly the same hosts share one: otherwise the owner of a domain
 * could list another company's host first, and our sessions would ask the owner's second host about that company's
 * mailboxes. A recipient joins a session for few recipients that is about to begin; otherwise chance spreads the load among
 * hosts of one priority.
 */
export const chooseHosts = (
  hosts: readonly MailHost[],
  { exits, findQueue, random }: HostQueues,
): { readonly hostsKey: string; readonly hosts: readonly MailHost[] } => {
  const names = formatHosts(hosts);
  const toKey = ({ host }: MailHost) => `${host} of ${names}`;
  const isPreferred = (host: MailHost) =>
    exits.all.some((exit) => hasFewWaiting(findQueue(toKey(host), exit)));
  const chosen = orderHosts(hosts, isPreferred, random);
  return { hostsKey: chosen[0] ? toKey(chosen[0]) : "", hosts: chosen };
};

const hasFewWaiting = (queue: HostQueue | undefined): boolean => {
  const waiting = queue?.waiting.size() ?? 0;
  return waiting > 0 && waiting < RECIPIENTS_PER_SESSION;
};

type Route = { readonly hostsKey: string; readonly hosts: readonly MailHost[] };

/** Chooses the recipient's queue: at the exit of its earlier attempt if that is admitted, else at the least loaded exit. */
export const chooseQueue = (queues: HostQueues, one: PendingProbe, route: Route): HostQueue => {
  const { exits, findProviderUse, getOrAddQueue } = queues;
  const [host] = route.hosts;
  if (exits.all.length === 1) return getOrAddQueue(route.hostsKey, host, exits.first);
  const getSlotKey = (exit: string) => exits.toSlotKey(host, exit);
  const isAwake = (exit: string) => !findProviderUse(getSlotKey(exit))?.isBackingOff;
  const admitted = keepSome(exits.all, exits.listAdmitted(getSlotKey(exits.first), one));
  const up = keepSome(
    admitted,
    admitted.filter((exit) => !exits.isDown(exit)),
  );
  const preferred =
    up.length > 1
      ? (up.find((exit) => toWaitQueueName(getSlotKey(exit)) === one.ticket?.queue) ??
        up.find((exit) => exit === one.exit))
      : up[0];
  const exit = preferred ?? balance(queues, keepSome(up, up.filter(isAwake)), route);
  return getOrAddQueue(route.hostsKey, host, exit);
};

const keepSome = (all: readonly string[], some: readonly string[]): readonly string[] =>
  some.length > 0 ? some : all;

/** Finds another exit for a recipient whose exit has no slot, backs off, is refused or is unreachable. */
export const findOtherExit = (
  queues: HostQueues,
  one: PendingProbe,
  { slotKey, hostsKey }: HostQueue,
): string | null => {
  const { exits, findProviderUse } = queues;
  if (exits.all.length === 1) return null;
  const { exit } = slotKey;
  const [host] = one.hosts;
  const admitted = exits.listAdmitted(slotKey, one);
  const isRefused = !admitted.includes(exit);
  if (!isRefused && one.exit === exit && !exits.isDown(exit)) return null;
  const others = admitted.filter((other) => other !== exit);
  const getState = (other: string) => findProviderUse(exits.toSlotKey(host, other));
  const isOpen = (other: string) => !exits.isDown(other) && !getState(other)?.isBackingOff;
  const isFree = (other: string): boolean =>
    isOpen(other) && !one.leftExits.includes(other) && !getState(other)?.isScarce;
  // When all exits are full, recipients wait at their first exit, because the exits' shares chose that exit.
  const [home] = one.leftExits;
  const back = others.filter((other) => other === home && exit !== home && isOpen(other));
  const free = keepSome(keepSome(isRefused ? others : [], back), others.filter(isFree));
  if (free.length === 0) return null;
  return balance(queues, free, { hostsKey, hosts: one.hosts });
};

/**
 * Prefers a session that gathers recipients. Then it orders the exits: always the same order for a domain's own host, because
 * of greylisting, and any order for a large provider. An exit whose sessions are full passes recipients to the next exit.
 */
const balance = (
  { exits, findQueue, findProviderUse, random }: HostQueues,
  candidates: readonly string[],
  { hostsKey, hosts }: Route,
): string => {
  const [first = exits.first] = candidates;
  if (candidates.length < 2) return first;
  const begun = candidates.find((exit) => hasFewWaiting(findQueue(hostsKey, exit)));
  if (begun !== undefined) return begun;
  const isLarge = findMailProvider(hosts[0]?.host ?? "").name !== "other";
  const ordered = exits.order(candidates, isLarge ? `${random()}` : getAffinityKey(hosts));
  const loads = ordered.map((exit) => {
    const slotKey = exits.toSlotKey(hosts[0], exit);
    const waiting = findQueue(hostsKey, exit)?.waiting.size() ?? 0;
    const sessions = findProviderUse(slotKey)?.sessions ?? 0;
    const load = (sessions + waiting / RECIPIENTS_PER_SESSION) / slotKey.slots.length;
    return { exit, load };
  });
  const [least] = loads.toSorted((a, b) => a.load - b.load);
  return (loads.find(({ load }) => load < 1) ?? least)?.exit ?? first;
};

const formatHosts = (hosts: readonly MailHost[]): string =>
  hosts
    .map(({ host, priority }) => `${priority} ${host}`)
    .toSorted()
    .join(", ");

export const createSlotRequest = (
  queue: HostQueue,
  requester: Requester,
  batch: number,
  mayLeave: boolean,
): SlotRequest => ({
  queue,
  mayLeave,
  requester,
  batch,
  sessionLength: queue.limits.recipientsPerConnection,
  recipients: queue.taken + queue.waiting.size(),
});

export const countSession = (queue: HostQueue, by: 1 | -1, recipients: number): void => {
  queue.taken += by * recipients;
  queue.sessions += by;
  queue.host.sessions += by;
  queue.provider.sessions += by;
};

/** The pool delivers results when their session ends, so a session with waiting callers is short. */
const RECIPIENTS_WITH_CALLERS = 10;

export const getBatchSize = (
  { provider, limits, slotKey, waiting, sessions, batchSizeMax, turn }: HostQueue,
  { priority }: Requester,
  isLong: boolean,
): number => {
  const most = Math.min(batchSizeMax, limits.recipientsPerConnection);
  if (priority === "caller") return Math.min(most, RECIPIENTS_WITH_CALLERS);
  if (provider.isScarce || turn.ticket || isLong) return most;
  const even = Math.ceil(waiting.size() / (slotKey.slots.length - sessions));
  return Math.min(most, Math.max(RECIPIENTS_PER_SESSION, even));
};

/** After a session has begun, the next one waits this long for recipients to share it (docs/design/mail-sessions.md). */
export const GATHER_MS = 30;

/**
 * After a session, the rows of an account that has many sessions wait this long for others of their host: they share one
 * session instead of opening one each. Callers, and lists that ask few hosts, do not wait.
 */
export const GATHER_ROWS_MS = 500;

/** How often a busy thread is asked whether it has time for the rows of long lists. */
export const HOLD_MS = 25;

/**
 * When most recipients do not exist, a session ends long before its batch is done. The next batch is twice as large as the
 * number of recipients that this session tried, so batches grow again as soon as sessions complete them.
 */
export const adjustBatchSize = (queue: HostQueue, batchSize: number, remaining: number): void => {
  const tried = batchSize - remaining;
  if (tried > 0) queue.batchSizeMax = remaining > 0 ? 2 * tried : 2 * queue.batchSizeMax;
};

/**
 * A server with a broken PIPELINING breaks every session with flights; a server that was restarted breaks one session. So one
 * session in this many tries a flight again.
 */
const SESSIONS_WITHOUT_PIPELINING = 20;

export const avoidPipelining = ({ host }: HostQueue): void => {
  host.withoutPipelining = SESSIONS_WITHOUT_PIPELINING;
};

/** For the session that begins now. */
export const decidePipelining = ({ host }: HostQueue): boolean => {
  if (host.withoutPipelining === 0) return true;
  host.withoutPipelining--;
  return false;
};

/** Hosts of one priority share the load (RFC 5321 §5.1); hosts of a later priority serve when none of these is reachable. */
const orderHosts = (
  hosts: readonly MailHost[],
  isPreferred: (host: MailHost) => boolean,
  random: () => number,
): readonly MailHost[] =>
  hosts
    .map((host) => ({ host, isLast: !isPreferred(host), rank: random() }))
    .toSorted(
      (a, b) =>
        a.host.priority - b.host.priority || Number(a.isLast) - Number(b.isLast) || a.rank - b.rank,
    )
    .map(({ host }) => host);
