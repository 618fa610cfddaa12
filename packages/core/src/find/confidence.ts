import { getNameCoverage, type NameCoverage, type Pattern } from "./patterns.ts";

/**
 * How surely a mailbox that is there, at an address made by a pattern, is this person's: the rest are namesakes.
 * Judgements; docs/scores.md argues for each.
 */
export const IDENTITY_SHARES: Readonly<Record<NameCoverage, number>> = {
  both: 0.97,
  "one and a letter": 0.85,
  one: 0.7,
};

/** What the server's answer leaves of it. */
export const VERDICT_WEIGHTS = {
  /** The mailbox is there, and takes mail. */
  valid: 1,
  /** The mailbox is there, but is full, or may be a namesake's. */
  there: 0.75,
  /** It was accepted, and the server would not show whether it accepts everybody. */
  unproven: 0.6,
  /** Whoever reads it, it is hardly one person. */
  role: 0.3,
} as const;

/** A server that accepts everybody adds nothing to what we thought before; and somebody may have left. */
export const CATCH_ALL_WEIGHT = 0.85;

export type FindVerdict = keyof typeof VERDICT_WEIGHTS | "catch_all";

/** 1 to 99, from how likely the address was before, what the server said, and whether it accepts everybody. */
export const scoreConfidence = (
  { pattern, share }: { readonly pattern: Pattern; readonly share: number },
  verdict: FindVerdict,
): number => {
  const identity = IDENTITY_SHARES[getNameCoverage(pattern)];
  const chance =
    verdict === "catch_all"
      ? CATCH_ALL_WEIGHT * share
      : VERDICT_WEIGHTS[verdict] * (1 - (1 - identity) * (1 - share));
  return Math.min(99, Math.max(1, Math.round(100 * chance)));
};
