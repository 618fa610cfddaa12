import type { HttpsOutcome } from "@mailproof/core/ports/https";
import {
  type DeliveryVerdict,
  getNextAttempt,
  getSlotWaitMs,
  judgeResponse,
  RETRY_WINDOW_MS,
} from "@mailproof/core/webhooks/retry-policy";
import { expect, test } from "vitest";
import { START } from "../../app/given.ts";
import { createRandom } from "../../simulation/random.ts";

const answer = (status: number, retryAfter: string | null = null): HttpsOutcome => ({
  kind: "answer",
  status,
  retryAfter,
  contentType: "",
  body: "",
  isComplete: true,
});
const failedUntil = (earliestMs = 0): DeliveryVerdict => ({ kind: "failed", earliestMs });
const DELIVERED: DeliveryVerdict = { kind: "delivered" };

test.each<[string, HttpsOutcome, DeliveryVerdict]>([
  ["200", answer(200), DELIVERED],
  ["202", answer(202), DELIVERED],
  ["299", answer(299), DELIVERED],
  ["a redirect", answer(301), failedUntil()],
  ["not modified", answer(304), failedUntil()],
  ["400", answer(400), failedUntil()],
  ["404", answer(404), failedUntil()],
  ["410", answer(410), { kind: "gone" }],
  ["500", answer(500), failedUntil()],
  ["no server at the address", { kind: "failed", why: "connect_refused" }, failedUntil()],
  ["429 with a delay in seconds", answer(429, "120"), failedUntil(120_000)],
  ["503 with a delay in seconds", answer(503, "7"), failedUntil(7_000)],
  ["503 with a date", answer(503, "Sat, 21 Nov 2026 00:02:00 GMT"), failedUntil(120_000)],
  ["429 with a date in the past", answer(429, "Sat, 21 Nov 2020 00:02:00 GMT"), failedUntil()],
  ["429 without Retry-After", answer(429), failedUntil()],
  ["429 with an unreadable Retry-After", answer(429, "soon"), failedUntil()],
  ["429 with a negative number", answer(429, "-5"), failedUntil()],
  ["429 with a number of forty digits", answer(429, "9".repeat(40)), failedUntil()],
  ["500 with Retry-After, which is ignored", answer(500, "60"), failedUntil()],
])("%s", (_what, outcome, verdict) => {
  expect(judgeResponse(outcome, START)).toEqual(verdict);
});

const HOUR = 3_600_000;

/** The times of all attempts, in ms after the first, when every one fails at once. */
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

test("a delivery is attempted for a day, and the last attempt is at the end of the day", () => {
  for (let seed = 0; seed < 500; seed++) {
    const tries = listAttempts(seed);
    expect(tries.at(-1), `seed ${seed}`).toBe(RETRY_WINDOW_MS);
    expect(tries.length).toBeGreaterThan(8);
    expect(tries.length).toBeLessThan(60);
  }
});

test("with any jitter, a delivery outlives an outage of six hours", () => {
  for (let seed = 0; seed < 500; seed++)
    expect(listAttempts(seed).some((ms) => ms > 6 * HOUR)).toBe(true);
});

test("the delays grow up to four hours, and each is drawn between zero and its maximum", () => {
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

test("a delivery waits as long as its receiver asked for, though not beyond the day", () => {
  const attempted = { attempts: 1, triedSince: START };
  const after = (earliestMs: number) =>
    (getNextAttempt(attempted, { now: START, random: () => 0, earliestMs })?.getTime() ?? 0) -
    START.getTime();

  expect(after(120_000)).toBe(120_000);
  expect(after(30 * RETRY_WINDOW_MS)).toBe(RETRY_WINDOW_MS);
});

test("a delivery without a slot waits longer each time, and never longer than a queue can delay a message", () => {
  const most = (waits: number) => getSlotWaitMs(waits, () => 1);

  expect([0, 1, 2, 3].map(most)).toEqual([2_000, 3_000, 5_000, 9_000]);
  expect(most(1_000)).toBe(900_000);
  expect(getSlotWaitMs(1_000, () => 0)).toBe(1_000);
});
