import {
  analyseBlocklists,
  type BlocklistKeys,
  type Reputation,
} from "@mailproof/mail/blocklists/analyse";
import { type IsHealthy, limitHealthWait } from "@mailproof/mail/blocklists/health";
import type { Blocklist } from "@mailproof/mail/blocklists/lists";
import { analyseDkim, type DkimAnalysis } from "@mailproof/mail/dkim/analyse";
import { analyseDmarc, type DmarcAnalysis } from "@mailproof/mail/dmarc/analyse";
import { cacheDns } from "@mailproof/mail/dns/cache";
import { withDeadline } from "@mailproof/mail/dns/deadline";
import { type Dns, getRecords, isFault } from "@mailproof/mail/dns/dns";
import { type RecordedQuery, recordQueries } from "@mailproof/mail/dns/mail-hosts";
import { analyseReverseDns, type ReverseDns } from "@mailproof/mail/dns/reverse-dns";
import { sortRecords } from "@mailproof/mail/dns/sort-records";
import { removeWww } from "@mailproof/mail/domain";
import { findBimiHints } from "@mailproof/mail/hints/bimi";
import { findDaneHints } from "@mailproof/mail/hints/dane";
import { findEmailVerificationHints } from "@mailproof/mail/hints/email-verification";
import type { FetchDocument } from "@mailproof/mail/hints/fetched-document";
import { findMtaStsHints } from "@mailproof/mail/hints/mta-sts";
import { createHint, isNote } from "@mailproof/mail/hints/rules";
import { findTlsRptHints } from "@mailproof/mail/hints/tls-rpt";
import { type Cidr, isPublicIp } from "@mailproof/mail/ip";
import type { Issue } from "@mailproof/mail/issue";
import { analyseMx, type MxAnalysis } from "@mailproof/mail/mx/analyse";
import { LOOKED_UP_MAX } from "@mailproof/mail/mx/targets";
import { analyseSpf, type SpfAnalysis } from "@mailproof/mail/spf/analyse";
import { listIncludes } from "@mailproof/mail/spf/parse";
import type { World } from "../ports/world.ts";
import { crossCheck } from "./cross-checks.ts";
import { type CheckComponent, type Findings, toFindings } from "./findings.ts";
import { proposeRecords } from "./propose-records.ts";
import {
  dropUnansweredHints,
  getPartOfHint,
  type Recommendation,
  recommendRecords,
} from "./recommend.ts";
import { MODEL_VERSION, type ScoreResult, scoreFindings } from "./score.ts";
import { assessSpam, type SpamAssessment } from "./spam-assessment.ts";

export type AnalysisPorts = {
  readonly dns: Dns;
  /** Blocklists refuse the resolvers of clouds, so their queries may use another resolver. */
  readonly listDns: Dns;
  /** Absent when the check skips documents that DNS records refer to, such as an MTA-STS policy or a logo. */
  readonly fetchDocument?: FetchDocument;
} & Pick<World, "now" | "sleep">;

export type AnalysisRequest = {
  readonly domain: string;
  readonly sendingIp?: string | undefined;
  readonly reportsMailbox?: string | undefined;
  /** No zone contains this random label on purpose. */
  readonly randomLabel: string;
  /** DKIM selectors of the operator's list, queried at every domain. */
  readonly dkimSelectors: readonly string[];
  /** Addresses that count as public although they are not, such as the lab's. */
  readonly allowed: readonly Cidr[];
  readonly blocklists: {
    readonly lists: readonly Blocklist[];
    readonly keys: BlocklistKeys;
    readonly isHealthy: IsHealthy;
  };
  readonly budgetMs?: number;
};

export type CheckReport = {
  readonly kind: "report";
  readonly domain: string;
  readonly sendingIp: string | null;
  readonly modelVersion: string;
  readonly scored: ScoreResult;
  readonly mx: MxAnalysis;
  readonly spf: SpfAnalysis;
  readonly dkim: DkimAnalysis;
  readonly dmarc: DmarcAnalysis;
  readonly reputation: Reputation;
  readonly reverseDns: ReverseDns | null;
  readonly hints: readonly Issue[];
  readonly spamAssessment: SpamAssessment;
  readonly recommendations: readonly Recommendation[];
  /** The score with the recommended SPF and DMARC records. Null without such a record; absent in old checks. */
  readonly afterRecords?: Pick<ScoreResult, "score" | "grade"> | null;
  /** Every query about the domain, except those to blocklists, whose names contain our keys. */
  readonly dnsQueries: readonly RecordedQuery[];
};

