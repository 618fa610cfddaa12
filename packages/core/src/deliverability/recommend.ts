import { type Issue, SEVERITIES, type Severity } from "../mail/issue.ts";
import { fillTemplate } from "../mail/issue-rules.ts";
import { type CheckComponent, type Findings, listIssues, removeIssues } from "./findings.ts";
import { ADVICE, type Advice } from "./recommendation-table.ts";
import { scoreFindings } from "./score.ts";

export type Recommendation = {
  readonly id: string;
  readonly severity: Severity;
  /** The points that the score gains when this alone is done. */
  readonly pointsRegained: number;
  readonly text: string;
  /** The issues that it resolves. */
  readonly issues: readonly string[];
};

/** Recommendations, the one that gains most first. Issues that cost nothing appear only when they are hints. */
export const recommend = (
  findings: Findings,
  hints: readonly Issue[],
): readonly Recommendation[] => {
  const issues = [...listIssues(findings).filter(({ costPoints }) => costPoints > 0), ...hints];
  const score = scoreFindings(findings)?.score ?? 0;
  return listAdvice(issues)
    .flatMap((advice) => {
      const meant = issues.filter(({ id }) => advice.for.includes(id)).toSorted(compareGravity);
      const [gravest] = meant;
      if (!gravest) return [];
      const better = removeIssues(findings, ({ id }) => advice.for.includes(id));
      const pointsRegained = (scoreFindings(better)?.score ?? 0) - score;
      return [{ advice, gravest, pointsRegained, issues: meant.map(({ id }) => id) }];
    })
    .toSorted((a, b) => b.pointsRegained - a.pointsRegained || compareGravity(a.gravest, b.gravest))
    .map(({ advice, gravest, ...values }) => ({
      id: advice.id,
      severity: gravest.severity,
      text: advice.text === undefined ? gravest.message : fillTemplate(advice.text, gravest.detail),
      ...values,
    }));
};

/** The part of a check that a hint belongs to, by the beginning of its id. Other hints belong to none. */
const PART_OF_HINT: readonly (readonly [idPrefix: string, part: CheckComponent])[] = [
  ["MTA_STS_", "dns"],
  ["TLS_RPT_", "dns"],
  ["DNSSEC_", "dns"],
  ["DANE_", "dns"],
  ["BIMI_", "dmarc"],
  ["BLOCKLISTS_", "reputation"],
];

export const getPartOfHint = ({ id }: Issue): CheckComponent | undefined =>
  PART_OF_HINT.find(([prefix]) => id.startsWith(prefix))?.[1];

/** Drops hints about parts without an answer: it is not known whether they hold. */
export const dropUnansweredHints = (
  findings: Findings,
  hints: readonly Issue[],
): readonly Issue[] =>
  hints.filter((hint) => {
    const part = getPartOfHint(hint);
    return part === undefined || findings[part] !== null;
  });

const compareGravity = (a: Issue, b: Issue): number =>
  SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity) || b.costPoints - a.costPoints;

const LISTED = "LISTED:";

/** One recommendation per listing: each list has its own way of removal. */
const listAdvice = (issues: readonly Issue[]): readonly Advice[] => [
  ...ADVICE,
  ...issues
    .filter(({ id }) => id.startsWith(LISTED))
    .map(({ id }) => ({
      id: `delist:${id.slice(LISTED.length)}`,
      for: [id],
      text: "{listed} is on {list} ({says}). Stop the cause, then ask for removal at {url}.",
    })),
];
