import { expect, test } from "vitest";
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

test.each([
  ["answers that stay as they are", () => 5],
  [
    "another program that holds the machine for most of the later part",
    (atMs: number) => (atMs > 60_000 && atMs < 105_000 ? 15 : 5),
  ],
  ["a part of a millisecond more", (atMs: number) => (atMs < 60_000 ? 2 : 2.8)],
])("%s: nothing grows", (_, tookMs) => {
  expect(grows(tookMs)).toBe(false);
});

test.each([
  ["answers that take twice as long in the end", (atMs: number) => 5 + (5 * atMs) / 120_000],
  ["a step", (atMs: number) => (atMs < 60_000 ? 5 : 7)],
  [
    "growth under noise",
    (atMs: number) => (atMs < 60_000 ? 5 : 8) * ((atMs / 1_000) % 20 < 8 ? 3 : 1),
  ],
])("%s: that is growth", (_, tookMs) => {
  expect(grows(tookMs)).toBe(true);
});

test("a machine that became slower is taken out, and one that became faster is not held against the service", () => {
  const half = (atMs: number) => (atMs < 60_000 ? 5 : 7.5);

  expect(grows(half, { slower: 1.5 })).toBe(false);
  expect(grows(() => 5, { slower: 0.7 })).toBe(false);
  expect(grows(half, { slower: 0.7 })).toBe(true);
});

test("a figure that is missing is not flat", () => {
  const before = bestBlock([], EARLIER, computeMedian);

  expect(growth({ before, after: 5, least: 1 }).grows).toBe(true);
  expect(growth({ before: 5, after: Number.NaN, least: 1 }).grows).toBe(true);
});

test.each([
  ["as fast as before", 1, true],
  ["a little slower", 1.4, true],
  ["twelve times faster", 0.08, false],
  ["twice as slow", 2, false],
  ["of a speed that is not known", Number.NaN, false],
])("a machine that is %s: are its times comparable? %d, %s", (_, slower, comparable) => {
  expect(isComparable(slower)).toBe(comparable);
});

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
] as const)("%s that was reported as %s is %s", (truth, reported, judged) => {
  expect(judge(truth, reported)).toBe(judged);
});
