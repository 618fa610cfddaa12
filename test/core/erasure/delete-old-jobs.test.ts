import { openAccount } from "@mailproof/core/accounts/accounts";
import { setRetention } from "@mailproof/core/accounts/retention";
import { reconcile } from "@mailproof/core/background/reconciler";
import { deleteOldJobs } from "@mailproof/core/erasure/delete-old-jobs";
import { credits } from "@mailproof/core/money/credits";
import { getOwnerId } from "@mailproof/core/money/payer";
import { toJobKey } from "@mailproof/core/rows/items";
import { expect, test } from "vitest";
import { whenReconciled, whenWorked } from "../../app/drain-queues.ts";
import { listMoves, thenConsistent } from "../../app/ledger.ts";
import { send, whenVerified } from "../../app/send.ts";
import { givenChunked, type TestContext, whenBatched, whenProcessed } from "../../things/jobs.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const listIds = async ({ world, liveKey: key }: Pick<TestContext, "world" | "liveKey">) =>
  (await send(world, "GET /v1/jobs", { key })).data.jobs.map((job: any) => job.job_id);

/** A day passes, and the worker deletes old jobs in the minute after it. */
const whenDaysPass = async (ctx: TestContext, days: number): Promise<void> => {
  ctx.later(days * DAY_MS);
  for (let minutes = 0; minutes < 60; minutes += 10) {
    await whenReconciled(ctx);
    ctx.later(10 * 60_000);
  }
};

const whenListed = async (ctx: TestContext, emails: readonly string[]): Promise<void> => {
  await whenBatched(ctx.world, ctx.liveKey, { emails });
  await whenWorked(ctx);
};

test("a shorter retention deletes the list, results and record of existing jobs, and keeps the ledger", async () => {
  const ctx = await givenChunked();
  await whenProcessed(ctx, ["ann@x.com", "bo@x.com"]);
  await whenWorked(ctx);
  await whenDaysPass(ctx, 2);
  await whenListed(ctx, ["cy@x.com"]);
  const moves = listMoves(ctx);
  expect(await listIds(ctx)).toEqual(["job_2", "job_1"]);

  await setRetention(ctx.table, ctx.account, 2);
  await whenDaysPass(ctx, 0);

  expect(await listIds(ctx)).toEqual(["job_2"]);
  expect(ctx.blobs.keys()).toEqual([
    "inputs/job_2.jsonl",
    expect.stringMatching(/^evidence\/job_2\//),
  ]);
  expect(JSON.stringify(ctx.table.items())).not.toContain("ann@x.com");
  expect(listMoves(ctx)).toEqual(moves);
  await whenDaysPass(ctx, 2);
  expect(await listIds(ctx)).toEqual([]);
  await thenConsistent(ctx);
});

test("the retention counts days from the end of a job, and keeps an open job", async () => {
  const ctx = await givenChunked();
  await whenBatched(ctx.world, ctx.liveKey, { emails: ["ann@x.com"] });
  await setRetention(ctx.table, ctx.account, 1);
  ctx.later(3 * DAY_MS);

  await reconcile.run(ctx.world);
  await whenWorked(ctx);
  expect(await listIds(ctx)).toEqual(["job_1"]);
  await whenDaysPass(ctx, 0);
  expect(await listIds(ctx)).toEqual(["job_1"]);
  await whenDaysPass(ctx, 1);

  expect(await listIds(ctx)).toEqual([]);
});

test("the retention setting changes neither an account without the setting nor another account's jobs", async () => {
  const ctx = await givenChunked();
  await whenListed(ctx, ["ann@x.com"]);
  const other = await openAccount(ctx.world, { name: "Bo", plan: "pro", opening: credits(10) });
  await setRetention(ctx.table, other.account, 1);

  await whenDaysPass(ctx, 20);

  expect(await listIds(ctx)).toEqual(["job_1"]);
});

test.each([
  { plan: "free", days: 100, stored: 7 },
  { plan: "pro", days: 3, stored: 3 },
  { plan: "scale", days: 100, stored: 90 },
] as const)(
  "the setting of $days days and the plan $plan store results for $stored days",
  async ({ plan, days, stored }) => {
    const ctx = await givenChunked({ plan });
    await setRetention(ctx.table, ctx.account, days);
    const { data } = await send(ctx.world, "GET /v1/account", { key: ctx.liveKey });
    await whenListed(ctx, ["ann@x.com"]);
    await whenVerified(ctx.world, ctx.liveKey, {
      email: "slow@x.com",
      options: { timeout_ms: 100 },
    });
    await whenWorked(ctx);

    const chunks = ctx.table.items().filter(({ pk }) => pk.startsWith("CHUNKS#"));
    const seconds = chunks.map(
      ({ expires_at: until = 0 }) => until - ctx.world.now().getTime() / 1000,
    );
    expect(seconds.map((one) => Math.round(one / 86_400))).toEqual([stored, stored]);
    expect(data.retention_days).toBe(stored);
  },
);

test("the plan's retention applies again when the setting is removed", async () => {
  const ctx = await givenChunked();
  await setRetention(ctx.table, ctx.account, 3);
  await setRetention(ctx.table, ctx.account, undefined);

  const { data } = await send(ctx.world, "GET /v1/account", { key: ctx.liveKey });
  expect(data.retention_days).toBe(30);
});

test("the retention deletes a job whose child has ended, and keeps a job whose child runs", async () => {
  const ctx = await givenChunked();
  await whenListed(ctx, ["ann@x.com"]);
  await whenListed(ctx, ["bo@x.com"]);
  const again = { key: ctx.liveKey, body: { filter: "score:0-100" } };
  const { data } = await send(ctx.world, "POST /v1/jobs/job_2/again", again);
  await ctx.table.write({ update: toJobKey("job_1"), set: { child: "job_gone" } });
  await setRetention(ctx.table, ctx.account, 1);
  ctx.later(3 * DAY_MS);

  await deleteOldJobs(ctx.world);

  expect(await listIds(ctx)).toEqual([data.job_id, "job_2"]);
  await whenWorked(ctx);
  await deleteOldJobs(ctx.world);
  expect(await listIds(ctx)).toEqual([data.job_id]);
});

test("accounts take turns, and the next minute continues where a run stopped", async () => {
  const ctx = await givenChunked();
  const other = await openAccount(ctx.world, { name: "Bo", plan: "pro", opening: credits(10) });
  for (let n = 0; n < 250; n++)
    await whenBatched(ctx.world, ctx.testKey, { emails: ["ann@x.com"] });
  await whenBatched(ctx.world, other.testKey, { emails: ["bo@x.com"] });
  await whenWorked(ctx);
  for (const { account } of [ctx, other]) await setRetention(ctx.table, account, 1);
  ctx.later(3 * DAY_MS);
  const countJobs = (key: string) =>
    ctx.table.items().filter(({ list_pk }) => list_pk === `JOBS#${key}`).length;
  const owners = [getOwnerId({ account: ctx.account, mode: "test" })];
  const others = [getOwnerId({ account: other.account, mode: "test" })];

  await deleteOldJobs(ctx.world);
  const afterFirst = [...owners, ...others].map(countJobs);
  await whenReconciled(ctx);

  expect(afterFirst).toEqual([51, 0]);
  expect(owners.map(countJobs)).toEqual([0]);
});
