import { findSubStatus, judge } from "../verify/judge.ts";
import { readJudged } from "../verify/judged-record.ts";
import type { Evidence, ScorePart } from "../verify/result.ts";

export type ReplayedVerdict = {
  readonly status: string;
  readonly reason: string;
  readonly sub_status: string | null;
  readonly quality_score: number;
  readonly score: readonly ScorePart[];
};

/**
 * Judges again what evidence says was judged: no list, no name server and no mail server has a part in it. Undefined:
 * the evidence of 0.2.0 does not say it.
 */
export const replayVerdict = ({
  judged,
}: Pick<Evidence, "judged">): ReplayedVerdict | undefined => {
  if (!judged) return undefined;
  const { signals, catchAllConfidence } = readJudged(judged);
  const verdict = judge(signals, catchAllConfidence);
  const { status, reason, score, parts } = verdict;
  const sub_status = findSubStatus(verdict, signals);
  return { status, reason, sub_status, quality_score: score, score: parts };
};
