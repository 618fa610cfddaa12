import type { Bounds } from "../ports/table.ts";
import { type Halves, PRICE } from "./credits.ts";
import type { Balance } from "./items.ts";

/** A line that the available credits can fall below, and the news that they did. */
export type CreditThreshold = {
  readonly event: "credits.low" | "credits.depleted";
  readonly below: Halves;
};

const LOW_SHARE = 0.1;

/** A tenth of what was granted last. */
export const getLowThreshold = (granted: Halves): Halves =>
  Math.floor(granted * LOW_SHARE) as Halves;

const getThresholds = ({ lowLine }: Balance): readonly CreditThreshold[] => [
  { event: "credits.low", below: lowLine },
  // What is left does not pay for the smallest thing that is asked for the first time.
  { event: "credits.depleted", below: PRICE.verify },
];

/** Which lines are crossed by taking this much, and the condition under which it is exactly these. */
export type ThresholdCrossing = {
  readonly crossed: readonly CreditThreshold[];
  readonly bounds: Bounds[string];
};

/**
 * The balance may move between looking and taking, and every crossing must be told once and no more. So the write
 * is refused, and looked at again, unless it leaves an amount on the expected side of every line; one that crosses
 * a line leaves exactly what it says it does.
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
