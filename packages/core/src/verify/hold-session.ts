import { asksForBackoff, type Finding } from "../mail/smtp/classify.ts";
import { type Tried, trySession } from "../mail/smtp/connect.ts";
import type { Asked } from "../mail/smtp/session.ts";
import { type Connect, isFault } from "../mail/smtp/wire.ts";
import type { DailyQuota } from "./daily-limits.ts";
import type { DomainFacts } from "./domain-facts.ts";
import type { EgressWatch } from "./egress-watch.ts";
import { findingOf } from "./finding.ts";
import type { Places } from "./places.ts";
import type { Answer, Waiting } from "./recipient-check.ts";
import { type Ended, NOTHING_MET } from "./rest.ts";
import type { CatchAll } from "./result.ts";
import { decoysFor, knownFacts, knownKey, learnFrom } from "./session-facts.ts";
import { brokenOff } from "./unasked.ts";

export type ProbeDoors = {
  readonly connect: Connect;
  readonly facts: DomainFacts;
  readonly now: () => Date;
  readonly random: () => number;
  readonly sleep: (ms: number) => Promise<void>;
  readonly smtp: { readonly helo: string; readonly from: string; readonly port: number };
  /** Without it this process is the only one. */
  readonly places?: Places;
  /** Without it no mail host has a limit for the day. */
  readonly quota?: DailyQuota;
  /** How many sessions this process may hold at a time. */
  readonly sessionsMax?: number;
};

export type SessionDoors = ProbeDoors & {
  readonly egress: EgressWatch;
  readonly places: Places;
  readonly quota: DailyQuota;
  /** After so many recipients of the batch: whether the session is to end early, for a caller who waits. */
  readonly isToEnd?: (asked: number) => boolean;
};

/** A session that hangs this long has told enough; who was not asked is asked in another. */
export const SESSION_MS = 120_000;
/** A session that settled nobody weighs more than one that was cut short among many; beyond this we give up. */
const STRAIN_MAX = 12;
const STRAIN = { settledNobody: 4, cutShort: 1 } as const;

export type Held = Ended & {
  /** What was found out, to be told when the place is given back. */
  readonly answered: readonly Answered[];
  readonly unasked: readonly Waiting[];
  /** Who talked to us in the end, where it was not the first host. */
  readonly host: string;
};

/** `isNamed`: the server was asked about the recipient, and replied. */
type Answered = { readonly one: Waiting; readonly answer: Answer; readonly isNamed: boolean };

/** A bug of ours leaves nobody waiting for ever, and is a verdict about nobody's mailbox. */
export const hold = (doors: SessionDoors, batch: readonly Waiting[]): Promise<Held> =>
  converseWith(doors, batch).catch((): Held => {
    const answered = batch.map((one) => ({ one, answer: brokenOff(one), isNamed: false }));
    return { ...NOTHING_MET, answered, unasked: [], host: "", strained: true };
  });

/** One session with everybody in the batch: those who got an answer have it, the others come back. */
const converseWith = async (doors: SessionDoors, batch: readonly Waiting[]): Promise<Held> => {
  const known = await knownFacts(doors.facts, batch);
  const decoys = decoysFor(doors.random, batch, known);
  const tried = await trySession(
    doors.connect,
    batch[0]?.hosts ?? [],
    { ...doors.smtp, ...recipientsOf(doors, batch), decoys, isToEnd: doors.isToEnd },
    { now: doors.now, deadline: new Date(doors.now().getTime() + SESSION_MS) },
  );
  doors.egress.note(tried);
  const tested = await learnFrom(doors.facts, tried, { known, decoys });
  const catchAllOf = (one: Waiting): CatchAll =>
    tested.get(one.domain) ??
    known.get(knownKey(one))?.facts.catchAll ??
    (tested.has(one.domain) ? "undecided" : "not_tested");

  const { result } = tried;
  for (const one of batch) dropNobody(one, new Set(result.nobody));
  const found = (asked: Asked) => findingBy(doors, tried, asked);
  const asked = batch.flatMap((one, place): Answered[] => {
    const said = result.recipients[place];
    if (!said) return [];
    const decoy = decoys.get(one.domain);
    const answer = answerFor(tried, one, said, found(said), catchAllOf(one), decoy);
    return [{ one, answer, isNamed: said.stage === "rcpt" && said.reply !== null }];
  });
  const left = batch.slice(result.recipients.length);
  const patient = left.filter((one) => !isGivenUp(one, tried));
  const givenUp = left
    .filter((one) => isGivenUp(one, tried))
    .map((one) => ({
      one,
      answer: answerOf(doors, tried, one, catchAllOf(one)),
      isNamed: false,
    }));
  for (const one of patient) one.strain += strainOf(tried);
  const refusal = isToLeave(tried) ? tried : null;
  return {
    answered: [...asked, ...givenUp],
    unasked: patient,
    host: tried.host,
    refusal,
    strained: result.closedBy === "lost",
  };
};

