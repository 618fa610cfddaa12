import type { Halves } from "./credits.ts";

/**
 * Every way in which money moves, as what one half-credit of it changes. Each line keeps both laws:
 * available = granted - debited + refunded, and held + spent + refunded = debited.
 */
export const MOVES = {
  /** New credits. */
  grant: { available: 1, granted: 1 },
  /** Unspent credits that the operator takes back. */
  clawback: { available: -1, granted: -1 },
  /** Paid for good. */
  charge: { available: -1, debited: 1, spent: 1 },
  /** Paid, while it is open what comes of it. */
  hold: { available: -1, debited: 1, held: 1 },
  /** What was held is paid for good. */
  settle: { held: -1, spent: 1 },
  /** What was held goes back. */
  release: { held: -1, available: 1, refunded: 1 },
  /** What was paid for good goes back: we owed something and did not do it. */
  refund: { spent: -1, available: 1, refunded: 1 },
} as const;

export type MoveKind = keyof typeof MOVES;

/** How much moved in which way; one entry may move some of it so and the rest otherwise. */
export type MovedAmounts = Readonly<Partial<Record<MoveKind, Halves>>>;

/** What it changes in the totals of an account. */
export const toBalanceChanges = (moved: MovedAmounts): Readonly<Record<string, number>> => {
  const changes: Record<string, number> = {};
  for (const [kind, amount] of Object.entries(moved) as [MoveKind, Halves][])
    for (const [total, sign] of Object.entries(MOVES[kind]))
      changes[total] = (changes[total] ?? 0) + sign * amount;
  return changes;
};
