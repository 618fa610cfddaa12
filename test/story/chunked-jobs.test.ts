import type { AppWorld } from "@mailproof/core/app-world";
import { decryptSecret } from "@mailproof/core/lib/secret-box";
import { readEvent } from "@mailproof/core/webhooks/items";
import { describe, expect, test } from "vitest";
import { whenQuiet, whenReconciled, whenWorked } from "../app/drain-queues.ts";
import { createProcessGoneAfter, runTurn, withMessageFates } from "../app/faulty-worlds.ts";
import { listMoves, listOutboxEvents, readCredits, thenConsistent } from "../app/ledger.ts";
import {
  createEmails,
  formatRows,
  givenChunked,
  readJob,
  type TestContext,
  whenBatched,
  whenProcessed,
} from "../things/jobs.ts";

// What workers make of a job of many addresses, from a batch or a file.

const MINUTE_MS = 60_000;

type Sending = (ctx: TestContext, emails: readonly string[]) => Promise<unknown>;

const asBatch: Sending = ({ world, liveKey }, emails) => whenBatched(world, liveKey, { emails });
const asFile: Sending = (ctx, emails) => whenProcessed(ctx, emails);

/** The same app with mail servers that reply differently at each attempt. */
const moody = (
  ctx: TestContext,
  moods: Readonly<Record<string, readonly string[]>>,
): TestContext => {
  const { engine } = ctx.world;
  const attempts = new Map<string, number>();
  const probe: AppWorld["engine"]["probe"] = (question) => {
    const { recipient } = question;
    const turns = moods[recipient];
    if (!turns) return engine.probe(question);
    const now = attempts.get(recipient) ?? 0;
    attempts.set(recipient, now + 1);
    return engine.probe({ ...question, recipient: turns[Math.min(now, turns.length - 1)] ?? "" });
  };
  return { ...ctx, world: { ...ctx.world, engine: { ...engine, probe } } };
};

const whenPassed = async (ctx: TestContext, ms: number): Promise<void> => {
  ctx.later(ms);
  await whenReconciled(ctx);
  await whenWorked(ctx);
};

const listEmails = (job: any): string[] =>
  formatRows(job).map((row) => row.split(" ").slice(1).join(" "));

