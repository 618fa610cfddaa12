import {
  getNameCoverage,
  type NameCoverage,
  type Pattern,
} from "@mailproof/mail/signals/address-patterns";

/**
 * How likely an existing mailbox, at an address made by a pattern, is this person's: the rest are namesakes. Judgements;
 * docs/scores.md gives the reason for each.
 */
export const IDENTITY_SHARES: Readonly<Record<NameCoverage, number>> = {
  both: 0.97,
  "one and a letter": 0.85,
  one: 0.7,
};

/** The factor that the mail server's reply leaves of it. */
export const VERDICT_WEIGHTS = {
  /** The mailbox exists, and accepts mail. */
  valid: 1,
  /** The mailbox exists, but is full, or may be a namesake's. */
  there: 0.75,
  /** The server accepted it, and did not show whether it accepts every recipient. */
  unproven: 0.6,
  /** A role account is hardly one person's. */
  role: 0.3,
} as const;

/** A catch-all adds nothing to what was likely before; and the person may have left. */
export const CATCH_ALL_WEIGHT = 0.85;

export type FindVerdict = keyof typeof VERDICT_WEIGHTS | "catch_all";

/** 1 to 99, from the prior likelihood, the mail server's reply, and whether the domain is a catch-all. */
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
