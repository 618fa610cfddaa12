import { verifyChunk } from "@mailproof/core/jobs/chunk-worker";
import type { Json } from "@mailproof/core/ports/table";
import { expect, test } from "vitest";
import { whenQuiet } from "../../drain-queues.ts";
import { createEmails, givenChunked, readJob, type TestContext, whenBatched } from "../../jobs.ts";
import { readCredits, thenConsistent } from "../../ledger.ts";
import { listResultEmails, probing, receiveAll } from "./working-chunks.ts";

// Rows whose mail server takes minutes, in a process that continues them after a pass.

/** `slow@…` answers after 30 seconds. How often each address was asked is counted. */
const setupSlow = async (emails: readonly string[], rows = 10) => {
  const ctx = await givenChunked({ rows });
  const askCounts = new Map<string, number>();
  const counting = probing(ctx.world, (ask) => (question) => {
    askCounts.set(question.recipient, (askCounts.get(question.recipient) ?? 0) + 1);
    return ask(question);
  });
  const settings = { ...counting.settings, slowRowsAfterMs: 20_000 };
  const slow: TestContext = { ...ctx, world: { ...counting, settings } };
  await whenBatched(slow.world, slow.liveKey, { emails });
  return { ...slow, asked: askCounts };
};

const whenHandled = async (ctx: TestContext, messages: readonly Json[]): Promise<void> => {
  for (const body of messages) await verifyChunk.handle(ctx.world, body);
};

test("the worker stores the rows with a result while the slow ones continue", async () => {
  const ctx = await setupSlow([...createEmails(3), "slow@x.com"]);
  const from = ctx.world.now().getTime();

  await whenHandled(ctx, await receiveAll(ctx));

  expect(ctx.world.now().getTime() - from).toBe(20_000);
  expect(await listResultEmails(ctx)).toEqual(createEmails(3));
  expect(await readJob(ctx)).toMatchObject({ status: "processing", progress: { processed: 3 } });
});

test("slow rows continue in a message with their own weight, and their server is not asked again", async () => {
  const ctx = await setupSlow([...createEmails(3), "slow@x.com"]);
  await whenHandled(ctx, await receiveAll(ctx));

  const [next] = await ctx.queue.receive(verifyChunk.queue, { waitMs: 0 });
  expect(next).toMatchObject({ group: ctx.account, weight: 1, body: { pass: 1 } });
  await whenHandled(ctx, [next?.body ?? null]);

  expect(ctx.asked.get("slow@x.com")).toBe(1);
  expect(await readJob(ctx)).toMatchObject({ status: "completed", progress: { valid: 4 } });
  await thenConsistent(ctx);
});

test("a process that has not begun a slow row verifies it anew, and each row has one result", async () => {
  const ctx = await setupSlow([...createEmails(3), "slow@x.com"]);
  await whenHandled(ctx, await receiveAll(ctx));
  const restarted = { ...ctx, world: { ...ctx.world, blobs: { ...ctx.world.blobs } } };

  await whenHandled(restarted, await receiveAll(ctx));

  expect(ctx.asked.get("slow@x.com")).toBe(2);
  expect((await listResultEmails(ctx)).toSorted()).toEqual([...createEmails(3), "slow@x.com"]);
});

test("when the message of the slow rows is lost, the chunk is due and they continue", async () => {
  const ctx = await setupSlow([...createEmails(3), "slow@x.com"]);
  await whenHandled(ctx, await receiveAll(ctx));
  await receiveAll(ctx);

  await whenQuiet(ctx);

  expect(await readJob(ctx)).toMatchObject({ status: "completed", progress: { valid: 4 } });
});

test("a message received twice while slow rows continue adds no result and no charge", async () => {
  const ctx = await setupSlow([...createEmails(3), "slow@x.com"]);
  const first = await receiveAll(ctx);
  await whenHandled(ctx, [...first, ...first]);
  const second = await receiveAll(ctx);
  await Promise.all([whenHandled(ctx, second), whenHandled(ctx, second)]);

  expect(ctx.asked.get("slow@x.com")).toBe(1);
  expect(await listResultEmails(ctx)).toHaveLength(4);
  expect(await readCredits(ctx)).toMatchObject({ available: 96, spent: 4 });
  await thenConsistent(ctx);
});

test("slow rows do not count as deferred, since they are under way", async () => {
  const ctx = await setupSlow([...createEmails(2), "slow@x.com", "greylisted@x.com"]);
  await whenHandled(ctx, await receiveAll(ctx));

  expect(await readJob(ctx)).toMatchObject({ deferred: { count: 1 } });
});
