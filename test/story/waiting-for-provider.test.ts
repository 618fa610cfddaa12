import type { AppWorld } from "@mailproof/core/app-world";
import { addMs } from "@mailproof/core/lib/time";
import { verifyChunk, verifySingle } from "@mailproof/core/lists/chunk-worker";
import { expect, test } from "vitest";
import { whenReconciled, whenWorked } from "../app/drain-queues.ts";
import { given } from "../app/given.ts";
import { readCredits, thenConsistent } from "../app/ledger.ts";
import { send, whenVerified } from "../app/send.ts";
import {
  givenChunked,
  readJob,
  type TestContext,
  whenBatched,
  whenProcessed,
} from "../things/jobs.ts";

// All connections that a mail provider takes are in use: its addresses wait for one, and that is not an attempt.

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;

type Probe = AppWorld["engine"]["probe"];
type Question = Parameters<Probe>[0];

const TICKET = { queue: "google all", position: 1_000, draw: 7 };

/** A provider without a slot for anyone until `open` is set, which names the time after which to come back. */
const withBusyProvider = (ctx: TestContext, backMs = 40 * SECOND_MS) => {
  const { engine } = ctx.world;
  const provider = { open: false, backMs };
  const questions: Question[] = [];
  const probe: Probe = async (question) => {
    questions.push(question);
    if (provider.open) return engine.probe(question);
    const answer = await engine.probe({ ...question, recipient: "unknown@x.com" });
    const at = addMs(ctx.world.now(), provider.backMs).toISOString();
    return { ...answer, recipient: question.recipient, comeBack: { at, ticket: TICKET } };
  };
  const world = { ...ctx.world, engine: { ...engine, probe } };
  return { ...ctx, world, provider, questions };
};

const whenTimePasses = async (ctx: TestContext, ms: number): Promise<void> => {
  ctx.later(ms);
  await whenWorked(ctx);
};

const LIST = ["ann@x.com", "bob@x.com"];

test.each<[string, (ctx: TestContext) => Promise<unknown>]>([
  ["a batch", ({ world, liveKey }) => whenBatched(world, liveKey, { emails: LIST })],
  ["a file", (ctx) => whenProcessed(ctx, LIST)],
])(
  "an address in %s waits longer, is shown as waiting, and is charged once",
  async (_kind, whenSent) => {
    const ctx = withBusyProvider(await givenChunked());
    await whenSent(ctx);
    await whenWorked(ctx);

    expect(await readJob(ctx)).toMatchObject({
      status: "processing",
      progress: { processed: 0 },
      deferred: {
        count: 2,
        by_reason: { waiting_for_provider: 2 },
        next_attempt_at: "2026-11-21T00:00:40.000Z",
      },
    });
    ctx.provider.open = true;
    await whenTimePasses(ctx, 40 * SECOND_MS);

    const job = await readJob(ctx);
    expect(job).toMatchObject({ status: "completed", progress: { processed: 2, unknown: 0 } });
    expect(job.deferred).toBeUndefined();
    expect(ctx.questions.slice(-2).map(({ ticket }) => ticket)).toEqual([TICKET, TICKET]);
    expect(await readCredits(ctx)).toMatchObject({ available: 98, held: 0, spent: 2 });
    await thenConsistent(ctx);
  },
);

test("an address waits longer than max_wait_minutes, which counts only attempts", async () => {
  const ctx = withBusyProvider(await givenChunked());
  await whenBatched(ctx.world, ctx.liveKey, {
    emails: ["greylisted@x.com"],
    options: { max_wait_minutes: 6 },
  });
  await whenWorked(ctx);
  for (let times = 0; times < 100; times++) await whenTimePasses(ctx, MINUTE_MS);
  expect(await readJob(ctx)).toMatchObject({ deferred: { count: 1 } });

  // Now the mail server greylists: its schedule begins here.
  ctx.provider.open = true;
  const before = ctx.questions.length;
  await whenTimePasses(ctx, MINUTE_MS);
  expect((await readJob(ctx)).deferred).toMatchObject({ by_reason: { greylisted: 1 } });
  ctx.later(6 * MINUTE_MS);
  await whenReconciled(ctx);
  await whenWorked(ctx);

  expect(await readJob(ctx)).toMatchObject({ results: [{ reason: "greylisted" }] });
  expect(ctx.questions.length - before).toBe(2);
  await thenConsistent(ctx);
});

test("an address gets no final result from a list, such as that of role addresses, while it waits", async () => {
  const ctx = withBusyProvider(await givenChunked());
  await whenBatched(ctx.world, ctx.liveKey, { emails: ["info@x.com"] });
  await whenWorked(ctx);

  expect(await readJob(ctx)).toMatchObject({
    progress: { processed: 0 },
    deferred: { by_reason: { waiting_for_provider: 1 } },
  });
});

