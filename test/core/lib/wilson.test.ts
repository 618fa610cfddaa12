import { estimateShare } from "@mailproof/core/lib/wilson";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createRandom } from "../../simulation/random.ts";

// The first three are in tables of Wilson's interval (Newcombe 1998, Table I, method 3).
test.each([
  [81, 263, 0.2553, 0.3662],
  [15, 148, 0.0624, 0.1605],
  [0, 20, 0, 0.1611],
  [1, 29, 0.0061, 0.1718],
  [0, 0, 0, 1],
])("%i of %i lie between %f and %f", (count, of, least, most) => {
  const interval = estimateShare(count, of);

  expect(interval.least).toBeCloseTo(least, 4);
  expect(interval.most).toBeCloseTo(most, 4);
});

test("an interval lies within 0 and 1, contains the share, and narrows with more of the same", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 5_000 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (of, part) => {
        const count = Math.round(of * part);
        const { least, most } = estimateShare(count, of);
        const larger = estimateShare(count * 2, of * 2);
        expect(least).toBeGreaterThanOrEqual(0);
        expect(most).toBeLessThanOrEqual(1);
        expect(least).toBeLessThanOrEqual(count / of);
        expect(most).toBeGreaterThanOrEqual(count / of);
        expect(larger.most - larger.least).toBeLessThan(most - least);
      },
    ),
  );
});

test("19 of 20 samples have the true share in their interval", () => {
  const random = createRandom(7);
  const [share, of, samples] = [0.03, 400, 600];
  const right = Array.from({ length: samples }, () => {
    const count = Array.from({ length: of }, random).filter((one) => one < share).length;
    const { least, most } = estimateShare(count, of);
    return least <= share && share <= most;
  }).filter(Boolean).length;

  expect(right / samples).toBeGreaterThan(0.92);
  expect(right / samples).toBeLessThan(0.98);
});
