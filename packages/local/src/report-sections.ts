import type { Report } from "@mailproof/core/deliverability/analyse-domain";
import type { Confidence } from "@mailproof/core/deliverability/coverage";
import type { Component } from "@mailproof/core/deliverability/findings";
import type { Grade } from "@mailproof/core/deliverability/score";
import type { ListOutcome } from "@mailproof/core/mail/blocklists/analyse";
import type { Issue } from "@mailproof/core/mail/issue";
import { SPF_LIMITS } from "@mailproof/core/mail/spf/limits";

// What of a report is worth showing to eyes; show-report.ts says how it looks.

type Part = {
  readonly status: string;
  readonly score: number | null;
  readonly issues: readonly ShownIssue[];
};
export type ShownIssue = Pick<Issue, "severity" | "message" | "costPoints">;

/** What of a report is shown. Our own has more; one that a service tells has this. */
export type Shown = {
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
  readonly mx: Part & Pick<Report["mx"], "records">;
  readonly spf: Part &
    Pick<Report["spf"], "record" | "lookups"> & {
      readonly evaluation: { readonly result: string } | null;
    };
  readonly dkim: Part & Pick<Report["dkim"], "selectorsFound">;
  readonly dmarc: Part & {
    readonly record: string | null;
    readonly recordDomain: string | null;
    readonly policy: string | null;
  };
  readonly reputation: Omit<Part, "status"> &
    Pick<Report["reputation"], "checked" | "listed" | "outcomes">;
  readonly reverseDns:
    | (Part & Pick<NonNullable<Report["reverseDns"]>, "name" | "isConfirmed">)
    | null;
  readonly hints: readonly ShownIssue[];
  readonly spamAssessment: Omit<Report["spamAssessment"], "factors"> & {
    readonly factors: readonly Omit<Report["spamAssessment"]["factors"][number], "id">[];
  };
  readonly recommendations: readonly Pick<
    Report["recommendations"][number],
    "severity" | "pointsRegained" | "text"
  >[];
};

export type Section = {
  readonly title: string;
  readonly score: number | null;
  readonly status: string;
  /** What was found, in short lines. */
  readonly facts: readonly string[];
  readonly issues: readonly ShownIssue[];
};

export const sectionsOf = (report: Shown): readonly Section[] => {
  const { mx, spf, dkim, dmarc, reverseDns } = report;
  return [
    {
      ...mx,
      title: TITLES.dns,
      facts: mx.records.map(
        ({ priority, host, ip }) => `${priority} ${host}${ip === null ? "" : `  ${ip}`}`,
      ),
    },
    { ...spf, title: TITLES.spf, facts: spfFacts(report) },
    { ...dkim, title: TITLES.dkim, facts: dkimFacts(report) },
    { ...dmarc, title: TITLES.dmarc, facts: dmarcFacts(report) },
    reputationOf(report),
    ...(reverseDns === null ? [] : [{ ...reverseDns, title: TITLES.ptr, facts: ptrFacts(report) }]),
  ];
};

const TITLES: Readonly<Record<Component, string>> = {
  dns: "Mail hosts (MX)",
  spf: "SPF",
  dkim: "DKIM",
  dmarc: "DMARC",
  reputation: "Blocklists",
  ptr: "Reverse DNS",
};

const spfFacts = ({ spf, sendingIp }: Shown): readonly string[] => {
  if (spf.record === null) return [];
  const { termsMax } = SPF_LIMITS;
  const result = spf.evaluation?.result;
  return [
    spf.record,
    `up to ${spf.lookups} of ${termsMax} DNS look-ups`,
    ...(result && sendingIp !== null ? [`mail from ${sendingIp} comes to ${result}`] : []),
  ];
};

const dkimFacts = ({ dkim }: Shown): readonly string[] =>
  dkim.selectorsFound.length === 0 ? [] : [`selectors found: ${dkim.selectorsFound.join(", ")}`];

const dmarcFacts = ({ dmarc, domain }: Shown): readonly string[] => {
  if (dmarc.record === null) return [];
  const { recordDomain, policy } = dmarc;
  return [
    dmarc.record,
    ...(recordDomain === domain ? [] : [`found at ${recordDomain}`]),
    `receivers are asked for: ${policy ?? "nothing"}`,
  ];
};

const ptrFacts = ({ reverseDns, sendingIp }: Shown): readonly string[] => {
  if (!reverseDns?.name) return [];
  const back = reverseDns.isConfirmed ? ", and back" : "";
  return [`${sendingIp} is ${reverseDns.name}${back}`];
};

const reputationOf = ({ reputation }: Shown): Section => {
  const { checked, listed, outcomes, score } = reputation;
  const status = listed > 0 ? "listed" : "clear";
  return {
    ...reputation,
    title: TITLES.reputation,
    status: score === null ? "error" : status,
    facts: [
      `${checked} gave a verdict, ${listed === 0 ? "none with" : `${listed} with`} a listing`,
      ...leftOut("no answer", outcomes, ({ kind }) => kind === "inconclusive"),
      ...Object.entries(WHY_SKIPPED).flatMap(([why, words]) =>
        leftOut(words, outcomes, (verdict) => verdict.kind === "skipped" && verdict.why === why),
      ),
    ],
  };
};

const WHY_SKIPPED = {
  no_key: "left out without a key",
  unhealthy: "left out, as they answer nobody or list everybody",
  no_ip: "left out without an address to ask about",
};

const leftOut = (
  words: string,
  outcomes: readonly ListOutcome[],
  isMeant: (verdict: ListOutcome["verdict"]) => boolean,
): readonly string[] => {
  const names = outcomes.filter(({ verdict }) => isMeant(verdict)).map(({ list }) => list.name);
  return names.length === 0 ? [] : [`${words}: ${names.join(", ")}`];
};