test("the scheduled work continues with an address whose message was lost", async () => {
  const ctx = withBusyProvider(await givenChunked());
  await whenBatched(ctx.world, ctx.liveKey, { emails: LIST });
  await whenWorked(ctx);
  ctx.later(MINUTE_MS);
  for (const { receipt } of await ctx.queue.receive(verifyChunk.queue, { waitMs: 0 }))
    await ctx.queue.acknowledge(receipt);
  ctx.provider.open = true;

  ctx.later(5 * MINUTE_MS);
  await whenReconciled(ctx);
  await whenWorked(ctx);

  expect(await readJob(ctx)).toMatchObject({ status: "completed", progress: { processed: 2 } });
});

test("the service resumes an address before its wait exceeds the longest message delay", async () => {
  const ctx = withBusyProvider(await givenChunked(), 3 * 3_600_000);
  await whenBatched(ctx.world, ctx.liveKey, { emails: LIST });
  await whenWorked(ctx);
  ctx.provider.open = true;

  await whenTimePasses(ctx, 15 * MINUTE_MS);

  expect(await readJob(ctx)).toMatchObject({ status: "completed" });
});

const EXIT = "192.0.2.8:1080";

/** The session left by the exit that the question names, or else by EXIT; a slot is missing the second time. */
const withExits = (ctx: TestContext) => {
  const { engine } = ctx.world;
  const asked: (string | undefined)[] = [];
  const probe: Probe = async (question) => {
    asked.push(question.exit);
    const answer = { ...(await engine.probe(question)), exit: question.exit ?? EXIT };
    const at = addMs(ctx.world.now(), SECOND_MS).toISOString();
    return asked.length === 2 ? { ...answer, comeBack: { at, ticket: TICKET } } : answer;
  };
  return { ...ctx, world: { ...ctx.world, engine: { ...engine, probe } }, asked };
};

test.each<[string, (ctx: TestContext) => Promise<unknown>]>([
  ["a batch", (ctx) => whenBatched(ctx.world, ctx.liveKey, { emails: ["greylisted@x.com"] })],
  ["a call", (ctx) => whenVerified(ctx.world, ctx.liveKey, { email: "greylisted@x.com" })],
])(
  "an address in %s uses the same exit again, also after a wait for a slot",
  async (_, whenSent) => {
    const ctx = withExits(await givenChunked());
    await whenSent(ctx);
    await whenWorked(ctx);
    for (const ms of [7 * MINUTE_MS, 2 * SECOND_MS]) {
      ctx.later(ms);
      await whenReconciled(ctx);
      await whenWorked(ctx);
    }

    expect(ctx.asked).toEqual([undefined, EXIT, EXIT]);
  },
);

const setup = async () => withBusyProvider(await given({ balance: 10 }));

test("a verification is pending, and its job returns the right result later for one charge", async () => {
  const ctx = await setup();
  const { data } = await whenVerified(ctx.world, ctx.liveKey, { email: "ann@x.com" });
  expect(data).toMatchObject({ status: "pending" });
  expect(await readJob(ctx, data.job_id)).toMatchObject({
    status: "processing",
    deferred: { count: 1, by_reason: { waiting_for_provider: 1 } },
  });
  await whenTimePasses(ctx, 40 * SECOND_MS);
  expect(await readJob(ctx, data.job_id)).toMatchObject({ status: "processing" });
  ctx.provider.open = true;
  await whenTimePasses(ctx, 40 * SECOND_MS);

  expect(await readJob(ctx, data.job_id)).toMatchObject({
    status: "completed",
    results: [{ email: "ann@x.com", status: "valid" }],
  });
  expect(ctx.questions.at(-1)?.ticket).toEqual(TICKET);
  expect(await readCredits(ctx)).toMatchObject({ available: 9, held: 0, spent: 1 });
  await thenConsistent(ctx);
});

test("the scheduled work continues with a verification whose message was lost", async () => {
  const ctx = await setup();
  const { data } = await whenVerified(ctx.world, ctx.liveKey, { email: "ann@x.com" });
  ctx.later(MINUTE_MS);
  for (const { receipt } of await ctx.queue.receive(verifySingle.queue, { waitMs: 0 }))
    await ctx.queue.acknowledge(receipt);
  ctx.provider.open = true;

  ctx.later(6 * MINUTE_MS);
  await whenReconciled(ctx);
  await whenWorked(ctx);

  expect(await readJob(ctx, data.job_id)).toMatchObject({ status: "completed" });
});

test("a search without a free connection is refunded and may be repeated", async () => {
  const ctx = withBusyProvider(await given({ balance: 10 }));
  const body = { first_name: "Ann", last_name: "Smith", domain: "x.com" };
  const { statusCode, error } = await send(ctx.world, "POST /v1/find", { key: ctx.liveKey, body });

  expect(statusCode).toBe(503);
  expect(error.message).toContain("connections to the domain's mail provider are in use");
  expect(await readCredits(ctx)).toMatchObject({ available: 10, held: 0 });
});
