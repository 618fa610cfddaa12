import type { Halves } from "./credits.ts";

/**
 * Every kind of movement, and the totals that one half-credit of it changes. Each line preserves both invariants: available =
 * granted - debited + refunded, and held + spent + refunded = debited.
 */
export const MOVES = {
  grant: { available: 1, granted: 1 },
  clawback: { available: -1, granted: -1 },
  charge: { available: -1, debited: 1, spent: 1 },
  hold: { available: -1, debited: 1, held: 1 },
  settle: { held: -1, spent: 1 },
  release: { held: -1, available: 1, refunded: 1 },
  /** Paid credits return, because the service did not deliver the result. */
  refund: { spent: -1, available: 1, refunded: 1 },
} as const;

export type MoveKind = keyof typeof MOVES;
export const MOVE_KINDS = Object.keys(MOVES) as [MoveKind, ...MoveKind[]];

/** Amounts by kind; one entry may contain several kinds. */
export type MovedAmounts = Readonly<Partial<Record<MoveKind, Halves>>>;

export const toBalanceChanges = (moved: MovedAmounts): Readonly<Record<string, number>> => {
  const changes: Record<string, number> = {};
  for (const [kind, amount] of Object.entries(moved) as [MoveKind, Halves][])
    for (const [total, sign] of Object.entries(MOVES[kind]))
      changes[total] = (changes[total] ?? 0) + sign * amount;
  return changes;
};

export const addUp = (all: readonly Readonly<Record<string, number>>[]): Record<string, number> => {
  const sums: Record<string, number> = {};
  for (const [name, by] of all.flatMap((one) => Object.entries(one)))
    sums[name] = (sums[name] ?? 0) + by;
  return sums;
};