const recipientsOf = ({ smtp }: SessionDoors, batch: readonly Waiting[]) => ({
  recipients: batch.map(({ recipient }) => recipient),
  otherwise: {
    at: batch.map(({ otherwise }) => otherwise),
    isNobody: (asked: Asked, mxHost: string) =>
      findingOf(asked, mxHost, smtp.from).verdict === "invalid",
  },
});

/** What is known already is not asked again in the next session. Whoever was asked about last is never among it. */
const dropNobody = (one: Waiting, nobody: ReadonlySet<string>): void => {
  if (one.otherwise.length === 0) return;
  const guesses = [one.recipient, ...one.otherwise];
  one.nobody = [...one.nobody, ...guesses.filter((guess) => nobody.has(guess))];
  const [recipient = one.recipient, ...otherwise] = guesses.filter((guess) => !nobody.has(guess));
  one.recipient = recipient;
  one.otherwise = otherwise;
};

/** For whoever was not reached any more: what ended the session is all there is to say. */
export const answerOf = (
  doors: SessionDoors,
  tried: Tried,
  one: Waiting,
  catchAll: CatchAll = "not_tested",
): Answer => {
  const ended = asEnded(one, tried);
  return answerFor(tried, one, ended, findingBy(doors, tried, ended), catchAll);
};

const findingBy = ({ smtp, egress }: SessionDoors, tried: Tried, asked: Asked): Finding => {
  const finding = findingOf(asked, tried.host, smtp.from);
  return finding.reason === "connect_failed" && egress.isClosed()
    ? { ...finding, reason: "no_smtp_egress" }
    : finding;
};

const strainOf = ({ result }: Tried): number => {
  if (result.recipients.length + result.nobody.length === 0) return STRAIN.settledNobody;
  return result.closedBy === "lost" || result.closedBy === "deadline" ? STRAIN.cutShort : 0;
};

const isGivenUp = ({ strain }: Waiting, tried: Tried): boolean =>
  strainOf(tried) > 0 && strain + strainOf(tried) >= STRAIN_MAX;

/**
 * Asked to come back later, whoever we ask about: by a 421, by words against harvesters, or by a 4.7.x before any
 * recipient was named.
 */
const isToLeave = ({ host, result: { closedBy, ending } }: Tried): boolean => {
  if (closedBy === "421" || closedBy === "backoff") return true;
  if (closedBy !== "refused" || !ending || isFault(ending.heard)) return false;
  const { stage, heard } = ending;
  if (stage !== "connect" && asksForBackoff(heard, { stage, mxHost: host })) return true;
  return heard.code < 500 && heard.enhanced !== null && heard.enhanced.startsWith("4.7.");
};

const asEnded = ({ recipient }: Waiting, { result: { ending } }: Tried): Asked => {
  const heard = ending?.heard ?? "deadline";
  const stage = ending?.stage ?? "rcpt";
  return typeof heard === "string"
    ? { recipient, stage, reply: null, fault: heard }
    : { recipient, stage, reply: heard, fault: null };
};

const answerFor = (
  tried: Tried,
  { nobody }: Waiting,
  asked: Asked,
  finding: Finding,
  catchAll: CatchAll,
  decoy: string | null = null,
): Answer => ({
  recipient: asked.recipient,
  nobody,
  finding,
  reply: asked.reply,
  host: tried.host,
  ip: tried.ip,
  encrypted: tried.result.tls,
  catchAll,
  transcript: tried.transcript,
  decoy,
});