describe.each<[string, Sending]>([
  ["a batch", asBatch],
  ["a file", asFile],
])("a job of %s", (_kind, whenSent) => {
  test("the job returns greylisted rows six minutes later in their places and other rows at once", async () => {
    const ctx = moody(await givenChunked({ rows: 3 }), {
      "ann2@x.com": ["greylisted@x.com", "ann2@x.com"],
    });
    await whenSent(ctx, createEmails(4));
    await whenWorked(ctx);
    const waiting = await readJob(ctx);
    await whenPassed(ctx, 6 * MINUTE_MS - 1);
    const early = await readJob(ctx);

    await whenPassed(ctx, 1);

    expect(waiting).toMatchObject({ status: "processing", processed_emails: 3 });
    expect(listEmails(waiting)).toEqual([
      "ann1@x.com valid",
      "ann3@x.com valid",
      "ann4@x.com valid",
    ]);
    expect(early.processed_emails).toBe(3);
    const done = await readJob(ctx);
    expect(done).toMatchObject({
      status: "completed",
      progress: { total: 4, processed: 4, valid: 4 },
    });
    expect(listEmails(done)).toEqual(createEmails(4).map((email) => `${email} valid`));
    expect(listOutboxEvents(ctx)).toEqual(["job.completed"]);
    await thenConsistent(ctx);
  });

  test("the job charges for an address that stays greylisted, which is unknown after thirty more minutes", async () => {
    const ctx = await givenChunked();
    await whenSent(ctx, ["ann1@x.com", "greylisted@x.com", "ann2@x.com"]);
    await whenWorked(ctx);
    const seen = [];
    for (const ms of [6 * MINUTE_MS, 30 * MINUTE_MS - 1, 1]) {
      await whenPassed(ctx, ms);
      const { status, progress } = await readJob(ctx);
      seen.push(`${status}, ${progress.unknown} unknown`);
    }

    expect(seen).toEqual([
      "processing, 0 unknown",
      "processing, 0 unknown",
      "completed, 1 unknown",
    ]);
    expect((await readJob(ctx)).results[1]).toMatchObject({
      email: "greylisted@x.com",
      status: "unknown",
      reason: "greylisted",
    });
    expect(await readCredits(ctx)).toMatchObject({ available: 97, held: 0, spent: 3, refunded: 0 });
    await thenConsistent(ctx);
  });

  test("the job verifies a greylisted row again when its message was lost", async () => {
    const ctx = moody(await givenChunked(), { "ann1@x.com": ["greylisted@x.com", "ann1@x.com"] });
    await whenSent(ctx, createEmails(2));
    await whenWorked(ctx);
    ctx.later(6 * MINUTE_MS);
    await whenReconciled({ world: withMessageFates(ctx, () => "refused") });
    await whenWorked(ctx);
    const failedJob = await readJob(ctx);

    await whenPassed(ctx, 16 * MINUTE_MS);

    expect(failedJob.status).toBe("processing");
    expect(await readJob(ctx)).toMatchObject({ status: "completed", processed_emails: 2 });
  });

  test("the job returns only a repeatedly failing row as unknown, by our fault", async () => {
    const ctx = await givenChunked();
    await whenSent(ctx, ["ann1@x.com", "ann2@x.com", "ann3@x.com", "error@x.com"]);

    await whenQuiet(ctx);

    const job = await readJob(ctx);
    expect(job).toMatchObject({
      status: "completed",
      progress: { total: 4, processed: 4, valid: 3, unknown: 1 },
    });
    expect(job.results.map(({ email, reason }: any) => `${email} ${reason}`)).toEqual([
      "ann1@x.com accepted",
      "ann2@x.com accepted",
      "ann3@x.com accepted",
      "error@x.com internal",
    ]);
    expect(await readCredits(ctx)).toMatchObject({ available: 97, spent: 3, refunded: 1 });
    expect(listOutboxEvents(ctx)).toEqual(["job.completed"]);
    await thenConsistent(ctx);
  });

  test("the job refunds the remaining rows and ends when its input is gone", async () => {
    const ctx = await givenChunked();
    await whenSent(ctx, createEmails(3));
    for (const key of ctx.blobs.keys()) await ctx.blobs.remove(key);

    await whenQuiet(ctx);

    expect(await readJob(ctx)).toMatchObject({ status: "failed", processed_emails: 0 });
    expect(await readCredits(ctx)).toMatchObject({ available: 100, spent: 0, refunded: 3 });
    await thenConsistent(ctx);
  });

  test("the job fails and emits job.failed once when every row fails", async () => {
    const ctx = await givenChunked();
    await whenSent(ctx, ["error1@x.com", "error3@x.com", "error2@x.com"]);

    await whenQuiet(ctx);

    expect(await readJob(ctx)).toMatchObject({
      status: "failed",
      error: "All attempts to verify the addresses failed on our side. The charge was refunded.",
      progress: { total: 3, processed: 3, unknown: 3 },
    });
    expect(await readCredits(ctx)).toMatchObject({ available: 100, held: 0, spent: 0 });
    expect(listOutboxEvents(ctx)).toEqual(["job.failed"]);
    await thenConsistent(ctx);
  });

  test("the job loses only the deferred rows when their later attempt fails", async () => {
    const ctx = moody(await givenChunked(), {
      "ann2@x.com": ["greylisted@x.com", "error@x.com"],
    });
    await whenSent(ctx, createEmails(2));

    await whenQuiet(ctx);

    const job = await readJob(ctx);
    expect(job).toMatchObject({ status: "completed", progress: { valid: 1, unknown: 1 } });
    expect(job.results[1]).toMatchObject({ email: "ann2@x.com", reason: "internal" });
    expect(await readCredits(ctx)).toMatchObject({ spent: 1 });
    await thenConsistent(ctx);
  });

  test("the job returns the result of a row that fails a few times first", async () => {
    const ctx = moody(await givenChunked(), {
      "ann1@x.com": ["error@x.com", "error@x.com", "ann1@x.com"],
    });
    await whenSent(ctx, createEmails(3));

    await whenQuiet(ctx);

    expect(await readJob(ctx)).toMatchObject({ status: "completed", progress: { valid: 3 } });
    expect(await readCredits(ctx)).toMatchObject({ spent: 3 });
  });
});

