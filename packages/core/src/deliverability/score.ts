import { type Grade, toGrade } from "@mailproof/mail/grade";
import { type CheckComponent, COMPONENTS, type Findings, scoreComponent } from "./findings.ts";
import { SIGNALS, type Signal } from "./signals.ts";

/** Increment this with every change of a weight, a cap, a cost or a rule, so that scores of different years can be compared. */
export const MODEL_VERSION = "3";

/** docs/scores.md explains the weights. */
export const WEIGHTS: Readonly<Record<CheckComponent, number>> = {
  dns: 15,
  spf: 20,
  dkim: 20,
  dmarc: 20,
  reputation: 20,
  ptr: 5,
};

export type ScoreCap = { readonly id: string; readonly holds: Signal; readonly atMost: number };

/** Faults that no other part can compensate. The lowest applicable cap counts. */
export const CAPS: readonly ScoreCap[] = [
  { id: "no_domain", holds: SIGNALS.noDomain, atMost: 39 },
  { id: "no_spf_no_dkim", holds: SIGNALS.unsigned, atMost: 49 },
  { id: "listed_gravely", holds: SIGNALS.listedGravely, atMost: 49 },
  { id: "no_valid_mx", holds: SIGNALS.noMx, atMost: 59 },
  { id: "spf_broken", holds: SIGNALS.spfBroken, atMost: 69 },
  { id: "spf_open", holds: SIGNALS.spfOpen, atMost: 69 },
  { id: "no_dmarc", holds: SIGNALS.noDmarc, atMost: 84 },
  { id: "dmarc_none", holds: SIGNALS.dmarcNone, atMost: 94 },
  { id: "dkim_unknown", holds: SIGNALS.dkimUnknown, atMost: 94 },
];

export type ScoreResult = {
  readonly score: number;
  readonly grade: Grade;
  readonly parts: readonly {
    readonly component: CheckComponent;
    readonly weight: number;
    readonly score: number;
  }[];
  /** The weighted mean before a cap, and the cap that lowered it. */
  readonly uncapped: number;
  readonly cappedBy: string | null;
};

/** Scores the findings; null without any. A component without a verdict is omitted instead of counting as zero. */
export const scoreFindings = (findings: Findings): ScoreResult | null => {
  const parts = COMPONENTS.flatMap((component) => {
    const score = scoreComponent(findings[component]);
    return score === null ? [] : [{ component, weight: WEIGHTS[component], score }];
  });
  const weights = parts.reduce((sum, { weight }) => sum + weight, 0);
  if (weights === 0) return null;

  const weighted = parts.reduce((sum, { weight, score }) => sum + weight * score, 0);
  const uncapped = Math.round(weighted / weights);
  const [cap] = CAPS.filter(({ holds, atMost }) => atMost < uncapped && holds(findings)).toSorted(
    (a, b) => a.atMost - b.atMost,
  );
  const score = cap?.atMost ?? uncapped;
  return { score, grade: toGrade(score), parts, uncapped, cappedBy: cap?.id ?? null };
};
