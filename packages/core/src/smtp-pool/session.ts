import type { MailHost } from "@mailproof/mail/dns/mail-hosts";
import { type BoundedMap, createBoundedMap } from "@mailproof/mail/lib/bounded-map";
import type { ProbePolicy } from "@mailproof/mail/probe-policy";
import { asksForBackoff, classify } from "@mailproof/mail/smtp/classify";
import {
  findFirstChoice,
  isBackup,
  type SessionOutcome,
  trySession,
} from "@mailproof/mail/smtp/connect";
import type { TimeLimit } from "@mailproof/mail/smtp/converse";
import type { ChooseWitness, RecipientResult } from "@mailproof/mail/smtp/session";
import { isThrottled } from "@mailproof/mail/smtp/session-stop";
import { isFault, type SmtpConnect } from "@mailproof/mail/smtp/wire";
import type { World } from "../ports/world.ts";
import type { CatchAllCache } from "./catch-all-cache.ts";
import {
  type CanaryRecord,
  chooseRandomRecipients,
  countAcceptances,
  findContrasts,
  findProvenBefore,
  groupByJob,
  learnCatchAll,
  loadCatchAllStates,
  readByContrast,
  toAccountDomainKey,
} from "./catch-all-probe.ts";
import type { CircuitBreaker } from "./circuit-breaker/circuit-breaker.ts";
import { createYieldingConnect } from "./connect.ts";
import type { DailyQuota } from "./daily-limits.ts";
import type { EgressHealth, Exits, WarmUp } from "./exits.ts";
import type { YieldToCallers } from "./fairness.ts";
import type { AnsweredProbe, CatchAll, PendingProbe, SessionSummary } from "./probe.ts";
import {
  classifyResult,
  createBrokenResult,
  createProbeResult,
  NO_SESSION,
  toFinding,
  toProbeResult,
} from "./results.ts";
import type { OnSession } from "./session-report.ts";
import { SESSION_MS, type SlotPool } from "./slots/slots.ts";
import type { Witnesses } from "./witnesses.ts";

export type ProbePorts = {
  readonly connect: SmtpConnect;
  readonly catchAllCache: CatchAllCache;
  /** Absent: every provider is probed. */
  readonly probePolicy?: ProbePolicy | undefined;
  /** Absent: canaries are not counted. */
  readonly canaries?: CanaryRecord;
  readonly now: () => Date;
  readonly random: () => number;
  readonly sleep: World["sleep"];
  readonly smtp: { readonly helo: string; readonly from: string; readonly port: number };
  /** Absent when this process is the only one. */
  readonly slots?: SlotPool;
  /** Absent: this process counts refusals of us alone. */
  readonly breaker?: CircuitBreaker;
  /** Absent: every exit has each provider's full limits. */
  readonly warmUp?: WarmUp | undefined;
  /** Absent: mail hosts have no daily limits. */
  readonly quota?: DailyQuota;
  /** Absent when the operator named no witness. */
  readonly witnesses?: Witnesses;
  /** How many sessions this process may have open at a time. */
  readonly sessionsMax?: number;
  readonly yieldToCallers?: YieldToCallers;
  /** Tells whether this thread was idle lately. Absent: the thread always counts as idle. */
  readonly hasTime?: () => boolean;
  /** Called when a session has ended, for metrics and traces. */
  readonly onSession?: OnSession;
};

export type SessionPorts = ProbePorts & {
  readonly egress: EgressHealth;
  readonly exits: Exits;
  readonly slots: SlotPool;
  readonly breaker: CircuitBreaker;
  readonly quota: DailyQuota;
  /** Per mail host: the number of refusals in one session after which the host ended the session. */
  readonly refusalBudgets: BoundedMap<number>;
  /** After `tried` recipients of the batch: whether the session ends early, for a caller that waits. */
  readonly shouldEnd?: (tried: number) => boolean;
  readonly chooseWitness?: ChooseWitness | undefined;
  /** False: the session sends one command at a time, because the host lost a session with several under way. */
  readonly pipelining?: boolean;
};

/** If the map drops a budget, the server's limit ends one more session. */
export const createRefusalBudgets = () => createBoundedMap<number>({ weightMax: 10_000 });

/** After failures of this weight a recipient gets no further session. A session without a result weighs more than one cut short. */
const FAILURES_MAX = 12;
const FAILURE_WEIGHTS = { settledNone: 4, cutShort: 1 } as const;

/** A bug of ours must not leave a recipient waiting for ever; its result is no evidence about a mailbox. */
export const runSession = (
  ports: SessionPorts,
  batch: readonly PendingProbe[],
): Promise<SessionSummary> =>
  runBatch(ports, batch).catch(() => ({
    ...NO_SESSION,
    answered: batch.map((one) => ({
      one,
      probeResult: createBrokenResult(one),
      wasTried: false,
    })),
    needsCooldown: true,
  }));