test("a file job refunds a chunk of ambiguous dispatch that was settled and then failed, and ends", async () => {
  const ctx = await givenChunked();
  const world = withMessageFates(ctx, (chunk) => (chunk === 1 ? "unknown" : "sent"));
  await whenProcessed({ ...ctx, world }, ["ann1@x.com", "ann2@x.com", "error@x.com"]);
  await whenPassed(ctx, MINUTE_MS);
  const settled = listMoves(ctx);

  await whenQuiet(ctx);

  expect(settled).toEqual(["settle 1", "hold 3", "settle 2"]);
  expect(await readJob(ctx)).toMatchObject({
    status: "completed",
    progress: { total: 3, processed: 3, valid: 2, unknown: 1 },
  });
  expect(listMoves(ctx)).toEqual([...settled, "refund 1"]);
  await thenConsistent(ctx);
});

test("a file job refunds a chunk that failed before the file was settled, once the file is settled", async () => {
  const ctx = await givenChunked();
  const gone = createProcessGoneAfter(ctx, 5);
  void whenProcessed({ ...ctx, world: gone.world }, ["ann1@x.com", "ann2@x.com", "error@x.com"]);
  for (let turns = 0; turns < 20; turns++) await runTurn();
  for (let hands = 0; hands < 7; hands++) {
    ctx.later(16 * MINUTE_MS);
    await whenWorked(ctx);
  }
  const before = listMoves(ctx);

  await whenQuiet(ctx);

  expect(before).toEqual(["hold 3"]);
  expect(await readJob(ctx)).toMatchObject({ status: "completed", progress: { unknown: 1 } });
  expect(listMoves(ctx)).toEqual(["hold 3", "settle 3", "refund 1"]);
  await thenConsistent(ctx);
});

test("a test key's chunk that fails repeatedly moves no credit", async () => {
  const ctx = await givenChunked();
  await whenBatched(ctx.world, ctx.testKey, {
    emails: ["ann@x.com", "bo@x.com", "error@x.com"],
  });
  await whenProcessed({ ...ctx, liveKey: ctx.testKey }, ["ann@x.com", "bo@x.com", "error@x.com"]);

  await whenQuiet(ctx);

  for (const id of ["job_1", "job_2"])
    expect(await readJob(ctx, id, ctx.testKey)).toMatchObject({
      status: "completed",
      progress: { total: 3, processed: 3, valid: 2, unknown: 1 },
    });
  expect(listMoves(ctx)).toEqual([]);
});

test("the event of a failed job contains the job's callback", async () => {
  const ctx = await givenChunked();
  const callback = { webhook_url: "https://x.example/done", webhook_secret: "s".repeat(16) };
  await whenBatched(ctx.world, ctx.liveKey, { emails: ["error@x.com"], ...callback });

  await whenQuiet(ctx);

  const events = ctx.table
    .items()
    .filter(({ sk }) => sk === "EVENT")
    .map(readEvent);
  expect(events).toMatchObject([
    {
      type: "job.failed",
      data: { job_id: "job_1", status: "failed", error: expect.any(String) },
      callback: { url: callback.webhook_url },
    },
  ]);
  const { secret } = events[0]?.callback ?? {};
  expect(decryptSecret(ctx.world, ctx.account, secret ?? "")).toBe(callback.webhook_secret);
});

test("the service deletes a chunk's results after the plan's days and keeps the job's counts for longer", async () => {
  const ctx = await givenChunked({ plan: "free" });
  await whenBatched(ctx.world, ctx.liveKey, { emails: createEmails(3) });
  await whenWorked(ctx);
  ctx.later(7 * 24 * 60 * MINUTE_MS - 1_000);
  const storedJob = await readJob(ctx);

  ctx.later(1_000);

  expect(formatRows(storedJob)).toHaveLength(3);
  const gone = await readJob(ctx);
  expect(gone).toMatchObject({ status: "completed", processed_emails: 3 });
  expect(gone).not.toHaveProperty("results");
  await thenConsistent(ctx);
});
