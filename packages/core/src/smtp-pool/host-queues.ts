import type { MailHost } from "../mail/dns/mail-hosts.ts";
import type { ProviderLimits } from "../mail/mail-provider-table.ts";
import { findMailProvider } from "../mail/mail-providers.ts";
import { getProbeMode, NO_POLICY, type ProbePolicy } from "../mail/probe-policy.ts";
import type { PendingProbe } from "../verify/recipient-check.ts";
import { createFairQueue, type FairQueue } from "./fair-queue.ts";
import { createProviderRegistry, type ProviderState } from "./providers.ts";
import type { Requester } from "./requester.ts";
import {
  createSlotTurn,
  type SlotKey,
  type SlotRequest,
  type SlotTurn,
  toSlotKey,
} from "./slots/slots.ts";

/** Fewer recipients than this get one session, not several: ten connections for ten addresses would burden a server. */
const RECIPIENTS_PER_SESSION = 25;

/** `withoutPipelining`: so many of the next sessions send one command at a time. */
type HostState = { sessions: number; queues: number; withoutPipelining: number };

/** The queue for one set of hosts. */
export type HostQueue = {
  readonly key: string;
  readonly provider: ProviderState;
  readonly slotKey: SlotKey;
  readonly limits: ProviderLimits;
  /** Shared by all queues whose sessions begin at this host. */
  readonly host: HostState;
  readonly waiting: FairQueue<PendingProbe>;
  readonly turn: SlotTurn;
  /** The recipients of sessions that are open or wait for a slot. */
  taken: number;
  sessions: number;
  /** The most recipients that a session takes; the catch-all states of their domains are read before it begins. */
  batchSizeMax: number;
  /** A session found no free slot; the queue tries again after a slot was released or the wait is over. */
  isFull: boolean;
};

export type HostQueues = ReturnType<typeof createHostQueues>;

/** The host queues that have recipients waiting or sessions open. */
export const createHostQueues = (policy: ProbePolicy = NO_POLICY) => {
  const all = new Map<string, HostQueue>();
  const hosts = new Map<string, HostState>();
  const { getProviderState, forget } = createProviderRegistry();

  const addQueue = (key: string, slotKey: SlotKey): HostQueue => {
    const host = hosts.get(slotKey.host) ?? {
      sessions: 0,
      queues: 0,
      withoutPipelining: 0,
    };
    hosts.set(slotKey.host, host);
    host.queues++;
    const queue = createHostQueue(key, slotKey, host, getProviderState(slotKey));
    all.set(key, queue);
    return queue;
  };

  const getOrAddQueue = (key: string, host: MailHost | undefined): HostQueue =>
    all.get(key) ?? addQueue(key, toAllowedSlotKey(policy, host));

  const close = (queue: HostQueue): void => {
    if (all.get(queue.key) !== queue) return;
    all.delete(queue.key);
    queue.host.queues--;
    if (queue.host.queues === 0) hosts.delete(queue.slotKey.host);
    queue.provider.queues--;
    forget(queue.provider);
  };

  return { all: all as ReadonlyMap<string, HostQueue>, getOrAddQueue, close, forget };
};

/** Where the operator wants care, all processes have one session with the provider: its first slot. */
const toAllowedSlotKey = (policy: ProbePolicy, host: MailHost | undefined): SlotKey => {
  const slotKey = toSlotKey(host);
  return host && getProbeMode(policy, [host]) === "careful"
    ? { ...slotKey, connections: 1, slots: [0] }
    : slotKey;
};

const createHostQueue = (
  key: string,
  slotKey: SlotKey,
  host: HostState,
  provider: ProviderState,
): HostQueue => {
  provider.queues++;
  return {
    key,
    provider,
    slotKey,
    host,
    limits: findMailProvider(slotKey.host).limits,
    waiting: createFairQueue(),
    turn: createSlotTurn(),
    taken: 0,
    sessions: 0,
    batchSizeMax: Number.POSITIVE_INFINITY,
    isFull: false,
  };
};

/**
 * The host queue for a recipient. Only domains with exactly the same hosts share one: otherwise the owner of a domain
 * could list another company's host first, and have its own second host asked about that company's mailboxes. Where a
 * session for few is about to begin, the recipient joins it; else the load is spread at random among hosts of one
 * priority.
 */
export const chooseHosts = (
  hosts: readonly MailHost[],
  queues: ReadonlyMap<string, HostQueue>,
  random: () => number,
): { readonly key: string; readonly hosts: readonly MailHost[] } => {
  const names = formatHosts(hosts);
  const toKey = ({ host }: MailHost) => `${host} of ${names}`;
  const isGathering = (host: MailHost) => {
    const waiting = queues.get(toKey(host))?.waiting.size() ?? 0;
    return waiting > 0 && waiting < RECIPIENTS_PER_SESSION;
  };
  const chosen = orderHosts(hosts, isGathering, random);
  return { key: chosen[0] ? toKey(chosen[0]) : "", hosts: chosen };
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
): SlotRequest => ({
  turn: queue.turn,
  requester,
  batch,
  countRecipients: () => queue.taken + queue.waiting.size(),
});

/** Results are delivered when their session ends, so one in which callers wait is short. */
const RECIPIENTS_WITH_CALLERS = 10;

export const getBatchSize = (
  { provider, limits, waiting, sessions, batchSizeMax, turn }: HostQueue,
  { priority }: Requester,
): number => {
  const most = Math.min(batchSizeMax, limits.recipientsPerConnection);
  if (priority === "caller") return Math.min(most, RECIPIENTS_WITH_CALLERS);
  if (provider.slotWait.isScarce || turn.ticket) return most;
  const even = Math.ceil(waiting.size() / (limits.connections - sessions));
  return Math.min(most, Math.max(RECIPIENTS_PER_SESSION, even));
};

/**
 * Where most recipients do not exist, a session ends long before its batch is done. The next batch is twice as many as
 * this session tried, so it grows again as soon as sessions complete theirs.
 */
export const adjustBatchSize = (queue: HostQueue, batchSize: number, remaining: number): void => {
  const tried = batchSize - remaining;
  if (tried > 0) queue.batchSizeMax = remaining > 0 ? 2 * tried : 2 * queue.batchSizeMax;
};

/**
 * A server that announces PIPELINING and breaks it loses every session so, and an ordinary one that was restarted loses
 * one: of so many sessions one tries again.
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

/** Hosts of one priority share the load (RFC 5321 §5.1); a later priority is for when none of them can be reached. */
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
