import type { MailHost } from "../mail/mail-hosts.ts";
import type { Tried } from "../mail/smtp/connect.ts";
import { type Limits, limitsOf, providerOf } from "../mail/smtp/limits.ts";
import { withPlaces } from "../mail/smtp/places.ts";
import {
  type Answer,
  answerOf,
  type Held,
  hold,
  type ProbeDoors,
  type Question,
  type Waiting,
} from "./hold-session.ts";

/** Asks a mail server about one recipient, in a session that it shares with others for the same server. */
export type Probe = (question: Question) => Promise<Answer>;

/** Sessions of one process at once, to all servers together. */
const SESSIONS_MAX = 500;
/** Fewer than this are worth one session, not several: a server is not opened ten doors for ten addresses. */
const RECIPIENTS_SHARED = 25;
/** After a 421 the server is left alone: this long, then twice as long, up to the greatest. */
const REST_MS = 30_000;
const REST_MS_MAX = 600_000;
/** Who waits sits out so many rests in a row. After one more, what the server said is the answer for all. */
const RESTS_PATIENT = 2;

/** One mail server's queue. It lives while somebody waits in it, or the server is left alone. */
type Desk = {
  readonly limits: Limits;
  waiting: Waiting[];
  sessions: number;
  restsUntil: number;
  /** In a row, and the session that asked for the last one. */
  rests: number;
  refusal: Tried | null;
};

export const mailProbe = (outside: ProbeDoors): Probe => {
  const doors = { ...outside, connect: withPlaces(outside.connect, outside.sleep) };
  const desks = new Map<string, Desk>();
  let sessions = 0;

  const deskFor = (key: string, host: string): Desk => {
    const known = desks.get(key);
    if (known) return known;
    const limits = limitsOf(providerOf(host));
    const desk = { limits, waiting: [], sessions: 0, restsUntil: 0, rests: 0, refusal: null };
    desks.set(key, desk);
    return desk;
  };

  /** Starts as many sessions as the server and we can bear. */
  const serve = (key: string, desk: Desk): void => {
    if (desk.waiting.length === 0 && desk.sessions === 0 && desk.restsUntil <= nowMs())
      desks.delete(key);
    while (desk.waiting.length > 0 && mayOpen(desk)) {
      const batch = desk.waiting.splice(0, shareOf(desk));
      desk.sessions++;
      sessions++;
      void hold(doors, batch).then((held) => {
        desk.sessions--;
        sessions--;
        settle(key, desk, held);
        serve(key, desk);
        serveOthers();
      });
    }
  };
  const nowMs = () => doors.now().getTime();
  const mayOpen = (desk: Desk) =>
    sessions < SESSIONS_MAX &&
    desk.sessions < desk.limits.connections &&
    desk.restsUntil <= nowMs();

  /** When all places were taken, whoever still waits elsewhere gets the one that is free now. */
  const serveOthers = (): void => {
    if (sessions < SESSIONS_MAX - 1) return;
    for (const [key, desk] of desks) serve(key, desk);
  };

  const settle = (key: string, desk: Desk, { unasked, refusal }: Held): void => {
    desk.waiting.unshift(...unasked);
    desk.refusal = refusal;
    desk.rests = refusal ? desk.rests + 1 : 0;
    if (!refusal) return;
    const restMs = Math.min(REST_MS_MAX, REST_MS * 2 ** (desk.rests - 1));
    desk.restsUntil = nowMs() + restMs;
    if (isOutOfPatience(desk))
      for (const one of desk.waiting.splice(0)) one.answer(answerOf(refusal, one));
    void doors.sleep(restMs).then(() => serve(key, desk));
  };

  const isOutOfPatience = (desk: Desk) => desk.rests > RESTS_PATIENT && desk.restsUntil > nowMs();

  return (question) =>
    new Promise((answer) => {
      const { key, hosts } = placeFor(question.hosts, desks, doors.random);
      const desk = deskFor(key, hosts[0]?.host ?? "");
      const waiting = { ...question, hosts, answer, tries: 0 };
      if (desk.refusal && isOutOfPatience(desk)) return answer(answerOf(desk.refusal, waiting));
      desk.waiting.push(waiting);
      // Whoever comes in the same moment shares the session.
      if (desk.waiting.length === 1) void doors.sleep(0).then(() => serve(key, desk));
    });
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
