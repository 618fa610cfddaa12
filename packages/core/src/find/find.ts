import type { Address } from "../mail/address.ts";
import type { Requester } from "../smtp-pool/requester.ts";
import type { Engine } from "../verify/engine.ts";
import { type DomainSignal, type Judgement, judge } from "../verify/judge.ts";
import type { ProbeResult } from "../verify/recipient-check.ts";
import {
  findListings,
  rejectsUnknownRecipients,
  toDnsReason,
  toSignals,
} from "../verify/verify.ts";
import { type Candidate, findUsualPattern, isUsualPattern, listCandidates } from "./candidates.ts";
import { scoreConfidence } from "./confidence.ts";
import type { PatternCounts } from "./items.ts";
import { listNameForms, type Person } from "./name-forms.ts";
import { getNameCoverage, type Pattern } from "./patterns.ts";

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
  /** As verify has it, or why nobody was asked. */
  readonly reason: string;
  readonly email: string | null;
  readonly confidence: number;
  /** How the domain seems to name its mailboxes, as far as that is known. */
  readonly pattern: Pattern | null;
};

/** Which pattern a search has proved right, for whoever asks about this domain next. */
export type FindOutcome = { readonly result: FindResult; readonly learnedPattern: Pattern | null };

/** `domain` in A-labels. */
export type Search = { readonly person: Person; readonly domain: string };

export const INVALID_NAME: FindResult = {
  status: "invalid_name",
  reason: "invalid_name",
  email: null,
  confidence: 0,
  pattern: null,
};

/**
 * One person's address at a domain: guesses, the likeliest first, asked about in one session until one is somebody's.
 * Never rejects for what the internet does.
 */
export const findAddress = async (
  engine: Engine,
  { person, domain }: Search,
  patternCounts: PatternCounts,
  requester?: Requester,
): Promise<FindOutcome> => {
  const noResult = { email: null, confidence: 0, pattern: findUsualPattern(patternCounts) };
  const lookup = await engine.findMailHosts(domain, requester?.account);
  if (lookup.kind === "inconclusive")
    return withoutLearning({ ...noResult, status: "unknown", reason: toDnsReason(lookup.why) });
  if (lookup.kind !== "hosts")
    return withoutLearning({ ...noResult, status: "not_found", reason: lookup.kind });

  const { hosts, implicit } = lookup;
  const mailHost = hosts[0]?.host ?? null;
  const candidates = listCandidates(person, domain, { patternCounts, mailHost }).filter(
    ({ local }) => !engine.lists.trap(`${local}@${domain}`, domain),
  );
  const [likeliest, ...others] = candidates.map(({ local }) => `${local}@${domain}`);
  if (likeliest === undefined)
    return withoutLearning({ ...noResult, status: "not_found", reason: "nobody_accepted" });
  const probeResult = await engine.probe({
    recipient: likeliest,
    fallbacks: others,
    domain,
    hosts,
    probeCatchAll: !rejectsUnknownRecipients(domain, mailHost),
    ...(requester && { requester }),
  });
  const candidate = candidates.find(({ local }) => `${local}@${domain}` === probeResult.recipient);
  if (!candidate) throw new Error("the answer is about nobody who was asked about");
  const at = implicit ? "implicit_mail_host" : "mail_host";
  const judged = judgeCandidate(engine, { candidate, domain, at, probeResult, mailHost });
  const isRole = judged.status === "role" || isRoleName(engine, person, domain);
  return conclude(
    candidate,
    probeResult,
    isRole ? { ...judged, status: "role" } : judged,
    patternCounts,
  );
};

const withoutLearning = (result: FindResult): FindOutcome => ({ result, learnedPattern: null });

/** Role words that people are called by. Dev Patel is a person, though dev@ is none. */
const ALSO_NAMES: ReadonlySet<string> = new Set("ask crew dev job server talent".split(" "));

/** Somebody looks for "Info", at a company: whoever reads info.desk@ is no person either. */
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
};

/** The verdict that verify would give: there is one table for both. */
const judgeCandidate = (
  engine: Engine,
  { candidate: { local }, domain, at, probeResult, mailHost }: ProbedCandidate,
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
      listed: findListings(engine.lists, address),
      domain: at,
      dnsQueries: [],
      mailHost: probeResult.host || mailHost,
      probeResult,
    }),
  );
};

const conclude = (
  candidate: Candidate,
  { recipient: email, finding }: ProbeResult,
  { status, reason }: Judgement,
  patternCounts: PatternCounts,
): FindOutcome => {
  const { pattern } = candidate;
  const usualPattern = findUsualPattern(patternCounts);
  const noResult = { email: null, confidence: 0, pattern: usualPattern };
  if (finding.verdict === "unknown")
    return withoutLearning({ ...noResult, status: "unknown", reason: finding.reason });
  if (finding.verdict === "invalid")
    return withoutLearning({ ...noResult, status: "not_found", reason: "nobody_accepted" });

  const toResult = (
    as: FindStatus,
    why: string,
    verdict: Parameters<typeof scoreConfidence>[1],
  ) => ({
    status: as,
    reason: why,
    email,
    confidence: scoreConfidence(candidate, verdict),
  });
  if (status === "role")
    return withoutLearning({ ...toResult("role", reason, "role"), pattern: usualPattern });
  if (status === "catch_all")
    return withoutLearning({
      ...toResult("catch_all", reason, "catch_all"),
      pattern: usualPattern,
    });
  if (status !== "valid") {
    const isThere = finding.verdict === "risky";
    // A full mailbox teaches nothing: some servers say so to everybody, and no decoy is asked after it.
    return withoutLearning({
      ...toResult("risky", reason, isThere ? "there" : "unproven"),
      pattern: isThere ? pattern : usualPattern,
    });
  }
  // Whose thomas@ is, its name does not tell: another's first name may be this one's last.
  const isNamesakes = getNameCoverage(pattern) === "one" && !isUsualPattern(patternCounts, pattern);
  const result = isNamesakes
    ? toResult("risky", "one_name", "there")
    : toResult("valid", reason, "valid");
  return { result: { ...result, pattern }, learnedPattern: pattern };
};