/** The check found out nothing about the domain's set-up, so it is not charged. */
export type NoVerdict = {
  readonly kind: "no_verdict";
  /** No query about the domain's own names got an answer, or this machine could not send a query. */
  readonly why: "unanswered" | "internal";
};

/** Below the ten seconds that a caller may wait, with time for the work after the check. */
export const BUDGET_MS = 8_000;
/** A check needs about 120 queries. The limit stops a hostile zone from causing queries without end. */
const QUESTIONS_MAX = 250;
/** The largest possible answers of one check together. */
const ANSWERS_BYTES_MAX = 32 * 1024 * 1024;

export const analyseDomain = async (
  ports: AnalysisPorts,
  request: AnalysisRequest,
): Promise<CheckReport | NoVerdict> => {
  const budgetMs = request.budgetMs ?? BUDGET_MS;
  const budget = { budgetMs, questionsMax: QUESTIONS_MAX, now: ports.now, sleep: ports.sleep };
  const recorder = recordQueries(withDeadline(sortRecords(ports.dns), budget));
  const { queries: dnsQueries } = recorder;
  const dns = cacheQuestions(recorder.dns, ports.now());
  const listDns = cacheQuestions(withDeadline(sortRecords(ports.listDns), budget), ports.now());
  const analyses = await runAnalyses(dns, listDns, limitFetchTime(ports, budgetMs), {
    ...request,
    blocklists: {
      ...request.blocklists,
      isHealthy: limitHealthWait(request.blocklists.isHealthy, ports, budgetMs),
    },
  });

  const ownQueries = dnsQueries.filter(({ name }) => isOwnName(request.domain, name));
  if (ownQueries.some(isUnanswered) && !ownQueries.some(isAnswered)) return UNANSWERED;
  // A query that this machine could not send is no evidence about the domain, and the check is not charged.
  if (dnsQueries.some(({ kind }) => kind === "internal"))
    return { kind: "no_verdict", why: "internal" };

  const { mx, spf } = crossCheck(analyses.mx, analyses.spf, analyses.dmarc);
  const corrected = { ...analyses, mx, spf };
  const findings = collectFindings(corrected);
  const scored = scoreFindings(findings);
  if (!scored || hasNoVerdict(findings)) return UNANSWERED;

  const answered = dropUnansweredHints(findings, analyses.hints);
  const hints = answered.filter((hint) => !isNote(hint));
  const notesOf = (part: CheckComponent) =>
    answered.filter((hint) => isNote(hint) && getPartOfHint(hint) === part);
  const proposals = await proposeRecords(dns, {
    domain: request.domain,
    sendingIp: request.sendingIp ?? null,
    now: ports.now(),
    ...analyses,
    findings,
    reportsMailbox: request.reportsMailbox,
  });
  const after = proposals.isBetter ? scoreFindings(proposals.after) : null;
  const unanswered = analyses.reputation.issues.filter(({ costPoints }) => costPoints === 0);
  return {
    kind: "report",
    domain: request.domain,
    sendingIp: request.sendingIp ?? null,
    modelVersion: MODEL_VERSION,
    scored,
    ...corrected,
    mx: { ...mx, issues: [...mx.issues, ...notesOf("dns")] },
    dmarc: { ...corrected.dmarc, issues: [...corrected.dmarc.issues, ...notesOf("dmarc")] },
    hints,
    spamAssessment: assessSpam(findings),
    recommendations: await recommendRecords(
      findings,
      [...hints, ...dropUnansweredHints(findings, unanswered)],
      proposals,
    ),
    afterRecords: after && { score: after.score, grade: after.grade },
    dnsQueries,
  };
};

const UNANSWERED: NoVerdict = { kind: "no_verdict", why: "unanswered" };

/** A name server that is silent, fails or refuses says nothing about the domain. */
const isUnanswered = ({ kind }: RecordedQuery): boolean =>
  kind === "timeout" || kind === "servfail" || kind === "refused";

const isAnswered = (query: RecordedQuery): boolean =>
  !isUnanswered(query) && query.kind !== "internal";

/** Parent names and names of addresses belong to others: their answers say nothing about the domain. */
const isOwnName = (domain: string, name: string): boolean =>
  name === domain || name.endsWith(`.${domain}`);

/** Sends each query once per check, for all analysers. The clock stands still, so nothing expires within a check. */
const cacheQuestions = (dns: Dns, startedAt: Date): Dns =>
  cacheDns(dns, { now: () => startedAt, bytesMax: ANSWERS_BYTES_MAX });

