import { ADVICE, type Advice } from "@mailproof/mail/advice";
import { compareGravity, type Issue, type Severity } from "@mailproof/mail/issue";
import { fillTemplate } from "@mailproof/mail/issue-rules";
import type { ProposedRecord } from "@mailproof/mail/records/dns-record";
import { hasGap } from "@mailproof/mail/records/spf-record";
import { type CheckComponent, type Findings, listIssues, removeIssues } from "./findings.ts";
import type { RecordProposals } from "./propose-records.ts";
import { scoreFindings } from "./score.ts";

export type Recommendation = {
  readonly id: string;
  readonly severity: Severity;
  /** The score gains these points from this recommendation alone. */
  readonly pointsRegained: number;
  readonly text: string;
  readonly issues: readonly string[];
  /** Absent when the fix is not a record, or depends on facts that only the owner knows. */
  readonly proposal?: ProposedRecord;
};

export const recommendRecords = async (
  findings: Findings,
  hints: readonly Issue[],
  proposals: RecordProposals,
): Promise<readonly Recommendation[]> => {
  const found = new Map<string, ProposedRecord>();
  for (const { advice, gravest } of listMeant(findings, hints)) {
    const proposal = await proposals.find(advice, gravest);
    if (proposal) found.set(advice.id, proposal);
  }
  return recommend(findings, hints, { after: proposals.after, found });
};

type FoundRecords = {
  readonly after: Findings;
  readonly found: ReadonlyMap<string, ProposedRecord>;
};

/** Sorts the recommendations by their gain, the largest first. Issues without cost appear only when they are hints. */
export const recommend = (
  findings: Findings,
  hints: readonly Issue[],
  records?: FoundRecords,
): readonly Recommendation[] => {
  const score = scoreFindings(findings)?.score ?? 0;
  return listMeant(findings, hints)
    .map(({ advice, gravest, issues }) => {
      const proposal = records?.found.get(advice.id);
      const resolved = removeIssues(findings, ({ id }) => advice.for.includes(id));
      const better = records && proposal ? addRemaining(resolved, advice, records.after) : resolved;
      const toGain = (after: Findings) => Math.max(0, (scoreFindings(after)?.score ?? 0) - score);
      // A record with gaps promises no points, but completing it is worth as much as any other repair.
      const gain = toGain(proposal && hasGap(proposal) ? resolved : better);
      return {
        advice,
        gravest,
        gain,
        pointsRegained: toGain(better),
        issues,
        ...(proposal && { proposal }),
      };
    })
    .toSorted((a, b) => b.gain - a.gain || compareGravity(a.gravest, b.gravest))
    .map(({ advice, gravest, pointsRegained, issues, proposal }) => ({
      id: advice.id,
      severity: gravest.severity,
      text: advice.text === undefined ? gravest.message : fillTemplate(advice.text, gravest.detail),
      pointsRegained,
      issues,
      ...(proposal && { proposal }),
    }));
};

/** A record that resolves an issue may leave a lesser issue, because a policy takes one step at a time. */
const addRemaining = (resolved: Findings, advice: Advice, after: Findings): Findings => {
  const add = (component: "spf" | "dmarc") => {
    const issues = resolved[component];
    if (issues === null || !isAbout(advice, component)) return issues;
    const ids = new Set(issues.map(({ id }) => id));
    const remaining = (after[component] ?? []).filter(
      ({ id }) => advice.for.includes(id) || (advice.uncovers && !ids.has(id)),
    );
    return [...issues, ...remaining];
  };
  return { ...resolved, spf: add("spf"), dmarc: add("dmarc") };
};

const isAbout = ({ for: ids }: Advice, component: "spf" | "dmarc"): boolean =>
  ids.every((id) => id.startsWith(component.toUpperCase()));

const listMeant = (findings: Findings, hints: readonly Issue[]) => {
  const issues = [...listIssues(findings).filter(({ costPoints }) => costPoints > 0), ...hints];
  return listAdvice(issues).flatMap((advice) => {
    const meant = issues.filter(({ id }) => advice.for.includes(id)).toSorted(compareGravity);
    const [gravest] = meant;
    return gravest ? [{ advice, gravest, issues: meant.map(({ id }) => id) }] : [];
  });
};

/** The part of a check that a hint belongs to, by the beginning of the hint's id. Other hints belong to no part. */
const PART_OF_HINT: readonly (readonly [idPrefix: string, part: CheckComponent])[] = [
  ["MTA_STS_", "dns"],
  ["TLS_RPT_", "dns"],
  ["DNSSEC_", "dns"],
  ["DANE_", "dns"],
  ["EMAIL_VERIFICATION_", "dns"],
  ["BIMI_", "dmarc"],
  ["BLOCKLISTS_", "reputation"],
];

export const getPartOfHint = ({ id }: Issue): CheckComponent | undefined =>
  PART_OF_HINT.find(([prefix]) => id.startsWith(prefix))?.[1];

/** Drops hints about parts without an answer, because they may not hold. */
export const dropUnansweredHints = (
  findings: Findings,
  hints: readonly Issue[],
): readonly Issue[] =>
  hints.filter((hint) => {
    const part = getPartOfHint(hint);
    return part === undefined || findings[part] !== null;
  });

const LISTED = "LISTED:";

/** Lists one recommendation per listing, because each list has its own removal procedure. */
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
