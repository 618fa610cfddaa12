import type { MailHost } from "../mail/mail-hosts.ts";
import type { Finding } from "../mail/smtp/classify.ts";
import { type Tried, trySession } from "../mail/smtp/connect.ts";
import type { Transcript } from "../mail/smtp/converse.ts";
import { decoyAt } from "../mail/smtp/decoy.ts";
import { type Limits, limitsOf, providerOf } from "../mail/smtp/limits.ts";
import { withPlaces } from "../mail/smtp/places.ts";
import type { Reply } from "../mail/smtp/reply.ts";
import type { Asked } from "../mail/smtp/session.ts";
import type { Connect } from "../mail/smtp/wire.ts";
import type { DomainFacts } from "./domain-facts.ts";
import { catchAllFrom, findingOf } from "./finding.ts";
import type { CatchAll } from "./result.ts";

export type Question = {
  /** As it is said to the server. */
  readonly recipient: string;
  readonly domain: string;
  readonly hosts: readonly MailHost[];
  /** False where the domain is known to refuse strangers: there a decoy would only annoy. */
  readonly decoy: boolean;
};

export type Answer = {
  readonly finding: Finding;
  readonly reply: Reply | null;
  readonly host: string;
  readonly ip: string;
  readonly encrypted: boolean;
  readonly catchAll: CatchAll;
  readonly transcript: Transcript;
};

/** Asks a mail server about one recipient, in a session that it shares with others for the same server. */
export type Probe = (question: Question) => Promise<Answer>;

export type ProbeDoors = {
  readonly connect: Connect;
  readonly facts: DomainFacts;
  readonly now: () => Date;
  readonly random: () => number;
  readonly sleep: (ms: number) => Promise<void>;
  readonly smtp: { readonly helo: string; readonly from: string; readonly port: number };
};

/** Sessions of one process at once, to all servers together. */
const SESSIONS_MAX = 500;
/** Fewer than this are worth one session, not several: a server is not opened ten doors for ten addresses. */
const RECIPIENTS_SHARED = 25;
/** A session that hangs this long has told enough; who was not asked is asked in another. */
const SESSION_MS = 120_000;
const TRIES_MAX = 3;
/** After a 421 the server is left alone: this long, then twice as long, up to the greatest. */
const REST_MS = 30_000;
const REST_MS_MAX = 600_000;

type Waiting = Question & { readonly answer: (answer: Answer) => void; tries: number };

/** One mail server's queue. It lives while somebody waits in it, or the server is left alone. */
type Desk = {
  readonly limits: Limits;
  waiting: Waiting[];
  sessions: number;
  restsUntil: number;
  restMs: number;
};

