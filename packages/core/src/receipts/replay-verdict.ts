import { findSubStatus, judge } from "../verify/judge.ts";
import { readJudged } from "../verify/judged-record.ts";
import type { Evidence } from "../verify/result.ts";

/**
 * Judges again from the signals in the evidence, without lists, DNS or mail servers. Undefined for evidence of 0.2.0, which
 * does not contain the signals.
 */
export const replayVerdict = ({ judged }: Pick<Evidence, "judged">) => {
  if (!judged) return undefined;
  const { signals, catchAllConfidence } = readJudged(judged);
  const verdict = judge(signals, catchAllConfidence);
  const { status, reason, score, parts } = verdict;
  const sub_status = findSubStatus(verdict, signals);
  return { status, reason, sub_status, quality_score: score, score: parts };
};
