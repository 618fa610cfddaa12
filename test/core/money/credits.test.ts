import { credits, toCredits } from "@mailproof/core/money/credits";
import { expect, test } from "vitest";

test.each([0, 0.5, 1, 10, 1_000_000.5])(
  "%d credits convert to half-credits and back unchanged",
  (amount) => {
    expect(toCredits(credits(amount))).toBe(amount);
  },
);

test.each([0.3, 1e300, Number.NaN, Number.POSITIVE_INFINITY])(
  "%d is not an amount of credits",
  (amount) => {
    expect(() => credits(amount)).toThrow(RangeError);
  },
);
