import { type DmarcPolicy, POLICIES, parseDmarc } from "@mailproof/mail/dmarc/record";
import type { ProposedRecord } from "@mailproof/mail/records/dns-record";
import { addMs, DAY_MS, toUtcDay } from "../../lib/time.ts";
import { type AdviceCode, advise, findSenderService } from "../reports/advise.ts";
import type { DatedSource, DomainReports } from "../reports/merge-reports.ts";
import { countUnaligned } from "../reports/source-sums.ts";
import type { CheckEvidence, Evidence } from "./evidence.ts";
import { asksForReports, findCurrentCheck, findPolicy, getPartStatus } from "./published.ts";
import { READINESS } from "./readiness-limits.ts";

const REASON_TEXTS = {
  not_checked: `No check of the last ${READINESS.windowDays} days could read the DMARC record that {domain} publishes now.`,
  not_published: "{domain} has no DMARC record with a valid policy.",
  already_strict: "The policy of {domain} is reject: there is none stricter.",
  spf_or_dkim_faulty: "SPF or DKIM of {domain} has a fault, or DNS did not answer about it.",
  reports_not_requested: "The DMARC record of {domain} asks for no reports.",
  no_reports: `There is no DMARC report about the last ${READINESS.windowDays} days.`,
  too_few_days: `Days with reports that found the current policy: {days}. It takes ${READINESS.daysMin} of the last ${READINESS.windowDays}.`,
  too_many_reports: `Only the newest 5,000 reports are read, and they are of fewer than ${READINESS.daysMin} days.`,
  too_few_messages: `Messages in the reports, without forwarded ones: {messages}. It takes ${READINESS.messagesMin}.`,
  low_aligned_share: `{share} of the messages are aligned; it takes ${READINESS.alignedShareMin * 100}%.`,
  unaligned_senders: `A sender that you may use sends more than ${READINESS.senderShareMax * 100}% of the messages, and sends them unaligned.`,
  spf_only_sources: `More than ${READINESS.spfOnlyShareMax * 100}% of the messages come from sources that are aligned only by SPF, which fails when mail is forwarded.`,
  test_mail_failed: "The newest test mail failed DMARC.",
} as const;

export type ReasonCode = keyof typeof REASON_TEXTS;
export const REASON_CODES = Object.keys(REASON_TEXTS) as [ReasonCode, ...ReasonCode[]];

export type Reason = { readonly code: ReasonCode; readonly text: string };

export type Readiness = {
  readonly policy: DmarcPolicy | null;
  readonly isReady: boolean;
  /** The policy of the record to publish next. Null when the domain is not ready. */
  readonly readyFor: DmarcPolicy | null;
  readonly reasons: readonly Reason[];
  readonly mail: ReportedMail;
};

export type ReportedMail = {
  readonly messages: number;
  readonly forwarded: number;
  /** The share of the messages not known as forwarded. Null without such messages. */
  readonly alignedShare: number | null;
  readonly days: number;
  readonly daysAtPolicy: number;
  /** The source with the most unaligned mail comes first. */
  readonly unalignedSources: readonly DatedSource[];
};

export const judgeReadiness = (evidence: Evidence): Readiness => {
  const { domain, reports } = evidence;
  const { policy } = findPolicy(evidence);
  const check = findCurrentCheck(evidence);
  const mail = measureMail(reports, policy);
  const codes = listCodes(evidence, { policy, check, mail });
  const isReady = codes.length === 0;
  return {
    policy,
    isReady,
    readyFor: isReady && check ? findNextPolicy(check, policy) : null,
    reasons: codes.map((code) => ({ code, text: describeReason(code, domain, mail) })),
    mail,
  };
};

type Findings = {
  readonly policy: DmarcPolicy | null;
  readonly check: CheckEvidence | null;
  readonly mail: ReportedMail;
};

const listCodes = (
  evidence: Evidence,
  { policy, check, mail }: Findings,
): readonly ReasonCode[] => {
  const { reports, domain } = evidence;
  if (policy === "reject") return ["already_strict"];
  const isSound = (part: "spf" | "dkim") =>
    check !== null && isHealthy(check, part) && getPartStatus(part, evidence, check) !== "failing";
  const found: readonly (readonly [ReasonCode, boolean])[] = [
    ["not_checked", check === null],
    ["not_published", check !== null && policy === null],
    ["spf_or_dkim_faulty", check !== null && !(isSound("spf") && isSound("dkim"))],
    ["reports_not_requested", check !== null && policy !== null && !asksForReports(check)],
    ["test_mail_failed", hasRecentFailure(evidence)],
  ];
  return [
    ...found.filter(([, holds]) => holds).map(([code]) => code),
    ...listReportCodes(reports, mail, { domain, days: mail.daysAtPolicy }),
  ];
};

/** Like the proposal of the next record, which needs an answer about both parts. */
const isHealthy = ({ report }: CheckEvidence, part: "spf" | "dkim"): boolean =>
  report[part].status !== "error";

/** An older failure is weaker evidence than the reports of the window. */
const hasRecentFailure = ({ test, now }: Evidence): boolean =>
  test?.report?.dmarc.result === "fail" &&
  test.receivedAt >= addMs(now, -READINESS.windowDays * DAY_MS);

