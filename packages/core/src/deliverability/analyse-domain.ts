import { analyseBlocklists, type Keys, type Reputation } from "../mail/blocklists/analyse.ts";
import type { IsHealthy } from "../mail/blocklists/health.ts";
import type { Blocklist } from "../mail/blocklists/lists.ts";
import { analyseDkim, type DkimAnalysis } from "../mail/dkim/analyse.ts";
import { analyseDmarc, type DmarcAnalysis } from "../mail/dmarc/analyse.ts";
import { withDeadline } from "../mail/dns/budget.ts";
import { cachedDns } from "../mail/dns/cached.ts";
import type { Dns } from "../mail/dns/dns.ts";
import { inOrder } from "../mail/dns/in-order.ts";
import { isFault, recordsOf } from "../mail/dns/outcome.ts";
import { type Asked, recordedDns } from "../mail/dns/recorded.ts";
import { domainBehindWww } from "../mail/domain.ts";
import { hintsOfBimi } from "../mail/hints/bimi.ts";
import { type FetchPolicy, hintsOfMtaSts } from "../mail/hints/mta-sts.ts";
import { hintIssue } from "../mail/hints/rules.ts";
import { hintsOfTlsRpt } from "../mail/hints/tls-rpt.ts";
import { type Cidr, isPublicIp } from "../mail/ip.ts";
import type { Issue } from "../mail/issue.ts";
import { analyseMx, type MxAnalysis } from "../mail/mx/analyse.ts";
import { LOOKED_UP_MAX } from "../mail/mx/targets.ts";
import { analyseReverseDns, type ReverseDns } from "../mail/reverse-dns.ts";
import { analyseSpf, type SpfAnalysis } from "../mail/spf/analyse.ts";
import { includesIn } from "../mail/spf/record-text.ts";
import type { World } from "../world.ts";
import { type Findings, findingsOf } from "./findings.ts";
import { hintsAboutAnswered, type Recommendation, recommend } from "./recommend.ts";
import { MODEL_VERSION, type Scored, scoreFindings } from "./score.ts";
import { assessSpam, type SpamAssessment } from "./spam-assessment.ts";
import { together } from "./together.ts";

export type Doors = {
  readonly dns: Dns;
  /** Blocklists refuse the resolvers of clouds, so they may be asked through another one. */
  readonly listDns: Dns;
  /** Without it an MTA-STS policy is believed to be what its record in DNS announces. */
  readonly fetchPolicy?: FetchPolicy;
  /** Whether a domain is signed with DNSSEC; undefined is not known. Our own door to names cannot tell. */
  readonly isSigned?: (domain: string) => Promise<boolean | undefined>;
} & Pick<World, "now" | "sleep">;

export type Question = {
  /** In A-labels. */
  readonly domain: string;
  readonly sendingIp?: string | undefined;
  /** A label that nobody can have chosen. */
  readonly randomLabel: string;
  /** Addresses that count as public although they are not, for a lab. */
  readonly allowed: readonly Cidr[];
  readonly blocklists: {
    readonly lists: readonly Blocklist[];
    readonly keys: Keys;
    readonly isHealthy: IsHealthy;
  };
  readonly budgetMs?: number;
};

export type Report = {
  readonly kind: "report";
  readonly domain: string;
  readonly sendingIp: string | null;
  readonly modelVersion: string;
  readonly scored: Scored;
  readonly mx: MxAnalysis;
  readonly spf: SpfAnalysis;
  readonly dkim: DkimAnalysis;
  readonly dmarc: DmarcAnalysis;
  readonly reputation: Reputation;
  /** Null without a sending address. */
  readonly reverseDns: ReverseDns | null;
  readonly hints: readonly Issue[];
  readonly spamAssessment: SpamAssessment;
  readonly recommendations: readonly Recommendation[];
  /** Every question about the domain, without those to blocklists: their names hold our keys. */
  readonly asked: readonly Asked[];
};

/** Nothing was found out about how the domain is set up, so there is nothing to pay for. */
export type NoVerdict = {
  readonly kind: "no_verdict";
  /** Of the questions about the domain's own names. */
  readonly everyLookupTimedOut: boolean;
};