export const mailProbe = (outside: ProbeDoors): Probe => {
  const doors = { ...outside, connect: withPlaces(outside.connect, outside.sleep) };
  const desks = new Map<string, Desk>();
  let sessions = 0;

  const deskFor = (host: string): Desk => {
    const known = desks.get(host);
    if (known) return known;
    const limits = limitsOf(providerOf(host));
    const desk = { limits, waiting: [], sessions: 0, restsUntil: 0, restMs: REST_MS };
    desks.set(host, desk);
    return desk;
  };

  /** Starts as many sessions as the server and we can bear. */
  const serve = (host: string, desk: Desk): void => {
    if (desk.waiting.length === 0 && desk.sessions === 0 && desk.restsUntil <= nowMs())
      desks.delete(host);
    while (desk.waiting.length > 0 && mayOpen(desk)) {
      const batch = desk.waiting.splice(0, shareOf(desk));
      desk.sessions++;
      sessions++;
      void hold(doors, batch).then((held) => {
        desk.sessions--;
        sessions--;
        settle(host, desk, held);
        serve(host, desk);
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
    for (const [host, desk] of desks) serve(host, desk);
  };

  const settle = (host: string, desk: Desk, { unasked, rests }: Held): void => {
    desk.waiting.unshift(...unasked);
    if (!rests) desk.restMs = REST_MS;
    if (!rests) return;
    desk.restsUntil = nowMs() + desk.restMs;
    const pause = doors.sleep(desk.restMs);
    desk.restMs = Math.min(REST_MS_MAX, desk.restMs * 2);
    void pause.then(() => serve(host, desk));
  };

  /** Where a session for few is about to begin, they join it; else chance shares out the load. */
  const isGathering = ({ host }: MailHost): boolean => {
    const waiting = desks.get(host)?.waiting.length ?? 0;
    return waiting > 0 && waiting < RECIPIENTS_SHARED;
  };

  return (question) =>
    new Promise((answer) => {
      const hosts = chosenFirst(question.hosts, isGathering, doors.random);
      const host = hosts[0]?.host ?? "";
      const desk = deskFor(host);
      desk.waiting.push({ ...question, hosts, answer, tries: 0 });
      // Whoever comes in the same moment shares the session.
      if (desk.waiting.length === 1) void doors.sleep(0).then(() => serve(host, desk));
    });
};

const shareOf = ({ limits, waiting, sessions }: Desk): number => {
  const most = limits.recipientsPerTransaction * limits.transactionsPerConnection;
  const even = Math.ceil(waiting.length / (limits.connections - sessions));
  return Math.min(most, Math.max(RECIPIENTS_SHARED, even));
};

type Held = { readonly unasked: readonly Waiting[]; readonly rests: boolean };

/** One session with everybody in the batch: those who got an answer have it, the others come back. */
const hold = async (doors: ProbeDoors, batch: readonly Waiting[]): Promise<Held> => {
  const known = await knownCatchAlls(doors.facts, batch);
  const decoys = new Map(
    batch
      .filter(({ domain, decoy }) => decoy && !known.has(domain))
      .map(({ domain }) => [domain, decoyAt(domain, doors.random)]),
  );
  const tried = await trySession(
    doors.connect,
    batch[0]?.hosts ?? [],
    { ...doors.smtp, recipients: batch.map(({ recipient }) => recipient), decoys },
    { now: doors.now, deadline: new Date(doors.now().getTime() + SESSION_MS) },
  );
  const tested = await learnFrom(doors.facts, tried);
  const catchAllOf = ({ domain }: Waiting): CatchAll =>
    known.get(domain) ?? tested.get(domain) ?? "not_tested";

  const { result } = tried;
  for (const [place, asked] of result.recipients.entries()) {
    const one = batch[place];
    one?.answer(answerFor(tried, asked, catchAllOf(one)));
  }
  const left = batch.slice(result.recipients.length);
  const rests = result.closedBy === "421";
  const patient = left.filter((one) => !isGivenUp(one, tried));
  for (const one of left.filter((other) => isGivenUp(other, tried)))
    one.answer(answerFor(tried, asEnded(one, tried), catchAllOf(one)));
  for (const one of patient) one.tries += countsAsTry(tried) ? 1 : 0;
  return { unasked: patient, rests };
};

/** A session that settled somebody made progress; only one that settled nobody uses up patience. */
const countsAsTry = ({ result }: Tried): boolean =>
  result.recipients.length === 0 || result.closedBy === "lost" || result.closedBy === "deadline";

const isGivenUp = ({ tries }: Waiting, tried: Tried): boolean =>
  countsAsTry(tried) && tries + 1 >= TRIES_MAX;

const asEnded = ({ recipient }: Waiting, { result: { ending } }: Tried): Asked => {
  const heard = ending?.heard ?? "deadline";
  const stage = ending?.stage ?? "rcpt";
  return typeof heard === "string"
    ? { recipient, stage, reply: null, fault: heard }
    : { recipient, stage, reply: heard, fault: null };
};

const answerFor = (tried: Tried, asked: Asked, catchAll: CatchAll): Answer => ({
  finding: findingOf(asked, tried.host),
  reply: asked.reply,
  host: tried.host,
  ip: tried.ip,
  encrypted: tried.result.tls,
  catchAll,
  transcript: tried.transcript,
});

const knownCatchAlls = async (facts: DomainFacts, batch: readonly Waiting[]) => {
  const domains = new Set(batch.map(({ domain }) => domain));
  const known = new Map<string, CatchAll>();
  for (const domain of domains) {
    const catchAll = await facts.catchAllOf(domain);
    if (catchAll) known.set(domain, catchAll);
  }
  return known;
};

const learnFrom = async (facts: DomainFacts, tried: Tried) => {
  const tested = new Map<string, CatchAll>();
  for (const { domain, reply } of tried.result.decoys) {
    const proven = catchAllFrom(reply, tried.host);
    tested.set(domain, proven ?? "undecided");
    if (proven) await facts.learn(domain, proven);
  }
  return tested;
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