/** Runs one session with the whole batch. Recipients without a result are in `remaining`. */
const runBatch = async (
  ports: SessionPorts,
  recipients: readonly PendingProbe[],
): Promise<SessionSummary> => {
  const batch = sortByDomain(recipients);
  const states = await loadCatchAllStates(ports.catchAllCache, batch);
  const jobs = groupByJob(batch);
  const hosts = batch[0]?.hosts ?? [];
  const expectedHost = hosts[0]?.host ?? "";
  const provenBefore = findProvenBefore(ports.catchAllCache, jobs, expectedHost);
  const randomRecipients = chooseRandomRecipients(ports.random, provenBefore, batch, states);
  const isPatient = batch.some((one) => one.isPatient);
  const outcome = await trySession(
    createYieldingConnect(ports, batch),
    hosts,
    {
      ...ports.smtp,
      ...toSessionRecipients(ports, batch),
      randomRecipients,
      shouldEnd: ports.shouldEnd,
      chooseWitness: ports.chooseWitness,
      findRefusalBudget: (host) => ports.refusalBudgets.get(host),
      ...(ports.pipelining === false && { pipelining: false }),
      isPatient,
    },
    createTimeLimit(ports, isPatient),
  );
  ports.egress.recordAttempt(outcome);
  const preparation = { batch, states, randomRecipients, isBackup: isBackup(hosts, outcome.host) };
  const proven = await learnCatchAll(ports, outcome, preparation);
  countAcceptances(ports.catchAllCache, { batch, jobs }, outcome, proven);
  const getCatchAll = (one: PendingProbe): CatchAll => {
    const shown = proven.get(one.domain);
    if (shown) return shown;
    if (states.get(toAccountDomainKey(one))?.state.acceptsEveryone) return "yes";
    if (proven.has(one.domain)) return "undecided";
    return provenBefore.has(one) && outcome.host === expectedHost ? "no" : "not_tested";
  };

  const { result: session } = outcome;
  const unknownRecipients = new Set(session.unknownRecipients);
  for (const one of batch) dropUnknownRecipients(one, unknownRecipients);
  const answer = createAnswerReader(ports, outcome, { hosts, randomRecipients });
  const reached = batch.flatMap((one, index): AnsweredProbe[] => {
    const recipientResult = session.recipients[index];
    if (!recipientResult) return [];
    const randomRecipient = randomRecipients.get(one.domain);
    return [answer(one, recipientResult, { catchAll: getCatchAll(one), randomRecipient })];
  });
  const left = batch.slice(session.recipients.length);
  const patient = left.filter((one) => !isGivenUp(one, outcome));
  const givenUp = left
    .filter((one) => isGivenUp(one, outcome))
    .map((one) => ({
      one,
      probeResult: toProbeResult(ports, outcome, one, getCatchAll(one)),
      wasTried: false,
    }));
  for (const one of patient) one.failures += getFailureWeight(outcome);
  const budget = findSpentBudget(outcome);
  if (budget !== undefined) ports.refusalBudgets.set(outcome.host, budget);
  const refusal = budget === undefined && wasAskedToLeave(outcome) ? outcome : null;
  return {
    answered: [...reached, ...givenUp],
    remaining: patient,
    host: outcome.host,
    attempts: outcome.attempts,
    witness: session.witness,
    refusal,
    needsCooldown: session.closedBy === "lost",
    lostFlight: session.closedBy === "lost" && session.extensions.includes("PIPELINING"),
  };
};

type DomainAnswer = {
  readonly catchAll: CatchAll;
  readonly randomRecipient: string | undefined;
};

type AskedHosts = {
  readonly hosts: readonly MailHost[];
  readonly randomRecipients: ReadonlyMap<string, string>;
};

/** A backup host proves a mailbox only when it knows the mailboxes. Otherwise the first host decides for the domain. */
const createAnswerReader = (
  ports: SessionPorts,
  outcome: SessionOutcome,
  { hosts, randomRecipients }: AskedHosts,
) => {
  const { transcript, attempts } = outcome;
  const firstChoice = findFirstChoice(hosts, outcome);
  const contrasts = findContrasts(outcome, randomRecipients);
  return (
    one: PendingProbe,
    recipientResult: RecipientResult,
    { catchAll, randomRecipient }: DomainAnswer,
  ): AnsweredProbe => {
    const finding = readByContrast(
      classifyResult(ports, outcome, recipientResult),
      recipientResult,
      contrasts.get(one.domain),
    );
    if (firstChoice && !(finding.verdict === "valid" && catchAll === "no")) {
      const deciding = { ...firstChoice, transcript, attempts };
      return { one, probeResult: toProbeResult(ports, deciding, one), wasTried: false };
    }
    return {
      one,
      probeResult: createProbeResult(
        outcome,
        one,
        recipientResult,
        finding,
        catchAll,
        randomRecipient,
      ),
      wasTried: recipientResult.stage === "rcpt" && recipientResult.reply !== null,
    };
  };
};