/** Below the ten seconds that a caller may wait, with room for what comes after. */
export const BUDGET_MS = 8_000;
/** A check needs some 110. A hostile zone must not make us ask for ever. */
const QUESTIONS_MAX = 250;
/** Every answer of one check, as large as they may be. */
const ANSWERS_BYTES_MAX = 32 * 1024 * 1024;

/** Everything that DNS tells about how a domain sends and receives mail, and what it comes to. */
export const analyseDomain = async (
  doors: Doors,
  question: Question,
): Promise<Report | NoVerdict> => {
  const budgetMs = question.budgetMs ?? BUDGET_MS;
  const budget = { budgetMs, questionsMax: QUESTIONS_MAX, now: doors.now, sleep: doors.sleep };
  const recorded = recordedDns(withDeadline(inOrder(doors.dns), budget));
  const { asked } = recorded;
  const dns = askingOnce(recorded.dns, doors.now());
  const listDns = askingOnce(withDeadline(inOrder(doors.listDns), budget), doors.now());
  const found = await look(
    dns,
    listDns,
    { ...doors, fetchPolicy: hurried(doors, budgetMs) },
    { ...question, blocklists: patient(question.blocklists, doors, budgetMs) },
  );

  // What this machine could not ask says nothing of the domain, and is not sold.
  if (asked.some(({ kind }) => kind === "internal"))
    return { kind: "no_verdict", everyLookupTimedOut: false };

  const { mx, spf } = together(found.mx, found.spf, found.dmarc);
  const settled = { ...found, mx, spf };
  const findings = findingsIn(settled);
  const scored = scoreFindings(findings);
  if (!scored || isAboutNothing(findings))
    return {
      kind: "no_verdict",
      everyLookupTimedOut: asked
        .filter(({ name }) => isOf(question.domain, name))
        .every(({ kind }) => kind === "timeout"),
    };

  const hints = hintsAboutAnswered(findings, found.hints);
  const unanswered = found.reputation.issues.filter(({ costPoints }) => costPoints === 0);
  return {
    kind: "report",
    domain: question.domain,
    sendingIp: question.sendingIp ?? null,
    modelVersion: MODEL_VERSION,
    scored,
    ...settled,
    hints,
    spamAssessment: assessSpam(findings),
    recommendations: recommend(findings, [...hints, ...hintsAboutAnswered(findings, unanswered)]),
    asked,
  };
};

/** Names above it, and those of addresses, are somebody else's: that these answer says nothing of the domain. */
const isOf = (domain: string, name: string): boolean =>
  name === domain || name.endsWith(`.${domain}`);

/** Within one check, for which no time passes, each question goes out once, whoever asks it. */
const askingOnce = (dns: Dns, startedAt: Date): Dns =>
  cachedDns(dns, { now: () => startedAt, bytesMax: ANSWERS_BYTES_MAX });

/** The time of a check bounds what is fetched, too. */
const hurried = ({ fetchPolicy, sleep }: Doors, budgetMs: number): FetchPolicy | undefined =>
  fetchPolicy &&
  ((url) =>
    Promise.race([
      fetchPolicy(url),
      sleep(budgetMs).then(() => ({ kind: "failed", why: "timeout" }) as const),
    ]));

/**
 * What a list came to is remembered for all checks, so it is tried past the time of this one, which only waits no
 * longer: else a domain that is slow would have the list skipped for everybody.
 */
const patient = (
  blocklists: Question["blocklists"],
  { listDns, now, sleep }: Doors,
  budgetMs: number,
): Question["blocklists"] => {
  const endsAtMs = now().getTime() + budgetMs;
  let over: Promise<false> | undefined;
  return {
    ...blocklists,
    isHealthy: (_, list, zone) => {
      over ??= sleep(Math.max(0, endsAtMs - now().getTime())).then(() => false);
      return Promise.race([blocklists.isHealthy(listDns, list, zone), over]);
    },
  };
};

