import type { Address } from "@mailproof/mail/address";
import {
  getNameCoverage,
  type NameCoverage,
  type Pattern,
  removeMiddle,
} from "@mailproof/mail/signals/address-patterns";
import { NO_DOMAIN_HISTORY } from "../calibration/account-history.ts";
import { findUsualPattern, type PatternCounts } from "../calibration/naming.ts";
import { getRemainingWaitMs } from "../lib/timeout.ts";
import type { ProbeResult } from "../smtp-pool/probe.ts";
import { WAITING_FOR_PROVIDER } from "../smtp-pool/results.ts";
import type { Engine } from "../verify/engine.ts";
import { type Judgement, judge } from "../verify/judge.ts";
import {
  findProviderDoubts,
  type ProviderDoubts,
  planRandomRecipient,
} from "../verify/provider-beliefs.ts";
import type { DomainSignal } from "../verify/signals.ts";
import { findListings, toDnsReason, toSignals, type VerifyOptions } from "../verify/verify.ts";
import { type Candidate, listCandidates } from "./candidates.ts";
import { listNameForms } from "./name-forms.ts";
import type { Person } from "./spelling/spell-word.ts";

/**
 * The likelihood that an existing mailbox belongs to this person and not to a namesake, by how much of the name its pattern
 * contains. These are judgements; docs/scores.md gives the reason for each.
 */
export const IDENTITY_SHARES: Readonly<Record<NameCoverage, number>> = {
  both: 0.97,
  "one and a letter": 0.85,
  one: 0.7,
};

/** The mail server's reply multiplies the likelihood by this factor. */
export const VERDICT_WEIGHTS = {
  valid: 1,
  /** The mailbox exists, but is full, or may be a namesake's. */
  there: 0.75,
  /** The server accepted the recipient and did not show whether it accepts every recipient. */
  unproven: 0.6,
  /** A role account seldom belongs to one person. */
  role: 0.3,
} as const;

/** A catch-all adds no information, and the person may have left. */
export const CATCH_ALL_WEIGHT = 0.85;

type FindVerdict = keyof typeof VERDICT_WEIGHTS | "catch_all";

/** Returns 1 to 99, from the prior likelihood, the mail server's reply, and whether the domain is a catch-all. */
const scoreConfidence = (
  { pattern, share }: { readonly pattern: Pattern; readonly share: number },
  verdict: FindVerdict,
): number => {
  const identity = IDENTITY_SHARES[getNameCoverage(pattern)];
  const chance =
    verdict === "catch_all"
      ? CATCH_ALL_WEIGHT * share
      : VERDICT_WEIGHTS[verdict] * (1 - (1 - identity) * (1 - share));
  return Math.min(99, Math.max(1, Math.round(100 * chance)));
};

export const FIND_STATUSES = [
  "valid",
  "risky",
  "role",
  "unknown",
  "catch_all",
  "not_found",
  "invalid_name",
] as const;

export type FindStatus = (typeof FIND_STATUSES)[number];

export type FindResult = {
  readonly status: FindStatus;
  /** A reason of verify, or the reason that no mail server was asked. */
  readonly reason: string;
  readonly email: string | null;
  readonly confidence: number;
  readonly pattern: Pattern | null;
};

/** `learnedPattern`: the pattern that this search proved, for the next search at this domain. */
export type FindOutcome = {
  readonly result: FindResult;
  readonly learnedPattern: Pattern | null;
  /** Our circuit breaker was open, so no mail server was asked. */
  readonly isWithheld?: boolean | undefined;
};

/** `domain` is in A-labels. */
export type Search = { readonly person: Person; readonly domain: string };

export const INVALID_NAME: FindResult = {
  status: "invalid_name",
  reason: "invalid_name",
  email: null,
  confidence: 0,
  pattern: null,
};

type FindOptions = Pick<VerifyOptions, "requester" | "waitMs">;

/**
 * Finds one person's address at a domain: one session tries the candidates, the likeliest first, until the server accepts one.
 * Never rejects because of the network.
 */
export const findAddress = async (
  engine: Engine,
  { person, domain }: Search,
  patternCounts: PatternCounts,
  { requester, waitMs }: FindOptions = {},
): Promise<FindOutcome> => {
  const startedAtMs = engine.now().getTime();
  const noResult = toNoResult(patternCounts);
  const lookup = await engine.findMailHosts(domain, requester?.account);
  if (lookup.kind === "inconclusive")
    return skipLearning({ ...noResult, status: "unknown", reason: toDnsReason(lookup.why) });
  if (lookup.kind !== "hosts")
    return skipLearning({ ...noResult, status: "not_found", reason: lookup.kind });

  const { hosts, implicit } = lookup;
  const mailHost = hosts[0]?.host ?? null;
  const candidates = listCandidates(person, domain, { patternCounts, mailHost }).filter(
    ({ local }) => !engine.lists.trap(`${local}@${domain}`, domain),
  );
  const [likeliest, ...others] = candidates.map(({ local }) => `${local}@${domain}`);
  if (likeliest === undefined)
    return skipLearning({ ...noResult, status: "not_found", reason: "nobody_accepted" });
  const probeResult = await engine.probe({
    recipient: likeliest,
    fallbacks: others,
    domain,
    hosts,
    ...planRandomRecipient(engine.beliefs, domain, mailHost),
    ...(requester && { requester }),
    ...(waitMs !== undefined && { waitMs: getRemainingWaitMs(engine, startedAtMs, waitMs) }),
  });
  const candidate = candidates.find(({ local }) => `${local}@${domain}` === probeResult.recipient);
  if (!candidate) throw new Error("the result is about no candidate of this search");
  const at = implicit ? "implicit_mail_host" : "mail_host";
  const doubts = await findProviderDoubts(engine.beliefs, probeResult.host || mailHost);
  const judged = judgeCandidate(engine, { candidate, domain, at, probeResult, mailHost, doubts });
  const isRole = judged.status === "role" || isRoleName(engine, person, domain);
  return conclude(
    candidate,
    probeResult,
    isRole ? { ...judged, status: "role" } : judged,
    patternCounts,
  );
};

