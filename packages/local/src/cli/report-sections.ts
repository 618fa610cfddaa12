import type { CheckReport } from "@mailproof/core/deliverability/analyse-domain";
import type { Confidence } from "@mailproof/core/deliverability/coverage";
import type { CheckComponent } from "@mailproof/core/deliverability/findings";
import type { Grade } from "@mailproof/core/deliverability/score";
import type { BlocklistOutcome } from "@mailproof/core/mail/blocklists/analyse";
import type { Issue } from "@mailproof/core/mail/issue";
import { SPF_LIMITS } from "@mailproof/core/mail/spf/limits";

// The sections of a printed report; show-report.ts formats them.

type SectionView = {
  readonly status: string;
  readonly score: number | null;
  readonly issues: readonly IssueView[];
};
export type IssueView = Pick<Issue, "severity" | "message" | "costPoints">;

/** What of a report is shown. Our own has more; one that a service tells has this. */
export type ReportView = {
  readonly domain: string;
  readonly sendingIp: string | null;
  readonly modelVersion: string;
  readonly confidence: Confidence;
  readonly scored: {
    readonly score: number;
    readonly grade: Grade;
    readonly cappedBy: string | null;
    readonly uncapped: number;
  };
  readonly mx: SectionView & Pick<CheckReport["mx"], "records">;
  readonly spf: SectionView &
    Pick<CheckReport["spf"], "record" | "lookups"> & {
      readonly evaluation: { readonly result: string } | null;
    };
  readonly dkim: SectionView & Pick<CheckReport["dkim"], "selectorsFound">;
  readonly dmarc: SectionView & {
    readonly record: string | null;
    readonly recordDomain: string | null;
    readonly policy: string | null;
  };
  readonly reputation: Omit<SectionView, "status"> &
    Pick<CheckReport["reputation"], "checked" | "listed" | "outcomes">;
  readonly reverseDns:
    | (SectionView & Pick<NonNullable<CheckReport["reverseDns"]>, "name" | "isConfirmed">)
    | null;
  readonly hints: readonly IssueView[];
  readonly spamAssessment: Omit<CheckReport["spamAssessment"], "factors"> & {
    readonly factors: readonly Omit<CheckReport["spamAssessment"]["factors"][number], "id">[];
  };
  readonly recommendations: readonly Pick<
    CheckReport["recommendations"][number],
    "severity" | "pointsRegained" | "text"
  >[];
};

export type ReportSection = {
  readonly title: string;
  readonly score: number | null;
  readonly status: string;
  /** What was found, in short lines. */
  readonly details: readonly string[];
  readonly issues: readonly IssueView[];
};

export const buildSections = (report: ReportView): readonly ReportSection[] => {
  const { mx, spf, dkim, dmarc, reverseDns } = report;
  return [
    {
      ...mx,
      title: TITLES.dns,
      details: mx.records.map(
        ({ priority, host, ip }) => `${priority} ${host}${ip === null ? "" : `  ${ip}`}`,
      ),
    },
    { ...spf, title: TITLES.spf, details: listSpfDetails(report) },
    { ...dkim, title: TITLES.dkim, details: listDkimDetails(report) },
    { ...dmarc, title: TITLES.dmarc, details: listDmarcDetails(report) },
    buildReputationSection(report),
    ...(reverseDns === null
      ? []
      : [{ ...reverseDns, title: TITLES.ptr, details: listPtrDetails(report) }]),
  ];
};

const TITLES: Readonly<Record<CheckComponent, string>> = {
  dns: "Mail hosts (MX)",
  spf: "SPF",
  dkim: "DKIM",
  dmarc: "DMARC",
  reputation: "Blocklists",
  ptr: "Reverse DNS",
};

const listSpfDetails = ({ spf, sendingIp }: ReportView): readonly string[] => {
  if (spf.record === null) return [];
  const { termsMax } = SPF_LIMITS;
  const result = spf.evaluation?.result;
  return [
    spf.record,
    `up to ${spf.lookups} of ${termsMax} DNS look-ups`,
    ...(result && sendingIp !== null ? [`result for ${sendingIp}: ${result}`] : []),
  ];
};

const listDkimDetails = ({ dkim }: ReportView): readonly string[] =>
  dkim.selectorsFound.length === 0 ? [] : [`selectors found: ${dkim.selectorsFound.join(", ")}`];

const listDmarcDetails = ({ dmarc, domain }: ReportView): readonly string[] => {
  if (dmarc.record === null) return [];
  const { recordDomain, policy } = dmarc;
  return [
    dmarc.record,
    ...(recordDomain === domain ? [] : [`found at ${recordDomain}`]),
    `receivers are asked for: ${policy ?? "nothing"}`,
  ];
};

const listPtrDetails = ({ reverseDns, sendingIp }: ReportView): readonly string[] => {
  if (!reverseDns?.name) return [];
  const back = reverseDns.isConfirmed ? ", and back" : "";
  return [`${sendingIp} is ${reverseDns.name}${back}`];
};

const buildReputationSection = ({ reputation }: ReportView): ReportSection => {
  const { checked, listed, outcomes, score } = reputation;
  const status = listed > 0 ? "listed" : "clear";
  return {
    ...reputation,
    title: TITLES.reputation,
    status: score === null ? "error" : status,
    details: [
      `${checked} gave a verdict, ${listed === 0 ? "none with" : `${listed} with`} a listing`,
      ...listLeftOut("no answer", outcomes, ({ kind }) => kind === "inconclusive"),
      ...Object.entries(SKIP_REASONS).flatMap(([why, words]) =>
        listLeftOut(
          words,
          outcomes,
          (verdict) => verdict.kind === "skipped" && verdict.why === why,
        ),
      ),
    ],
  };
};

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
