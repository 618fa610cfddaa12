import type { CheckResult } from "@mailproof/api/schema/deliverability-check";
import type { FlattenedSpf } from "@mailproof/api/schema/proposed-records";
import { toIssues, toSections } from "@mailproof/api/schema/to-check-result";
import type { CheckReport } from "@mailproof/core/deliverability/analyse-domain";
import type { CheckComponent } from "@mailproof/core/deliverability/findings";
import type { BlocklistOutcome } from "@mailproof/mail/blocklists/analyse";
import { toUnicode } from "@mailproof/mail/domain";
import { SPF_LIMITS } from "@mailproof/mail/spf/limits";

// The sections of a printed report; show-report.ts formats them.

/** A report as a service returns it, without the fields of a stored check. */
export type ReportResponse = Omit<CheckResult, "check_id" | "checked_at"> & {
  readonly flattened_spf?: FlattenedSpf;
};

/** The extra findings of a check on this machine: a service returns neither lists without a verdict nor hints. */
export type LocalFindings = Pick<CheckReport, "hints" | "reputation">;

export type ReportIssue = Pick<
  CheckResult["dns"]["issues"][number],
  "severity" | "message" | "cost_points"
>;

export const toReportResponse = (report: CheckReport): ReportResponse => {
  const { domain, sendingIp: sending_ip, scored } = report;
  const { score, grade } = scored;
  return {
    domain,
    domain_unicode: toUnicode(domain),
    sending_ip,
    score,
    grade,
    ...toSections(report),
  };
};

export type ReportSection = {
  readonly title: string;
  readonly score: number | undefined;
  readonly status: string;
  readonly details: readonly string[];
  readonly issues: readonly ReportIssue[];
};

export const buildSections = (
  report: ReportResponse,
  local?: LocalFindings,
): readonly ReportSection[] => {
  const { dns, authentication, server } = report;
  const { spf, dkim, dmarc } = authentication;
  return [
    {
      title: TITLES.dns,
      status: dns.status,
      score: dns.mx_score,
      issues: dns.issues,
      details: dns.mx_records.map(
        ({ priority, host, ip }) => `${priority} ${host}${ip === null ? "" : `  ${ip}`}`,
      ),
    },
    { ...pickSection(spf), title: TITLES.spf, details: listSpfDetails(report) },
    { ...pickSection(dkim), title: TITLES.dkim, details: listDkimDetails(report) },
    { ...pickSection(dmarc), title: TITLES.dmarc, details: listDmarcDetails(report) },
    buildReputationSection(report, local?.reputation),
    ...(report.sending_ip === null
      ? []
      : [
          {
            title: TITLES.ptr,
            status: server.reverse_dns_status,
            score: server.reverse_dns_score,
            issues: server.issues,
            details: listPtrDetails(report),
          },
        ]),
  ];
};

type Scored = Pick<CheckResult["authentication"]["dkim"], "status" | "score" | "issues">;

const pickSection = ({ status, score, issues }: Scored) => ({ status, score, issues });

const TITLES: Readonly<Record<CheckComponent, string>> = {
  dns: "Mail hosts (MX)",
  spf: "SPF",
  dkim: "DKIM",
  dmarc: "DMARC",
  reputation: "Blocklists",
  ptr: "Reverse DNS",
};

const listSpfDetails = ({
  authentication: { spf },
  sending_ip,
}: ReportResponse): readonly string[] => {
  if (spf.record === null) return [];
  const { termsMax } = SPF_LIMITS;
  const result = spf.result_for_sending_ip;
  return [
    spf.record,
    `up to ${spf.lookups} of ${termsMax} DNS look-ups`,
    ...spf.tree
      .filter(({ depth }) => depth > 0)
      .map(({ depth, term, lookups }) => `${lookups} ${"· ".repeat(depth - 1)}${term ?? ""}`),
    ...(result && sending_ip !== null ? [`result for ${sending_ip}: ${result}`] : []),
  ];
};

const listDkimDetails = ({ authentication }: ReportResponse): readonly string[] => {
  const { selectors_found: selectors } = authentication.dkim;
  return selectors.length === 0 ? [] : [`selectors found: ${selectors.join(", ")}`];
};

const listDmarcDetails = ({
  authentication: { dmarc },
  domain,
}: ReportResponse): readonly string[] => {
  if (dmarc.record === null) return [];
  const { record_domain: recordDomain, policy } = dmarc;
  return [
    dmarc.record,
    ...(recordDomain === undefined || recordDomain === domain ? [] : [`found at ${recordDomain}`]),
    `receivers are asked for: ${policy ?? "nothing"}`,
  ];
};

const listPtrDetails = ({ server, sending_ip }: ReportResponse): readonly string[] => {
  if (server.reverse_dns === undefined) return [];
  const back = server.reverse_dns_confirmed ? ", and back" : "";
  return [`${sending_ip} is ${server.reverse_dns}${back}`];
};

const buildReputationSection = (
  { reputation }: ReportResponse,
  local: LocalFindings["reputation"] | undefined,
): ReportSection => {
  const { blacklists_checked: checked, blacklists_listed: listed, score } = reputation;
  const status = listed > 0 ? "listed" : "clear";
  return {
    title: TITLES.reputation,
    score: score ?? undefined,
    status: score === null ? "error" : status,
    issues: local ? toIssues(local.issues) : listListings(reputation),
    details: [
      `${checked} gave a verdict, ${listed === 0 ? "none with" : `${listed} with`} a listing`,
      ...listUndecided(local?.outcomes ?? []),
    ],
  };
};

const listListings = ({ listed_on }: CheckResult["reputation"]): readonly ReportIssue[] =>
  listed_on.map(({ name, says, listed, removal_url }) => ({
    severity: "high",
    message: `${name} lists ${listed}: ${says} See ${removal_url}`,
    cost_points: 0,
  }));

const listUndecided = (outcomes: readonly BlocklistOutcome[]): readonly string[] => [
  ...listLeftOut("no answer", outcomes, ({ kind }) => kind === "inconclusive"),
  ...Object.entries(SKIP_REASONS).flatMap(([why, words]) =>
    listLeftOut(words, outcomes, (verdict) => verdict.kind === "skipped" && verdict.why === why),
  ),
];

const SKIP_REASONS = {
  no_key: "left out without a key",
  unhealthy: "left out, because they do not respond or list every address",
  no_ip: "left out without an IP address",
};

const listLeftOut = (
  words: string,
  outcomes: readonly BlocklistOutcome[],
  isSelected: (verdict: BlocklistOutcome["verdict"]) => boolean,
): readonly string[] => {
  const names = outcomes.filter(({ verdict }) => isSelected(verdict)).map(({ list }) => list.name);
  return names.length === 0 ? [] : [`${words}: ${names.join(", ")}`];
};
