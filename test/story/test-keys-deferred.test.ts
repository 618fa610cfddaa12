import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { whenWorked } from "../drain-queues.ts";
import { givenChunked, readJob, type TestContext, whenBatched } from "../jobs.ts";
import { listMoves, listOutboxEvents } from "../ledger.ts";
import { whenVerified } from "../send.ts";

// Goal: docs/test-keys.md is true about addresses that are attempted again: an integration test sees them wait, and
// does not wait itself.
// Method: every row of its table is sent in a batch, and the seconds are counted until the job is done.

const page = readFileSync("docs/test-keys.md", "utf8");
const [, section = ""] = page.split("## Retries");
const rows = [
  ...section.matchAll(/^\| `([^`]+)` +\| `([^`]+)` +\| (\d) +\| `(\w+)`, `(\w+)`/gm),
].map(([, email = "", waitsFor = "", attempts, status, reason]) => ({
  email,
  waitsFor,
  attempts: Number(attempts),
  status,
  reason,
}));

/** What the job says of the rows that wait, second by second, until it is done. */
const whenSecondsElapse = async (ctx: TestContext): Promise<unknown[]> => {
  const waiting: unknown[] = [];
  for (let second = 0; second < 10; second++) {
    await whenWorked(ctx);
    const { status, deferred } = await readJob(ctx, "job_1", ctx.testKey);
    if (status === "completed" || status === "failed") return waiting;
    waiting.push(deferred);
    ctx.later(1_000);
  }
  throw new Error("the job takes longer than ten seconds");
};

test("the page's table has rows", () => {
  expect(rows.map(({ email }) => email)).toEqual([
    "greylisted@example.com",
    "unknown@example.com",
    "ann@dnsfail.com",
    "error@example.com",
  ]);
});

test.each(rows)(
  "$email waits for $waitsFor, a second each time, and comes to $status",
  async (row) => {
    const ctx = await givenChunked();
    const emails = ["ann@example.com", row.email];
    await whenBatched(ctx.world, ctx.testKey, { emails });

    const waiting = await whenSecondsElapse(ctx);

    expect(waiting).toHaveLength(row.attempts - 1);
    for (const [second, deferred] of waiting.entries())
      expect(deferred).toEqual({
        count: 1,
        by_reason: { [row.waitsFor]: 1 },
        next_attempt_at: `2026-11-21T00:00:0${second + 1}.000Z`,
      });
    const { results } = await readJob(ctx, "job_1", ctx.testKey);
    expect(results).toMatchObject([
      { email: "ann@example.com", status: "valid" },
      { email: row.email, status: row.status, reason: row.reason },
    ]);
    expect(listMoves(ctx)).toEqual([]);
  },
);

test.each(rows.filter(({ email }) => email !== "error@example.com"))(
  "$email alone is pending, and its job comes to $status",
  async ({ email, attempts, status, reason }) => {
    const ctx = await givenChunked();

    const response = await whenVerified(ctx.world, ctx.testKey, { email });

    expect(response.data).toMatchObject({ status: "pending", job_id: "job_1", credits_used: 0 });
    // The first attempt was the request's own.
    expect(await whenSecondsElapse(ctx)).toHaveLength(attempts - 1);
    const job = await readJob(ctx, "job_1", ctx.testKey);
    expect(job).toMatchObject({ status: "completed", results: [{ status, reason }] });
    expect(listMoves(ctx)).toEqual([]);
  },
);

test("a job of nothing but rows that break fails after three seconds, and says so", async () => {
  const ctx = await givenChunked();
  const emails = ["error@example.com", "error+2@example.com", "error+3@example.com"];
  await whenBatched(ctx.world, ctx.testKey, { emails });

  expect(await whenSecondsElapse(ctx)).toHaveLength(3);

  expect(await readJob(ctx, "job_1", ctx.testKey)).toMatchObject({
    status: "failed",
    error: expect.stringContaining("Nothing was charged."),
    progress: { total: 3, unknown: 3 },
  });
  expect(listOutboxEvents(ctx)).toEqual(["job.failed"]);
});

test.each([
  [0, "unknown"],
  [5, "unknown"],
  [6, "valid"],
])(
  "max_wait_minutes counts the minutes of a live key: with %i a greylisted address is %s",
  async (max_wait_minutes, status) => {
    const ctx = await givenChunked();
    const body = { emails: ["greylisted@example.com"], options: { max_wait_minutes } };
    await whenBatched(ctx.world, ctx.testKey, body);

    await whenSecondsElapse(ctx);

    expect(await readJob(ctx, "job_1", ctx.testKey)).toMatchObject({ results: [{ status }] });
  },
);

test("a message of the second attempt that is lost is found due within a minute", async () => {
  const ctx = await givenChunked();
  await whenBatched(ctx.world, ctx.testKey, { emails: ["greylisted@example.com"] });
  await whenWorked({
    ...ctx,
    world: {
      ...ctx.world,
      queue: { ...ctx.world.queue, sendMany: async (_name, all) => all.map(() => "unknown") },
    },
  });
  const { whenReconciled } = await import("../drain-queues.ts");
  ctx.later(60_000);
  await whenReconciled(ctx);
  await whenWorked(ctx);

  expect(await readJob(ctx, "job_1", ctx.testKey)).toMatchObject({
    status: "completed",
    results: [{ status: "valid" }],
  });
});
