import type { Bounds } from "../table.ts";
import { type Halves, PRICE } from "./credits.ts";
import type { Balance } from "./items.ts";

/** A line that the available credits can fall below, and the news that they did. */
export type Line = { readonly event: "credits.low" | "credits.depleted"; readonly below: Halves };

const LOW_SHARE = 0.1;

/** A tenth of what was granted last. */
export const lowLineAfter = (granted: Halves): Halves => Math.floor(granted * LOW_SHARE) as Halves;

const linesOf = ({ lowLine }: Balance): readonly Line[] => [
  { event: "credits.low", below: lowLine },
  // What is left does not pay for the smallest thing that is asked for the first time.
  { event: "credits.depleted", below: PRICE.verify },
];

/** Which lines are crossed by taking this much, and the condition under which it is exactly these. */
export type Crossing = { readonly crossed: readonly Line[]; readonly leaving: Bounds[string] };

/**
 * The balance may move between looking and taking, and every crossing must be told once and no more. So the write
 * is refused, and looked at again, unless it leaves an amount on the expected side of every line; one that crosses
 * a line leaves exactly what it says it does.
 */
export const crossingOf = (balance: Balance, amount: Halves): Crossing => {
  const before = balance.available;
  const after = before - amount;
  const lines = linesOf(balance);
  const crossed = lines.filter(({ below }) => after < below && below <= before);
  if (crossed.length > 0) return { crossed, leaving: { atLeast: after, atMost: after } };

  const kept = lines.filter(({ below }) => below <= after).map(({ below }) => below);
  const passed = lines.filter(({ below }) => below > before).map(({ below }) => below);
  const atLeast = Math.max(0, ...kept);
  const atMost = passed.length > 0 && { atMost: Math.min(...passed) - amount - 1 };
  return { crossed, leaving: { atLeast, ...atMost } };
};
