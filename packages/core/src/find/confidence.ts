import {
  getNameCoverage,
  type NameCoverage,
  type Pattern,
} from "@mailproof/mail/signals/address-patterns";

/**
 * The likelihood that an existing mailbox belongs to this person and not to a namesake, by how much of the name its pattern
 * contains. These are judgements; docs/scores.md gives the reason for each.
 */
export const IDENTITY_SHARES: Readonly<Record<NameCoverage, number>> = {
  both: 0.97,
  "one and a letter": 0.85,
  one: 0.7,
};

/** The mail server's reply multiplies the likelihood by this factor. */
export const VERDICT_WEIGHTS = {
  valid: 1,
  /** The mailbox exists, but is full, or may be a namesake's. */
  there: 0.75,
  /** The server accepted the recipient and did not show whether it accepts every recipient. */
  unproven: 0.6,
  /** A role account seldom belongs to one person. */
  role: 0.3,
} as const;

/** A catch-all adds no information, and the person may have left. */
export const CATCH_ALL_WEIGHT = 0.85;

export type FindVerdict = keyof typeof VERDICT_WEIGHTS | "catch_all";

/** Returns 1 to 99, from the prior likelihood, the mail server's reply, and whether the domain is a catch-all. */
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
