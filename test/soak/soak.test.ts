import { expect, test } from "vitest";
import { asRows } from "../runner/as-rows.ts";
import { createRandom } from "../simulation/random.ts";
import { bestBlock, computeMedian, growth, isComparable, type Timed } from "./figures.ts";
import { judge } from "./truth.ts";

const EARLIER = [0, 60_000] as const;
const LATER = [60_000, 120_000] as const;

/** Two minutes of answers, ten in a second, each with a little noise of its own. */
const answers = (tookMs: (atMs: number) => number): Timed[] => {
  const chance = createRandom(1);
  return Array.from({ length: 1_200 }, (_, n) => {
    const atMs = n * 100;
    return { atMs, value: tookMs(atMs) * (0.8 + 0.4 * chance()) };
  });
};

const grows = (tookMs: (atMs: number) => number, { least = 1, slower = 1 } = {}): boolean => {
  const all = answers(tookMs);
  const before = bestBlock(all, EARLIER, computeMedian);
  const after = bestBlock(all, LATER, computeMedian);
  return growth({ before, after, least, slower }).grows;
};

test.each(asRows`
  constant times | ${() => 5}
  another busy program in most of the later part | ${(atMs: number) => (atMs > 60_000 && atMs < 105_000 ? 15 : 5)}
  a growth below one millisecond | ${(atMs: number) => (atMs < 60_000 ? 2 : 2.8)}
`)("the soak test reports no growth for %s", (_, tookMs) => {
  expect(grows(tookMs)).toBe(false);
});

test.each(asRows`
  times that double by the end | ${(atMs: number) => 5 + (5 * atMs) / 120_000}
  a jump in the times | ${(atMs: number) => (atMs < 60_000 ? 5 : 7)}
  growth under noise | ${(atMs: number) => (atMs < 60_000 ? 5 : 8) * ((atMs / 1_000) % 20 < 8 ? 3 : 1)}
`)("the soak test reports growth for %s", (_, tookMs) => {
  expect(grows(tookMs)).toBe(true);
});

test("the soak test subtracts a slower machine and ignores a faster one", () => {
  const half = (atMs: number) => (atMs < 60_000 ? 5 : 7.5);

  expect(grows(half, { slower: 1.5 })).toBe(false);
  expect(grows(() => 5, { slower: 0.7 })).toBe(false);
  expect(grows(half, { slower: 0.7 })).toBe(true);
});

test("the soak test treats a missing figure as growth", () => {
  const before = bestBlock([], EARLIER, computeMedian);

  expect(growth({ before, after: 5, least: 1 }).grows).toBe(true);
  expect(growth({ before: 5, after: Number.NaN, least: 1 }).grows).toBe(true);
});

test.each([
  ["as fast as before", 1, true],
  ["a little slower", 1.4, true],
  ["twelve times faster", 0.08, false],
  ["twice as slow", 2, false],
  ["of unknown speed", Number.NaN, false],
])(
  "the soak test judges the times of a machine that is %s (%d) as comparable: %s",
  (_, slower, comparable) => {
    expect(isComparable(slower)).toBe(comparable);
  },
);

test.each([
  ["valid", "valid", "right"],
  ["valid", "pending", "undecided"],
  ["valid", "risky", "undecided"],
  ["valid", "invalid", "wrong"],
  ["invalid", "valid", "wrong"],
  ["catch_all", "valid", "wrong"],
  ["unknown", "valid", "right"],
  ["unknown", "invalid", "wrong"],
  ["valid", "missing", "wrong"],
] as const)("the soak test judges a %s address reported as %s as %s", (truth, reported, judged) => {
  expect(judge(truth, reported)).toBe(judged);
});