/** The check's time limit also applies to its fetches, whenever they begin. */
const limitFetchTime = (
  { fetchDocument, now, sleep }: AnalysisPorts,
  budgetMs: number,
): FetchDocument | undefined => {
  const endsAtMs = now().getTime() + budgetMs;
  return (
    fetchDocument &&
    ((url) =>
      Promise.race([
        fetchDocument(url),
        sleep(Math.max(0, endsAtMs - now().getTime())).then(
          () => ({ kind: "failed", why: "timeout" }) as const,
        ),
      ]))
  );
};

type DomainAnalyses = Pick<
  CheckReport,
  "mx" | "spf" | "dkim" | "dmarc" | "reputation" | "reverseDns" | "hints"
>;

const runAnalyses = async (
  dns: Dns,
  listDns: Dns,
  fetchDocument: FetchDocument | undefined,
  request: AnalysisRequest,
): Promise<DomainAnalyses> => {
  const { domain, sendingIp, allowed, randomLabel, dkimSelectors, blocklists } = request;
  const mxAnalysis = analyseMx(dns, { domain, allowed });
  const dmarcAnalysis = analyseDmarc(dns, { domain });
  const mxHosts = async () =>
    (await mxAnalysis).records.map(({ host }) => host).filter((host) => host !== ".");

  const runDkim = async () => {
    const [hosts, texts] = await Promise.all([mxHosts(), dns("TXT", domain)]);
    const spfIncludes = listIncludes(getRecords(texts));
    const traces = { mxHosts: hosts, spfIncludes, ownSelectors: dkimSelectors };
    return analyseDkim(dns, { domain, randomLabel, ...traces });
  };
  const runReputation = async () => {
    const ip = sendingIp ?? (await findFirstIpv4(dns, await mxHosts(), allowed));
    return analyseBlocklists(listDns, { domain, ip, ...blocklists });
  };
  const runHints = async () => {
    const found = await Promise.all([
      mxHosts().then((hosts) => findMtaStsHints(dns, { domain, mxHosts: hosts, fetchDocument })),
      findTlsRptHints(dns, domain),
      dmarcAnalysis.then((dmarc) => findBimiHints(dns, { domain, dmarc, fetchDocument })),
      mxHosts().then((hosts) => findDaneHints(dns, { domain, mxHosts: hosts })),
      findEmailVerificationHints(dns, { domain, fetchDocument }),
    ]);
    return [...findNameHints(domain), ...found.flat()];
  };

  const [mx, spf, dkim, dmarc, reputation, reverseDns, hints] = await Promise.all([
    mxAnalysis,
    analyseSpf(dns, { domain, sendingIp: sendingIp ?? null }),
    runDkim(),
    dmarcAnalysis,
    runReputation(),
    sendingIp === undefined ? null : analyseReverseDns(dns, sendingIp),
    runHints(),
  ]);
  return { mx, spf, dkim, dmarc, reputation, reverseDns, hints };
};

/**
 * Finds the address of the first mail host, which replaces a missing sending address. A later host never replaces a first host
 * without an answer. The check has queried all hosts before.
 */
const findFirstIpv4 = async (
  dns: Dns,
  hosts: readonly string[],
  allowed: readonly Cidr[],
): Promise<string | null> => {
  for (const host of hosts.slice(0, LOOKED_UP_MAX)) {
    const outcome = await dns("A", host);
    const ip = getRecords(outcome).find((one) => isPublicIp(one, allowed));
    if (ip !== undefined || isFault(outcome)) return ip ?? null;
  }
  return null;
};

const findNameHints = (domain: string): readonly Issue[] => {
  const parent = removeWww(domain);
  return parent === undefined ? [] : [createHint("WWW_NAME", { domain, parent })];
};

const collectFindings = ({
  mx,
  spf,
  dkim,
  dmarc,
  reputation,
  reverseDns,
}: DomainAnalyses): Findings => ({
  dns: toFindings(mx),
  spf: toFindings(spf),
  dkim: toFindings(dkim),
  dmarc: toFindings(dmarc),
  reputation: toFindings(reputation),
  ptr: reverseDns && toFindings(reverseDns),
});

/** Findings about only an IP address say nothing about the domain's set-up. */
const hasNoVerdict = ({ dns, spf, dkim, dmarc }: Findings): boolean =>
  [dns, spf, dkim, dmarc].every((issues) => issues === null);
