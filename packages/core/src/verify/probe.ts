import type { MailHost } from "../mail/mail-hosts.ts";
import { type Limits, limitsOf, providerOf } from "../mail/smtp/limits.ts";
import { withPlaces } from "../mail/smtp/places.ts";
import { egressWatch } from "./egress.ts";
import {
  type Answer,
  answerOf,
  hold,
  type ProbeDoors,
  type Question,
  type SessionDoors,
  type Waiting,
} from "./hold-session.ts";
import { attend, isOutOfPatience, type Operator, operators } from "./operators.ts";

/** Asks a mail server about one recipient, in a session that it shares with others for the same server. */
export type Probe = (question: Question) => Promise<Answer>;

/** Sessions of one process at once, to all servers together. */
const SESSIONS_MAX = 500;
/** Fewer than this are worth one session, not several: a server is not opened ten doors for ten addresses. */
const RECIPIENTS_SHARED = 25;

/** The queue for one set of hosts. */
type Desk = {
  readonly key: string;
  readonly operator: Operator;
  readonly limits: Limits;
  waiting: Waiting[];
  sessions: number;
};

export const mailProbe = (outside: ProbeDoors): Probe => {
  const connect = withPlaces(outside.connect, outside.sleep);
  const doors: SessionDoors = { ...outside, connect, egress: egressWatch() };
  const desks = new Map<string, Desk>();
  const { operatorOf, forget } = operators();
  let sessions = 0;

  const mayOpen = ({ operator, limits, sessions: here }: Desk): boolean =>
    sessions < SESSIONS_MAX &&
    here < limits.connections &&
    operator.sessions < operator.connections &&
    !operator.resting;

  /** Starts as many sessions as the server and we can bear. */
  const serve = (desk: Desk): void => {
    while (desk.waiting.length > 0 && mayOpen(desk)) void converse(desk);
    if (desk.waiting.length > 0 || desk.sessions > 0 || desks.get(desk.key) !== desk) return;
    desks.delete(desk.key);
    desk.operator.desks--;
    forget(desk.operator);
  };

  const converse = async (desk: Desk): Promise<void> => {
    const { operator } = desk;
    const batch = desk.waiting.splice(0, shareOf(desk));
    for (const counted of [desk, operator]) counted.sessions++;
    sessions++;
    const held = await hold(doors, batch);
    const wasFull = sessions >= SESSIONS_MAX;
    for (const counted of [desk, operator]) counted.sessions--;
    sessions--;
    desk.waiting.unshift(...held.unasked);
    if (attend(operator, held, doors.sleep, () => goOn(operator)))
      giveUp(operator, desks.values(), doors);
    serve(desk);
    serveOthers(operator, wasFull);
  };

  /** Whoever waits for the same operator, or for any place at all, gets the one that is free now. */
  const serveOthers = (operator: Operator, any: boolean): void => {
    for (const desk of desks.values())
      if (desk.waiting.length > 0 && (any || desk.operator === operator)) serve(desk);
  };

  const goOn = (operator: Operator): void => {
    serveOthers(operator, false);
    forget(operator);
  };

  return (question) =>
    new Promise((answer) => {
      const { key, hosts } = placeFor(question.hosts, desks, doors.random);
      const desk = desks.get(key) ?? newDesk(key, hosts[0], operatorOf);
      desks.set(key, desk);
      const { operator } = desk;
      const waiting = { ...question, hosts, answer, strain: 0 };
      if (operator.refusal && isOutOfPatience(operator))
        answer(answerOf(doors, operator.refusal, waiting));
      else desk.waiting.push(waiting);
      // Whoever comes in the same moment shares the session.
      if (desk.waiting.length <= 1) void doors.sleep(0).then(() => serve(desk));
    });
};

const newDesk = (
  key: string,
  host: MailHost | undefined,
  operatorOf: (host: MailHost | undefined) => Operator,
): Desk => {
  const operator = operatorOf(host);
  operator.desks++;
  return {
    key,
    operator,
    limits: limitsOf(providerOf(host?.host ?? "")),
    waiting: [],
    sessions: 0,
  };
};

/** What the operator said last is the answer for all who still wait for it. */
const giveUp = (operator: Operator, desks: Iterable<Desk>, doors: SessionDoors): void => {
  for (const desk of desks)
    if (desk.operator === operator && operator.refusal)
      for (const one of desk.waiting.splice(0)) one.answer(answerOf(doors, operator.refusal, one));
};

/**
 * At which desk to wait. Only domains with the very same hosts share one: whoever names somebody else's host as his
 * first would otherwise have his second asked about other people's mailboxes. Where a session for few is about to
 * begin, they join it; else chance shares out the load among hosts of one priority.
 */
const placeFor = (
  hosts: readonly MailHost[],
  desks: ReadonlyMap<string, Desk>,
  random: () => number,
): { readonly key: string; readonly hosts: readonly MailHost[] } => {
  const names = namesOf(hosts);
  const keyOf = ({ host }: MailHost) => `${host} of ${names}`;
  const isGathering = (host: MailHost) => {
    const waiting = desks.get(keyOf(host))?.waiting.length ?? 0;
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

const shareOf = ({ limits, waiting, sessions }: Desk): number => {
  const most = limits.recipientsPerTransaction * limits.transactionsPerConnection;
  const even = Math.ceil(waiting.length / (limits.connections - sessions));
  return Math.min(most, Math.max(RECIPIENTS_SHARED, even));
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