const toNoResult = (patternCounts: PatternCounts) => ({
  email: null,
  confidence: 0,
  pattern: findUsualPattern(patternCounts),
});

const skipLearning = (result: FindResult): FindOutcome => ({ result, learnedPattern: null });

/** Role words that are names, too: Dev Patel is a person, though dev@ is a role. */
const ALSO_NAMES: ReadonlySet<string> = new Set("ask crew dev job server talent".split(" "));

/** True for a search for a role, such as "Info" at a company, whose mailbox does not belong to one person. */
const isRoleName = ({ lists }: Engine, person: Person, domain: string): boolean =>
  listNameForms(person, domain)?.first.some(
    ({ text }) => !ALSO_NAMES.has(text) && lists.role(text) !== null,
  ) ?? false;

type ProbedCandidate = {
  readonly candidate: Candidate;
  readonly domain: string;
  readonly at: DomainSignal;
  readonly probeResult: ProbeResult;
  readonly mailHost: string | null;
  readonly doubts: ProviderDoubts;
};

/** Judges with the same table as verify, so both give the same verdict. */
const judgeCandidate = (
  engine: Engine,
  { candidate: { local }, domain, at, probeResult, mailHost, doubts }: ProbedCandidate,
): Judgement => {
  const text = `${local}@${domain}`;
  const address: Address = {
    local,
    domain,
    literal: null,
    display: text,
    canonical: text,
    needsSmtpUtf8: false,
  };
  return judge(
    toSignals(engine, {
      text,
      address,
      fault: null,
      canonical: text,
      listed: findListings(engine.lists, address),
      domain: at,
      dnsQueries: [],
      isNameRefused: false,
      mailHost: probeResult.host || mailHost,
      probeResult,
      doubts,
      bouncedAt: null,
      domainHistory: NO_DOMAIN_HISTORY,
    }),
  );
};

const conclude = (
  candidate: Candidate,
  { recipient: email, finding, comeBack, isWithheld }: ProbeResult,
  { status, reason }: Judgement,
  patternCounts: PatternCounts,
): FindOutcome => {
  const { pattern } = candidate;
  const noResult = toNoResult(patternCounts);
  if (comeBack)
    return skipLearning({
      ...noResult,
      status: "unknown",
      reason: comeBack.reason ?? WAITING_FOR_PROVIDER,
    });
  if (finding.verdict === "unknown")
    return {
      ...skipLearning({ ...noResult, status: "unknown", reason: finding.reason }),
      isWithheld,
    };
  if (finding.verdict === "invalid")
    return skipLearning({ ...noResult, status: "not_found", reason: "nobody_accepted" });

  const toResult = (as: FindStatus, why: string, verdict: FindVerdict) => ({
    status: as,
    reason: why,
    email,
    confidence: scoreConfidence(candidate, verdict),
  });
  if (status === "role")
    return skipLearning({ ...toResult("role", reason, "role"), pattern: noResult.pattern });
  if (status === "catch_all")
    return skipLearning({
      ...toResult("catch_all", reason, "catch_all"),
      pattern: noResult.pattern,
    });
  if (status !== "valid") {
    const isThere = finding.verdict === "risky";
    // A full mailbox proves nothing: some servers send this reply for every recipient, and it gets no catch-all probe.
    return skipLearning({
      ...toResult("risky", reason, isThere ? "there" : "unproven"),
      pattern: isThere ? pattern : noResult.pattern,
    });
  }
  const doubt = findIdentityDoubt(pattern, patternCounts);
  const result = doubt ? toResult("risky", doubt, "there") : toResult("valid", reason, "valid");
  return { result: { ...result, pattern }, learnedPattern: pattern };
};

/**
 * Returns why a mailbox may be a namesake's. thomas@ never identifies a person: one person's first name may be another's last
 * name, and a large company has more than one Thomas. tlee@ identifies a person where the domain uses this pattern; elsewhere
 * it may be Tina Lee's.
 */
const findIdentityDoubt = (
  pattern: Pattern,
  patternCounts: PatternCounts,
): "one_name" | "one_initial" | null => {
  const coverage = getNameCoverage(pattern);
  if (coverage === "one") return "one_name";
  if (coverage === "both" || findUsualPattern(patternCounts) === removeMiddle(pattern)) return null;
  return "one_initial";
};