type Found = Pick<Report, "mx" | "spf" | "dkim" | "dmarc" | "reputation" | "reverseDns" | "hints">;

/** All at once, as far as one does not need what another finds. */
const look = async (
  dns: Dns,
  listDns: Dns,
  doors: Pick<Doors, "isSigned"> & { readonly fetchPolicy: FetchPolicy | undefined },
  question: Question,
): Promise<Found> => {
  const { domain, sendingIp, allowed, randomLabel, blocklists } = question;
  const mxFound = analyseMx(dns, { domain, allowed });
  const dmarcFound = analyseDmarc(dns, { domain });
  const mxHosts = async () =>
    (await mxFound).records.map(({ host }) => host).filter((host) => host !== ".");

  const dkimFound = async () => {
    const [hosts, texts] = await Promise.all([mxHosts(), dns("TXT", domain)]);
    const spfIncludes = includesIn(recordsOf(texts));
    return analyseDkim(dns, { domain, randomLabel, mxHosts: hosts, spfIncludes });
  };
  const reputationFound = async () => {
    const ip = sendingIp ?? (await firstIpv4(dns, await mxHosts(), allowed));
    return analyseBlocklists(listDns, { domain, ip, ...blocklists });
  };
  const hintsFound = async () => {
    const { fetchPolicy } = doors;
    const [ofMtaSts, ofTlsRpt, ofBimi, isSigned] = await Promise.all([
      mxHosts().then((hosts) => hintsOfMtaSts(dns, { domain, mxHosts: hosts, fetchPolicy })),
      hintsOfTlsRpt(dns, domain),
      dmarcFound.then((dmarc) => hintsOfBimi(dns, { domain, dmarc })),
      doors.isSigned?.(domain),
    ]);
    const ofName = hintsOfName(domain);
    return [...ofName, ...ofMtaSts, ...ofTlsRpt, ...ofBimi, ...hintsOfDnssec(domain, isSigned)];
  };

  const [mx, spf, dkim, dmarc, reputation, reverseDns, hints] = await Promise.all([
    mxFound,
    analyseSpf(dns, { domain, sendingIp: sendingIp ?? null }),
    dkimFound(),
    dmarcFound,
    reputationFound(),
    sendingIp === undefined ? null : analyseReverseDns(dns, sendingIp),
    hintsFound(),
  ]);
  return { mx, spf, dkim, dmarc, reputation, reverseDns, hints };
};

/**
 * Where nobody says from where a domain sends, the first of its mail hosts stands for it: never a later one because
 * the first was silent. All of them were looked up before.
 */
const firstIpv4 = async (
  dns: Dns,
  hosts: readonly string[],
  allowed: readonly Cidr[],
): Promise<string | null> => {
  for (const host of hosts.slice(0, LOOKED_UP_MAX)) {
    const outcome = await dns("A", host);
    const ip = recordsOf(outcome).find((one) => isPublicIp(one, allowed));
    if (ip !== undefined || isFault(outcome)) return ip ?? null;
  }
  return null;
};

const hintsOfName = (domain: string): readonly Issue[] => {
  const parent = domainBehindWww(domain);
  return parent === undefined ? [] : [hintIssue("WWW_NAME", { domain, parent })];
};

const hintsOfDnssec = (domain: string, isSigned: boolean | undefined): readonly Issue[] => {
  if (isSigned === undefined) return [];
  return [hintIssue(isSigned ? "DANE_MISSING" : "DNSSEC_MISSING", { domain })];
};

const findingsIn = ({ mx, spf, dkim, dmarc, reputation, reverseDns }: Found): Findings => ({
  dns: findingsOf(mx),
  spf: findingsOf(spf),
  dkim: findingsOf(dkim),
  dmarc: findingsOf(dmarc),
  reputation: findingsOf(reputation),
  ptr: reverseDns && findingsOf(reverseDns),
});

/** What an address is on or called says nothing about how the domain is set up. */
const isAboutNothing = ({ dns, spf, dkim, dmarc }: Findings): boolean =>
  [dns, spf, dkim, dmarc].every((issues) => issues === null);
