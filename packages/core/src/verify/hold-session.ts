import type { MailHost } from "../mail/mail-hosts.ts";
import type { Finding } from "../mail/smtp/classify.ts";
import { type Tried, trySession } from "../mail/smtp/connect.ts";
import type { Transcript } from "../mail/smtp/converse.ts";
import { decoyAt } from "../mail/smtp/decoy.ts";
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

export type ProbeDoors = {
  readonly connect: Connect;
  readonly facts: DomainFacts;
  readonly now: () => Date;
  readonly random: () => number;
  readonly sleep: (ms: number) => Promise<void>;
  readonly smtp: { readonly helo: string; readonly from: string; readonly port: number };
};

/** A session that hangs this long has told enough; who was not asked is asked in another. */
const SESSION_MS = 120_000;
const TRIES_MAX = 3;

/** Somebody whose answer is still to come. */
export type Waiting = Question & { readonly answer: (answer: Answer) => void; tries: number };

export type Held = { readonly unasked: readonly Waiting[]; readonly refusal: Tried | null };

/** A bug of ours leaves nobody waiting for ever, and is a verdict about nobody's mailbox. */
export const hold = (doors: ProbeDoors, batch: readonly Waiting[]): Promise<Held> =>
  converseWith(doors, batch).catch((): Held => {
    for (const { hosts, answer } of batch) answer(brokenOff(hosts[0]?.host ?? ""));
    return { unasked: [], refusal: null };
  });

/** One session with everybody in the batch: those who got an answer have it, the others come back. */
const converseWith = async (doors: ProbeDoors, batch: readonly Waiting[]): Promise<Held> => {
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
  const patient = left.filter((one) => !isGivenUp(one, tried));
  for (const one of left.filter((other) => isGivenUp(other, tried)))
    one.answer(answerFor(tried, asEnded(one, tried), catchAllOf(one)));
  for (const one of patient) one.tries += countsAsTry(tried) ? 1 : 0;
  return { unasked: patient, refusal: result.closedBy === "421" ? tried : null };
};

export const answerOf = (refusal: Tried, one: Waiting): Answer =>
  answerFor(refusal, asEnded(one, refusal), "not_tested");

const brokenOff = (host: string): Answer => ({
  finding: {
    verdict: "unknown",
    reason: "internal",
    rule: "internal",
    confidence: 1,
    retry: "later",
    aboutUs: true,
  },
  reply: null,
  host,
  ip: "",
  encrypted: false,
  catchAll: "not_tested",
  transcript: [],
});

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
