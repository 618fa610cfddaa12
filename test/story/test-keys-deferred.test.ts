import { readFileSync } from "node:fs";
import { SANDBOX_DAYS, SANDBOX_REPUTATIONS } from "@mailproof/core/activity/sandbox";
import { expect, test } from "vitest";
import { whenWorked } from "../app/drain-queues.ts";
import { given } from "../app/given.ts";
import { listMoves, listOutboxEvents, listStoredItems } from "../app/ledger.ts";
import { send, whenVerified } from "../app/send.ts";
import { DAY_MS, whenActivityRead } from "../things/activity.ts";
import { givenChunked, readJob, type TestContext, whenBatched } from "../things/jobs.ts";

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
  const { whenReconciled } = await import("../app/drain-queues.ts");
  ctx.later(60_000);
  await whenReconciled(ctx);
  await whenWorked(ctx);

  expect(await readJob(ctx, "job_1", ctx.testKey)).toMatchObject({
    status: "completed",
    results: [{ status: "valid" }],
  });
});

// Goal: docs/test-keys.md lists the activity that test keys get, all of it and nothing else.
// Method: every row of its tables is asked for, and every word of our own tables is looked for among them.

const [, activitySection = ""] = page.split("## Activity");
const getRows = (first: RegExp) =>
  activitySection
    .split("\n")
    .filter((line) => first.test(line))
    .map((line) => line.split("|").map((cell) => cell.trim().replaceAll("`", "")))
    .map(([, name = "", level = "", third = ""]) => ({ name, level, third }));

const addresses = getRows(/^\| `\w+@/);
const domains = getRows(/^\| `[\w.]+`/);

test.each(addresses)("$name is $level, last open $third, as the page says", async (row) => {
  const { world, testKey } = await given();

  const { activity } = (await whenActivityRead(world, testKey, row.name)).data;
  const { data } = await send(world, "POST /v1/activity/batch", {
    key: testKey,
    body: { emails: [row.name] },
  });

  const days = Number.parseInt(row.third, 10);
  const lastOpen = new Date(world.now().getTime() - days * DAY_MS);
  expect(activity.engagement_level).toBe(row.level);
  expect(activity.last_open?.slice(0, 10) ?? "never").toBe(
    row.third === "never" ? "never" : lastOpen.toISOString().slice(0, 10),
  );
  expect(data.results[0].activity).toEqual(activity);
});

test.each(domains)("$name is $level and listed $third, as the page says", async (row) => {
  const { world, testKey } = await given();
  const never = () => Promise.reject(new Error("the network was asked"));
  const names = { ...world.names, dns: never, listDns: never };

  const { data } = await send({ ...world, names }, `GET /v1/activity/domain/${row.name}`, {
    key: testKey,
  });

  expect(data.reputation.level).toBe(row.level);
  expect(String(data.blacklist_status.listed)).toBe(row.third);
});

test("the page leaves out no word and no label", () => {
  expect(addresses.map(({ name }) => name.split("@")[0])).toEqual(Object.keys(SANDBOX_DAYS));
  expect(domains.slice(1).map(({ name }) => name.split(".")[0])).toEqual(
    Object.keys(SANDBOX_REPUTATIONS),
  );
});

test("any other word is a person who reads, the same each time, and nothing is stored", async () => {
  const ctx = await given();
  const before = listStoredItems(ctx);

  const first = await whenActivityRead(ctx.world, ctx.testKey, "constructor@example.com");
  const second = await whenActivityRead(ctx.world, ctx.testKey, "constructor@example.com");

  expect(first.data.activity.engagement_level).toBe("high");
  expect(second.data).toEqual(first.data);
  expect(listStoredItems(ctx)).toEqual(before);
});

test("a test key's activity a year from now is as it is today", async () => {
  const { world, testKey, later } = await given();
  later(365 * DAY_MS);

  expect(
    (await whenActivityRead(world, testKey, "medium@x.com")).data.activity.engagement_level,
  ).toBe("medium");
});
