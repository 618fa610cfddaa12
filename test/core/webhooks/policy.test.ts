import type { HttpsOutcome } from "@mailproof/core/https";
import {
  nextTryAt,
  TRIED_FOR_MS,
  type Verdict,
  verdictOn,
  waitForPlaceMs,
} from "@mailproof/core/webhooks/policy";
import { expect, test } from "vitest";
import { START } from "../../given.ts";
import { chanceOf } from "../../simulation/chance.ts";

const answer = (status: number, retryAfter: string | null = null): HttpsOutcome => ({
  kind: "answer",
  status,
  retryAfter,
  contentType: "",
  body: "",
  isWhole: true,
});
const failed = (earliestMs = 0): Verdict => ({ kind: "failed", earliestMs });
const DELIVERED: Verdict = { kind: "delivered" };

test.each<[string, HttpsOutcome, Verdict]>([
  ["200", answer(200), DELIVERED],
  ["202", answer(202), DELIVERED],
  ["299", answer(299), DELIVERED],
  ["a redirect", answer(301), failed()],
  ["not modified", answer(304), failed()],
  ["400", answer(400), failed()],
  ["404", answer(404), failed()],
  ["410", answer(410), { kind: "gone" }],
  ["500", answer(500), failed()],
  ["nobody there", { kind: "failed", why: "connect_refused" }, failed()],
  ["429 that says for how long", answer(429, "120"), failed(120_000)],
  ["503 that says for how long", answer(503, "7"), failed(7_000)],
  ["503 that says until when", answer(503, "Sat, 21 Nov 2026 00:02:00 GMT"), failed(120_000)],
  ["429 until what is past", answer(429, "Sat, 21 Nov 2020 00:02:00 GMT"), failed()],
  ["429 that says nothing", answer(429), failed()],
  ["429 that says nonsense", answer(429, "soon"), failed()],
  ["429 with less than nothing", answer(429, "-5"), failed()],
  ["429 with a number without end", answer(429, "9".repeat(40)), failed()],
  ["500 that says for how long, which means nothing", answer(500, "60"), failed()],
])("%s", (_what, outcome, verdict) => {
  expect(verdictOn(outcome, START)).toEqual(verdict);
});

const HOUR = 3_600_000;

/** The moments of all tries, in ms after the first, when every one fails at once. */
const triesOf = (seed: number): number[] => {
  const random = chanceOf(seed);
  const tries = [0];
  for (;;) {
    const now = new Date(START.getTime() + (tries.at(-1) ?? 0));
    const tried = { attempts: tries.length, triedSince: START };
    const next = nextTryAt(tried, { now, random, earliestMs: 0 });
    if (!next) return tries;
    tries.push(next.getTime() - START.getTime());
  }
};

test("a delivery is tried for a day, and the last try comes when the day is over", () => {
  for (let seed = 0; seed < 500; seed++) {
    const tries = triesOf(seed);
    expect(tries.at(-1), `seed ${seed}`).toBe(TRIED_FOR_MS);
    expect(tries.length).toBeGreaterThan(8);
    expect(tries.length).toBeLessThan(60);
  }
});

test("whatever the jitter, an outage of six hours is outlived", () => {
  for (let seed = 0; seed < 500; seed++)
    expect(triesOf(seed).some((ms) => ms > 6 * HOUR)).toBe(true);
});

test("the gaps grow, up to four hours, and each is anything below its most", () => {
  const gapsAfter = (attempts: number) =>
    Array.from({ length: 200 }, (_, seed) => {
      const random = chanceOf(seed);
      const next = nextTryAt(
        { attempts, triedSince: START },
        { now: START, random, earliestMs: 0 },
      );
      return (next?.getTime() ?? 0) - START.getTime();
    });
  const mosts = [10_000, 60_000, 300_000, 1_800_000, HOUR, 2 * HOUR, 4 * HOUR, 4 * HOUR, 4 * HOUR];

  for (const [before, most] of mosts.entries()) {
    const gaps = gapsAfter(before + 1);
    expect(Math.max(...gaps)).toBeLessThanOrEqual(most);
    expect(Math.max(...gaps)).toBeGreaterThan(most * 0.9);
    expect(Math.min(...gaps)).toBeLessThan(most * 0.1);
  }
});

test("who asked to be left alone is, though not beyond the day", () => {
  const tried = { attempts: 1, triedSince: START };
  const after = (earliestMs: number) =>
    (nextTryAt(tried, { now: START, random: () => 0, earliestMs })?.getTime() ?? 0) -
    START.getTime();

  expect(after(120_000)).toBe(120_000);
  expect(after(30 * TRIED_FOR_MS)).toBe(TRIED_FOR_MS);
});

test("who finds no place waits the longer the oftener, and never longer than a queue holds back", () => {
  const most = (waits: number) => waitForPlaceMs(waits, () => 1);

  expect([0, 1, 2, 3].map(most)).toEqual([2_000, 3_000, 5_000, 9_000]);
  expect(most(1_000)).toBe(900_000);
  expect(waitForPlaceMs(1_000, () => 0)).toBe(1_000);
});
