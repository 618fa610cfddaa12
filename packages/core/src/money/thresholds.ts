import type { Bounds } from "../ports/table.ts";
import type { Halves } from "./credits.ts";
import type { Balance } from "./items.ts";
import { PRICES } from "./prices.ts";

/** A threshold of available credits, and the event that is emitted when they fall below it. */
export type CreditThreshold = {
  readonly event: "credits.low" | "credits.depleted";
  readonly below: Halves;
};

const LOW_SHARE = 0.1;

/** A tenth of the latest grant. */
export const getLowThreshold = (granted: Halves): Halves =>
  Math.floor(granted * LOW_SHARE) as Halves;

const getThresholds = ({ lowLine }: Balance): readonly CreditThreshold[] => [
  { event: "credits.low", below: lowLine },
  // The remaining credits do not pay for one uncached verification.
  { event: "credits.depleted", below: PRICES.verify },
];

/** The thresholds that a debit crosses, and the condition under which it crosses exactly these. */
export type ThresholdCrossing = {
  readonly crossed: readonly CreditThreshold[];
  readonly bounds: Bounds[string];
};

/**
 * The balance may change between the read and the write, and every crossing must be reported exactly once. So the write
 * is refused, and the balance read again, unless the write leaves an amount on the expected side of every threshold. A
 * write that crosses a threshold must leave exactly the amount that its event reports.
 */
export const findCrossing = (balance: Balance, amount: Halves): ThresholdCrossing => {
  const before = balance.available;
  const after = before - amount;
  const thresholds = getThresholds(balance);
  const crossed = thresholds.filter(({ below }) => after < below && below <= before);
  if (crossed.length > 0) return { crossed, bounds: { atLeast: after, atMost: after } };

  const remaining = thresholds.filter(({ below }) => below <= after).map(({ below }) => below);
  const alreadyCrossed = thresholds.filter(({ below }) => below > before).map(({ below }) => below);
  const atLeast = Math.max(0, ...remaining);
  const atMost = alreadyCrossed.length > 0 && { atMost: Math.min(...alreadyCrossed) - amount - 1 };
  return { crossed, bounds: { atLeast, ...atMost } };
};
