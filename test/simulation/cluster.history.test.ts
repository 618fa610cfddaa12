import { PROVIDER_CONNECTIONS } from "@mailproof/mail/mail-providers";
import { expect, test } from "vitest";
import { simulateCallers, simulateCluster } from "./cluster.ts";

// Goal: many processes share the few connections that a large provider takes, and no row becomes unknown for want of
// one. `npx node test/simulation/cluster-cli.ts` prints the whole table.

test.each([
  { processes: 5, replyMs: 200, rows: 200 },
  { processes: 20, replyMs: 50, rows: 200 },
  { processes: 40, replyMs: 100, rows: 100 },
])(
  "$processes processes with $rows Gmail rows each and replies of $replyMs ms ask every row once at the allowed rate",
  async ({ processes, replyMs, rows }) => {
    const cluster = await simulateCluster(processes, replyMs, rows);

    expect(cluster).toMatchObject({ valid: cluster.rows, unknown: 0, askedTwice: 0 });
    expect(cluster.peak).toBe(PROVIDER_CONNECTIONS);
    expect(cluster.rate).toBeGreaterThan(cluster.rateMax * 0.85);
  },
  120_000,
);

test("200 callers at Gmail all get the right result, and callers at other domains keep their speed", async () => {
  const calm = await simulateCallers(0, 100);
  const crowd = await simulateCallers(200, 100);

  expect(crowd.answeredAtOnce + crowd.pending).toBe(200);
  expect(crowd.answeredAtOnce).toBeGreaterThanOrEqual(PROVIDER_CONNECTIONS);
  expect(crowd.rightLater).toBe(crowd.pending);
  expect(crowd.peak).toBe(PROVIDER_CONNECTIONS);
  // Five connections of ten recipients each, one after the other, take 8 seconds of virtual time.
  expect(crowd.secondsToLast).toBeLessThan(20);
  expect(crowd.othersAnswered).toBe(calm.othersAnswered);
  expect(crowd.othersMs.at(-1)).toBeLessThan(1.2 * (calm.othersMs.at(-1) ?? 0));
}, 120_000);
