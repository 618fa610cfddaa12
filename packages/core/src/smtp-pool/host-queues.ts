import type { MailHost } from "../mail/dns/mail-hosts.ts";
import { findProvider, getLimits, type ProviderLimits } from "../mail/smtp/limits.ts";
import type { PendingProbe } from "../verify/recipient-check.ts";
import { createFairQueue, type FairQueue } from "./fair-queue.ts";
import { createProviderRegistry, type ProviderState } from "./providers.ts";
import type { Requester } from "./requester.ts";
import { type SlotKey, toSlotKey } from "./slots.ts";

/** Fewer than this are worth one session, not several: a server is not opened ten doors for ten addresses. */
const RECIPIENTS_PER_SESSION = 25;

/** The queue for one set of hosts. */
export type HostQueue = {
  readonly key: string;
  readonly provider: ProviderState;
  readonly slotKey: SlotKey;
  readonly limits: ProviderLimits;
  /** Shared by all queues whose sessions begin at this host. */
  readonly host: { sessions: number; queues: number };
  readonly waiting: FairQueue<PendingProbe>;
  sessions: number;
  /** So many recipients one session is given at most: what is known of their domains is read for no more of them. */
  batchSizeMax: number;
  /** It found no place, and looks for none before something has changed. */
  isFull: boolean;
};

export type HostQueues = ReturnType<typeof createHostQueues>;

/** Where somebody waits or is served. */
export const createHostQueues = () => {
  const all = new Map<string, HostQueue>();
  const hosts = new Map<string, HostQueue["host"]>();
  const { getProviderState, forget } = createProviderRegistry();

  const addQueue = (key: string, spot: SlotKey): HostQueue => {
    const host = hosts.get(spot.host) ?? { sessions: 0, queues: 0 };
    hosts.set(spot.host, host);
    host.queues++;
    const queue = createHostQueue(key, spot, host, getProviderState(spot));
    all.set(key, queue);
    return queue;
  };

  const getOrAddQueue = (key: string, host: MailHost | undefined): HostQueue =>
    all.get(key) ?? addQueue(key, toSlotKey(host));

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

const createHostQueue = (
  key: string,
  spot: SlotKey,
  host: HostQueue["host"],
  operator: ProviderState,
): HostQueue => {
  operator.queues++;
  return {
    key,
    provider: operator,
    slotKey: spot,
    host,
    limits: getLimits(findProvider(spot.host)),
    waiting: createFairQueue(),
    sessions: 0,
    batchSizeMax: Number.POSITIVE_INFINITY,
    isFull: false,
  };
};

/**
 * At which desk to wait. Only domains with the very same hosts share one: whoever names somebody else's host as his
 * first would otherwise have his second asked about other people's mailboxes. Where a session for few is about to
 * begin, they join it; else chance shares out the load among hosts of one priority.
 */
export const chooseHosts = (
  hosts: readonly MailHost[],
  desks: ReadonlyMap<string, HostQueue>,
  random: () => number,
): { readonly key: string; readonly hosts: readonly MailHost[] } => {
  const names = formatHosts(hosts);
  const toKey = ({ host }: MailHost) => `${host} of ${names}`;
  const isGathering = (host: MailHost) => {
    const waiting = desks.get(toKey(host))?.waiting.size() ?? 0;
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

/** Answers are told when their session ends, so one in which callers wait is short. */
const RECIPIENTS_WITH_CALLERS = 10;

export const getBatchSize = (
  { provider: operator, limits, waiting, sessions, batchSizeMax: shareMax }: HostQueue,
  { priority }: Requester,
): number => {
  const most = Math.min(
    shareMax,
    limits.recipientsPerTransaction * limits.transactionsPerConnection,
  );
  if (priority === "caller") return Math.min(most, RECIPIENTS_WITH_CALLERS);
  if (operator.slotWait.isScarce) return most;
  const even = Math.ceil(waiting.size() / (limits.connections - sessions));
  return Math.min(most, Math.max(RECIPIENTS_PER_SESSION, even));
};

/**
 * Where most recipients do not exist, a session ends long before all of its share were asked about. The next one is
 * given twice as many as this one asked about, so the share grows again as soon as sessions get through it.
 */
export const adjustBatchSize = (queue: HostQueue, batchSize: number, remaining: number): void => {
  const tried = batchSize - remaining;
  if (tried > 0) queue.batchSizeMax = remaining > 0 ? 2 * tried : 2 * queue.batchSizeMax;
};

/** Hosts of one priority share the load (RFC 5321 §5.1); a later priority is for when none of them is there. */
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
