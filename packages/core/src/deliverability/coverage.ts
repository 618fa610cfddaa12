import { COMPONENTS, type Component } from "./findings.ts";
import { type Scored, WEIGHTS } from "./score.ts";

export const CONFIDENCES = ["high", "medium", "low"] as const;
export type Confidence = (typeof CONFIDENCES)[number];

export type Coverage = {
  /** high: every part was answered. medium: half of the weight or more. low: less than half. */
  readonly confidence: Confidence;
  /** The parts without an answer, which the score leaves out. */
  readonly missing: readonly Component[];
};

/** How much of a score rests on answers. Without a sending address reverse DNS is no part of the check. */
export const coverageOf = ({
  scored,
  sendingIp,
}: {
  readonly scored: Pick<Scored, "parts">;
  readonly sendingIp: string | null;
}): Coverage => {
  const answered = new Set(scored.parts.map(({ component }) => component));
  const parts = COMPONENTS.filter((component) => component !== "ptr" || sendingIp !== null);
  const missing = parts.filter((component) => !answered.has(component));
  if (missing.length === 0) return { confidence: "high", missing };
  const isLow = weightOf(missing) * 2 > weightOf(parts);
  return { confidence: isLow ? "low" : "medium", missing };
};

const weightOf = (components: readonly Component[]): number =>
  components.reduce((sum, component) => sum + WEIGHTS[component], 0);
