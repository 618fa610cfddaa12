import type { MailHost } from "../mail/mail-hosts.ts";
import { type Limits, limitsOf, providerOf } from "../mail/smtp/limits.ts";
import { type FairQueue, fairQueue } from "./fair-queue.ts";
import { type Operator, operators } from "./operators.ts";
import { type Spot, spotOf } from "./places.ts";
import type { Waiting } from "./recipient-check.ts";
import type { Requester } from "./requester.ts";

/** Fewer than this are worth one session, not several: a server is not opened ten doors for ten addresses. */
const RECIPIENTS_SHARED = 25;

/** The queue for one set of hosts. */
export type Desk = {
  readonly key: string;
  readonly operator: Operator;
  readonly spot: Spot;
  readonly limits: Limits;
  /** Shared by all queues whose sessions begin at this host. */
  readonly host: { sessions: number; desks: number };
  readonly waiting: FairQueue<Waiting>;
  sessions: number;
  /** So many recipients one session is given at most: what is known of their domains is read for no more of them. */
  shareMax: number;
  /** It found no place, and looks for none before something has changed. */
  full: boolean;
};

export type Desks = ReturnType<typeof openDesks>;

/** Where somebody waits or is served. */
export const openDesks = () => {
  const all = new Map<string, Desk>();
  const hosts = new Map<string, Desk["host"]>();
  const { operatorOf, forget } = operators();

  const newAt = (key: string, spot: Spot): Desk => {
    const host = hosts.get(spot.host) ?? { sessions: 0, desks: 0 };
    hosts.set(spot.host, host);
    host.desks++;
    const desk = newDesk(key, spot, host, operatorOf(spot));
    all.set(key, desk);
    return desk;
  };

  const deskAt = (key: string, host: MailHost | undefined): Desk =>
    all.get(key) ?? newAt(key, spotOf(host));

  const close = (desk: Desk): void => {
    if (all.get(desk.key) !== desk) return;
    all.delete(desk.key);
    desk.host.desks--;
    if (desk.host.desks === 0) hosts.delete(desk.spot.host);
    desk.operator.desks--;
    forget(desk.operator);
  };

  return { all: all as ReadonlyMap<string, Desk>, deskAt, close, forget };
};

const newDesk = (key: string, spot: Spot, host: Desk["host"], operator: Operator): Desk => {
  operator.desks++;
  return {
    key,
    operator,
    spot,
    host,
    limits: limitsOf(providerOf(spot.host)),
    waiting: fairQueue(),
    sessions: 0,
    shareMax: Number.POSITIVE_INFINITY,
    full: false,
  };
};

/**
 * At which desk to wait. Only domains with the very same hosts share one: whoever names somebody else's host as his
 * first would otherwise have his second asked about other people's mailboxes. Where a session for few is about to
 * begin, they join it; else chance shares out the load among hosts of one priority.
 */
export const placeFor = (
  hosts: readonly MailHost[],
  desks: ReadonlyMap<string, Desk>,
  random: () => number,
): { readonly key: string; readonly hosts: readonly MailHost[] } => {
  const names = namesOf(hosts);
  const keyOf = ({ host }: MailHost) => `${host} of ${names}`;
  const isGathering = (host: MailHost) => {
    const waiting = desks.get(keyOf(host))?.waiting.size() ?? 0;
    return waiting > 0 && waiting < RECIPIENTS_SHARED;
  };
  const chosen = chosenFirst(hosts, isGathering, random);
  return { key: chosen[0] ? keyOf(chosen[0]) : "", hosts: chosen };
};

const namesOf = (hosts: readonly MailHost[]): string =>
  hosts
    .map(({ host, priority }) => `${priority} ${host}`)
    .toSorted()
    .join(", ");

/** Answers are told when their session ends, so one in which callers wait is short. */
const RECIPIENTS_WITH_CALLERS = 10;

export const shareOf = (
  { operator, limits, waiting, sessions, shareMax }: Desk,
  { priority }: Requester,
): number => {
  const most = Math.min(
    shareMax,
    limits.recipientsPerTransaction * limits.transactionsPerConnection,
  );
  if (priority === "caller") return Math.min(most, RECIPIENTS_WITH_CALLERS);
  if (operator.line.scarce) return most;
  const even = Math.ceil(waiting.size() / (limits.connections - sessions));
  return Math.min(most, Math.max(RECIPIENTS_SHARED, even));
};

/**
 * Where most recipients do not exist, a session ends long before all of its share were asked about. The next one is
 * given twice as many as this one asked about, so the share grows again as soon as sessions get through it.
 */
export const adjustShare = (desk: Desk, share: number, unasked: number): void => {
  const asked = share - unasked;
  if (asked > 0) desk.shareMax = unasked > 0 ? 2 * asked : 2 * desk.shareMax;
};

/** Hosts of one priority share the load (RFC 5321 §5.1); a later priority is for when none of them is there. */
const chosenFirst = (
  hosts: readonly MailHost[],
  isPreferred: (host: MailHost) => boolean,
  random: () => number,
): readonly MailHost[] =>
  hosts
    .map((host) => ({ host, isLast: !isPreferred(host), place: random() }))
    .toSorted(
      (a, b) =>
        a.host.priority - b.host.priority ||
        Number(a.isLast) - Number(b.isLast) ||
        a.place - b.place,
    )
    .map(({ host }) => host);