/** Lists the faults and gaps that the reports show. `days`: the days that count. */
export const listReportCodes = (
  reports: DomainReports,
  mail: ReportedMail,
  { domain, days }: { readonly domain: string; readonly days: number },
): readonly ReasonCode[] => {
  if (reports.dmarc.reports === 0) return ["no_reports"];
  const { messages, alignedShare } = mail;
  const isShort = days < READINESS.daysMin;
  const found: readonly (readonly [ReasonCode, boolean])[] = [
    ["too_many_reports", isShort && reports.isTruncated],
    ["too_few_days", isShort && !reports.isTruncated],
    ["too_few_messages", messages - mail.forwarded < READINESS.messagesMin],
    ["low_aligned_share", alignedShare !== null && alignedShare < READINESS.alignedShareMin],
    ["unaligned_senders", findUnalignedSenders(reports, domain).length > 0],
    ["spf_only_sources", isOverSpfOnly(reports, domain)],
  ];
  return found.filter(([, holds]) => holds).map(([code]) => code);
};

/** These codes stand for faulty mail, as opposed to too few reports. */
export const FAULT_CODES: readonly ReasonCode[] = [
  "low_aligned_share",
  "unaligned_senders",
  "spf_only_sources",
];

const measureMail = (
  { dmarc }: Pick<DomainReports, "dmarc">,
  policy: DmarcPolicy | null,
): ReportedMail => {
  const { messages, aligned, forwarded } = dmarc.total;
  const counted = messages - forwarded;
  return {
    messages,
    forwarded,
    alignedShare: counted === 0 ? null : aligned / counted,
    days: dmarc.days.length,
    daysAtPolicy: policy === null ? 0 : dmarc.daysByPolicy[policy],
    unalignedSources: dmarc.sources
      .filter((source) => countUnaligned(source) > 0)
      .toSorted((one, other) => countUnaligned(other) - countUnaligned(one)),
  };
};

/** Advice for mail that seems to be the owner's. Other mail without a pass may come from strangers; only the share counts it. */
const OWN_ADVICE: readonly AdviceCode[] = [
  "add_service",
  "add_service_dkim",
  "signs_as_other",
  "partly_aligned",
];

/** Returns the sources of each sender whose unaligned mail exceeds the limit. A service sends from many addresses. */
export const findUnalignedSenders = (
  { dmarc }: Pick<DomainReports, "dmarc">,
  domain: string,
): readonly (readonly DatedSource[])[] => {
  const own = dmarc.sources.filter((source) => OWN_ADVICE.includes(advise(source, domain).code));
  const senders = Map.groupBy(own, (source) => findSenderService(source)?.name ?? source.ip);
  const most = (dmarc.total.messages - dmarc.total.forwarded) * READINESS.senderShareMax;
  return [...senders.values()].filter((sources) => sumOf(sources, countUnaligned) > most);
};

const isOverSpfOnly = ({ dmarc }: Pick<DomainReports, "dmarc">, domain: string): boolean => {
  const sources = dmarc.sources.filter((source) => advise(source, domain).code === "add_dkim");
  const most = (dmarc.total.messages - dmarc.total.forwarded) * READINESS.spfOnlyShareMax;
  return sumOf(sources, ({ messages, forwarded }) => messages - forwarded) > most;
};

const sumOf = (sources: readonly DatedSource[], count: (source: DatedSource) => number): number =>
  sources.reduce((sum, source) => sum + count(source), 0);

/** A source is corrected when its unaligned mail ended some days before the newest reports. */
export const isCorrected = (
  { lastUnalignedDay }: DatedSource,
  { dmarc }: DomainReports,
): boolean => {
  const newest = dmarc.days.at(-1)?.day;
  if (lastUnalignedDay === null || newest === undefined) return true;
  const limit = addMs(new Date(`${newest}T00:00:00.000Z`), -READINESS.correctedAfterDays * DAY_MS);
  return lastUnalignedDay <= toUtcDay(limit);
};

/** Finds the DMARC record that the check proposes, one step stricter. */
export const findDmarcProposal = ({ report }: CheckEvidence): ProposedRecord | undefined =>
  report.recommendations
    .map(({ proposal }) => proposal)
    .find((proposal) => proposal?.record.name === `_dmarc.${report.domain}`);

const findNextPolicy = (check: CheckEvidence, policy: DmarcPolicy | null): DmarcPolicy => {
  const proposal = findDmarcProposal(check);
  const p = proposal && parseDmarc(proposal.record.value).p;
  if (p !== undefined && p !== "invalid" && p !== "none") return p;
  return POLICIES[POLICIES.indexOf(policy ?? "none") + 1] ?? "reject";
};

export const describeReason = (code: ReasonCode, domain: string, mail: ReportedMail): string => {
  const { alignedShare, messages, forwarded, daysAtPolicy } = mail;
  const values: Readonly<Record<string, string>> = {
    domain,
    days: String(daysAtPolicy),
    messages: (messages - forwarded).toLocaleString("en"),
    share: formatShare(alignedShare ?? 0),
  };
  return REASON_TEXTS[code].replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name] ?? "");
};

/** Truncates instead of rounding: 97.99% is less than 98%. */
export const formatShare = (share: number): string => `${Math.floor(share * 1_000) / 10}%`;
