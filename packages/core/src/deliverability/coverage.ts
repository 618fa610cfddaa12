import { type CheckComponent, COMPONENTS } from "./findings.ts";
import { type ScoreResult, WEIGHTS } from "./score.ts";

export const CONFIDENCES = ["high", "medium", "low"] as const;
export type Confidence = (typeof CONFIDENCES)[number];

export type ScoreCoverage = {
  /** high: every part had an answer. medium: at least half of the weight. low: less than half. */
  readonly confidence: Confidence;
  readonly missing: readonly CheckComponent[];
};

/** Measures the share of a score that answers support. Without a sending address, reverse DNS is not part of the check. */
export const measureCoverage = ({
  scored,
  sendingIp,
}: {
  readonly scored: Pick<ScoreResult, "parts">;
  readonly sendingIp: string | null;
}): ScoreCoverage => {
  const answered = new Set(scored.parts.map(({ component }) => component));
  const parts = COMPONENTS.filter((component) => component !== "ptr" || sendingIp !== null);
  const missing = parts.filter((component) => !answered.has(component));
  if (missing.length === 0) return { confidence: "high", missing };
  const isLow = sumWeights(missing) * 2 > sumWeights(parts);
  return { confidence: isLow ? "low" : "medium", missing };
};

const sumWeights = (components: readonly CheckComponent[]): number =>
  components.reduce((sum, component) => sum + WEIGHTS[component], 0);