/** Sorts recipients of one domain together for servers that accept only one domain per transaction. Callers stay first. */
const sortByDomain = (batch: readonly PendingProbe[]): readonly PendingProbe[] => {
  const domains = new Map<string, number>();
  for (const { domain } of batch) if (!domains.has(domain)) domains.set(domain, domains.size);
  const rank = ({ requester: { priority }, domain }: PendingProbe): number =>
    (priority === "caller" ? 0 : domains.size) + (domains.get(domain) ?? 0);
  return domains.size > 1 ? batch.toSorted((a, b) => rank(a) - rank(b)) : batch;
};

const toSessionRecipients = ({ smtp }: SessionPorts, batch: readonly PendingProbe[]) => ({
  recipients: batch.map(({ recipient }) => recipient),
  fallbacks: {
    byRecipient: batch.map(({ fallbacks }) => fallbacks),
    isUnknownRecipient: (recipientResult: RecipientResult, mxHost: string) =>
      toFinding(recipientResult, mxHost, smtp.from).verdict === "invalid",
  },
});

/** Removes the guesses that the server refused as unknown, except the last one, so that no session asks again. */
const dropUnknownRecipients = (one: PendingProbe, unknownRecipients: ReadonlySet<string>): void => {
  if (one.fallbacks.length === 0) return;
  const guesses = [one.recipient, ...one.fallbacks];
  one.unknownRecipients = [
    ...one.unknownRecipients,
    ...guesses.filter((guess) => unknownRecipients.has(guess)),
  ];
  const [recipient = one.recipient, ...fallbacks] = guesses.filter(
    (guess) => !unknownRecipients.has(guess),
  );
  one.recipient = recipient;
  one.fallbacks = fallbacks;
};

const getFailureWeight = ({ result }: SessionOutcome): number => {
  if (result.recipients.length + result.unknownRecipients.length === 0)
    return FAILURE_WEIGHTS.settledNone;
  return result.closedBy === "lost" || result.closedBy === "deadline"
    ? FAILURE_WEIGHTS.cutShort
    : 0;
};

const isGivenUp = ({ failures }: PendingProbe, outcome: SessionOutcome): boolean =>
  getFailureWeight(outcome) > 0 && failures + getFailureWeight(outcome) >= FAILURES_MAX;

/**
 * The refusals after which the server ended the session by a 421 that blames them, or by words that no rule knows. They were
 * our own recipients, so the next session asks about fewer unknown ones, at once. Undefined: the session ended for another
 * reason, or nearly none was refused: then the words are about us.
 */
const findSpentBudget = ({ host, result }: SessionOutcome): number | undefined => {
  const { ending, recipients, catchAllProbes, unknownRecipients } = result;
  if (!ending || isFault(ending.reply) || ending.stage !== "rcpt") return undefined;
  if (ending.reply.code !== 421) return undefined;
  const { rule } = classify(ending.reply, { stage: "rcpt", mxHost: host });
  if (!BUDGET_RULES.has(rule)) return undefined;
  const replies = [...recipients, ...catchAllProbes].map(({ reply }) => reply);
  const refused =
    replies.filter((reply) => reply !== null && reply.code >= 500).length +
    unknownRecipients.length;
  return refused >= BUDGET_LEAST ? refused : undefined;
};

/** The rules of "too many errors" (about-us.ts) and of words that no rule knows, in whatever language (classify.ts). */
const BUDGET_RULES = new Set(["too_many_errors", "any_4xx"]);
const BUDGET_LEAST = 2;

/**
 * The server asked us to come back later, whichever the recipient: by a 421, by words against harvesters, or by a 4.7.x
 * before any recipient was named.
 */
const wasAskedToLeave = ({ host, result: { closedBy, ending } }: SessionOutcome): boolean => {
  if (closedBy === "421" || closedBy === "backoff") return true;
  if (closedBy !== "refused" || !ending || isFault(ending.reply)) return false;
  const { stage, reply } = ending;
  if (stage === "connect") return false;
  const context = { stage, mxHost: host };
  if (asksForBackoff(reply, context)) return true;
  if (isThrottled({ ending }, host)) return true;
  return reply.code < 500 && reply.enhanced !== null && reply.enhanced.startsWith("4.7.");
};

/**
 * The longest session with a tarpit, or with a host that was silent before: room for four of its replies. Such sessions are
 * rare, so it does no harm when another process acquires their slot meanwhile.
 */
const PATIENT_SESSION_MS = 240_000;

const createTimeLimit = ({ now }: { readonly now: () => Date }, isPatient: boolean): TimeLimit => {
  const nowMs = now().getTime();
  const patientDeadline = new Date(nowMs + PATIENT_SESSION_MS);
  return {
    now,
    deadline: isPatient ? patientDeadline : new Date(nowMs + SESSION_MS),
    patientDeadline,
  };
};
