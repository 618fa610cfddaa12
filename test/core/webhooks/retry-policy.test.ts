import type { HttpsOutcome } from "@mailproof/core/ports/https";
import {
  type DeliveryVerdict,
  getNextAttempt,
  getSlotWaitMs,
  judgeResponse,
  RETRY_WINDOW_MS,
} from "@mailproof/core/webhooks/retry-policy";
import { expect, test } from "vitest";
import { START } from "../../given.ts";
import { createRandom } from "../../simulation/random.ts";

const answer = (status: number, retryAfter: string | null = null): HttpsOutcome => ({
  kind: "answer",
  status,
  retryAfter,
  contentType: "",
  body: "",
  isComplete: true,
});
const failed = (earliestMs = 0): DeliveryVerdict => ({ kind: "failed", earliestMs });
const DELIVERED: DeliveryVerdict = { kind: "delivered" };

test.each<[string, HttpsOutcome, DeliveryVerdict]>([
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
  expect(judgeResponse(outcome, START)).toEqual(verdict);
});

const HOUR = 3_600_000;

/** The moments of all tries, in ms after the first, when every one fails at once. */
const listAttempts = (seed: number): number[] => {
  const random = createRandom(seed);
  const tries = [0];
  for (;;) {
    const now = new Date(START.getTime() + (tries.at(-1) ?? 0));
    const attempted = { attempts: tries.length, triedSince: START };
    const next = getNextAttempt(attempted, { now, random, earliestMs: 0 });
    if (!next) return tries;
    tries.push(next.getTime() - START.getTime());
  }
};

test("a delivery is tried for a day, and the last try comes when the day is over", () => {
  for (let seed = 0; seed < 500; seed++) {
    const tries = listAttempts(seed);
    expect(tries.at(-1), `seed ${seed}`).toBe(RETRY_WINDOW_MS);
    expect(tries.length).toBeGreaterThan(8);
    expect(tries.length).toBeLessThan(60);
  }
});

test("whatever the jitter, an outage of six hours is outlived", () => {
  for (let seed = 0; seed < 500; seed++)
    expect(listAttempts(seed).some((ms) => ms > 6 * HOUR)).toBe(true);
});

test("the gaps grow, up to four hours, and each is anything below its most", () => {
  const listGaps = (attempts: number) =>
    Array.from({ length: 200 }, (_, seed) => {
      const random = createRandom(seed);
      const next = getNextAttempt(
        { attempts, triedSince: START },
        { now: START, random, earliestMs: 0 },
      );
      return (next?.getTime() ?? 0) - START.getTime();
    });
  const mosts = [10_000, 60_000, 300_000, 1_800_000, HOUR, 2 * HOUR, 4 * HOUR, 4 * HOUR, 4 * HOUR];

  for (const [before, most] of mosts.entries()) {
    const gaps = listGaps(before + 1);
    expect(Math.max(...gaps)).toBeLessThanOrEqual(most);
    expect(Math.max(...gaps)).toBeGreaterThan(most * 0.9);
    expect(Math.min(...gaps)).toBeLessThan(most * 0.1);
  }
});

test("who asked to be left alone is, though not beyond the day", () => {
  const attempted = { attempts: 1, triedSince: START };
  const after = (earliestMs: number) =>
    (getNextAttempt(attempted, { now: START, random: () => 0, earliestMs })?.getTime() ?? 0) -
    START.getTime();

  expect(after(120_000)).toBe(120_000);
  expect(after(30 * RETRY_WINDOW_MS)).toBe(RETRY_WINDOW_MS);
});

test("who finds no place waits the longer the oftener, and never longer than a queue holds back", () => {
  const most = (waits: number) => getSlotWaitMs(waits, () => 1);

  expect([0, 1, 2, 3].map(most)).toEqual([2_000, 3_000, 5_000, 9_000]);
  expect(most(1_000)).toBe(900_000);
  expect(getSlotWaitMs(1_000, () => 0)).toBe(1_000);
});
