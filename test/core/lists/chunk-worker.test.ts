import { verifyChunk } from "@mailproof/core/lists/chunk-worker";
import type { Table } from "@mailproof/core/ports/table";
import { RETRY_SCHEDULES, type RetryCause } from "@mailproof/core/verify/retry";
import { expect, test } from "vitest";
import { whenReconciled } from "../../app/drain-queues.ts";
import {
  createProcessGoneAfter,
  createStoppingWorld,
  runTurn,
  withTable,
} from "../../app/faulty-worlds.ts";
import { listOutboxEvents, listStoredItems, thenConsistent } from "../../app/ledger.ts";
import { createEmails, type TestContext } from "../../things/jobs.ts";
import {
  greylisting,
  listResultEmails,
  listStoredChunks,
  probing,
  readStoredJob,
  receiveAll,
  setupMessages,
} from "./working-chunks.ts";

const MINUTE_MS = 60_000;

const listPasses = async (ctx: TestContext): Promise<number[]> =>
  (await listStoredChunks(ctx)).map(({ passes }) => passes.length);

const listPages = ({ table }: TestContext): number =>
  table.items().filter(({ pk }) => pk.startsWith("RESULTS#")).length;

/** The messages of the next pass over deferred rows, taken from the queue at the time at which they are due. */
const runNext = async (ctx: TestContext, pass: number, cause: RetryCause = "greylisting") => {
  ctx.later((RETRY_SCHEDULES[cause].afterMinutes[pass] ?? 0) * MINUTE_MS);
  await whenReconciled(ctx);
  return receiveAll(ctx);
};

test("the worker reads the rows that a message points to, and counts them with their results", async () => {
  const ctx = await setupMessages();

  await verifyChunk.handle(ctx.world, ctx.messages[1] ?? null);

  expect(await listStoredChunks(ctx)).toMatchObject([
    { chunk: 1, outcome: "done", rows: 2, waiting: 0, passes: [expect.any(String)] },
  ]);
  expect(await listResultEmails(ctx)).toEqual(["ann3@x.com", "ann4@x.com"]);
  expect(await readStoredJob(ctx)).toMatchObject({ processed: 2, valid: 2, status: "processing" });
  await thenConsistent(ctx);
});

test("a worker that stalled until another finished its pass changes no result and no count", async () => {
  const ctx = await setupMessages();
  const [message = null] = ctx.messages;
  const stalled = createStoppingWorld(ctx, 0);
  const first = verifyChunk.handle(stalled.world, message);
  for (let turns = 0; turns < 10; turns++) await runTurn();
  await verifyChunk.handle(ctx.world, message);
  const counts = await readStoredJob(ctx);

  stalled.goOn();
  await first;

  expect(await readStoredJob(ctx)).toEqual(counts);
  expect(await listResultEmails(ctx)).toEqual(createEmails(2));
  expect(await listPasses(ctx)).toEqual([1]);
  // Its page is stored all the same, and no pass refers to it.
  expect(listPages(ctx)).toBe(2);
  await thenConsistent(ctx);
});

test("a worker that stalled in the second pass until another finished it changes no result and no count", async () => {
  const ctx = await setupMessages(createEmails(4));
  await verifyChunk.handle(greylisting(ctx.world), ctx.messages[0] ?? null);
  const [message = null] = await runNext(ctx, 0);
  const stalled = createStoppingWorld({ ...ctx, world: greylisting(ctx.world) }, 0);
  const first = verifyChunk.handle(stalled.world, message);
  for (let turns = 0; turns < 10; turns++) await runTurn();
  await verifyChunk.handle(ctx.world, message);

  stalled.goOn();
  await first;

  expect(await listPasses(ctx)).toEqual([2]);
  expect(await readStoredJob(ctx)).toMatchObject({ status: "processing", processed: 2, valid: 2 });
  expect((await listStoredChunks(ctx))[0]).toMatchObject({ rows: 2, waiting: 0 });
  expect(await listResultEmails(ctx)).toEqual(createEmails(2));
  await thenConsistent(ctx);
});

test("a worker that stalled in the first pass until the second ended does not undo the second", async () => {
  const ctx = await setupMessages(createEmails(2));
  const [message = null] = ctx.messages;
  const stalled = createStoppingWorld(ctx, 0);
  const first = verifyChunk.handle(stalled.world, message);
  for (let turns = 0; turns < 10; turns++) await runTurn();
  await verifyChunk.handle(greylisting(ctx.world), message);
  await verifyChunk.handle(greylisting(ctx.world), (await runNext(ctx, 0))[0] ?? null);
  const before = await listStoredChunks(ctx);

  stalled.goOn();
  await first;

  expect(await listStoredChunks(ctx)).toEqual(before);
  expect(await readStoredJob(ctx)).toMatchObject({ status: "processing", processed: 0 });
  await thenConsistent(ctx);
});

test("a late message of an earlier pass is removed, and the worker asks no mail server", async () => {
  const ctx = await setupMessages(createEmails(2));
  const [message = null] = ctx.messages;
  await verifyChunk.handle(greylisting(ctx.world), message);
  const before = listStoredItems(ctx);
  let askCount = 0;
  const counting = probing(ctx.world, (ask) => (question) => {
    askCount++;
    return ask(question);
  });

  await verifyChunk.handle(counting, message);

  expect(askCount).toBe(0);
  expect(listStoredItems(ctx)).toEqual(before);
});

test("a message of a pass that was never prepared is removed, too", async () => {
  const ctx = await setupMessages(createEmails(2));
  const before = listStoredItems(ctx);

  for (const pass of [1, 2, 99])
    await verifyChunk.handle(ctx.world, {
      job: "job_1",
      chunk: 0,
      pass,
      from: 0,
      to: 10,
      checksum: 0,
    });

  expect(listStoredItems(ctx)).toEqual(before);
});

test("the worker asks for each row once per pass, in three passes at most, and only while the row is deferred", async () => {
  const ctx = await setupMessages(createEmails(3), 3);
  const askCount: string[] = [];
  const world = probing(ctx.world, (ask) => (question) => {
    askCount.push(question.recipient);
    const isDeferred = question.recipient === "ann2@x.com";
    return ask(isDeferred ? { ...question, recipient: "greylisted@x.com" } : question);
  });
  const seen = [];
  let messages = ctx.messages;
  for (let pass = 0; pass < 3; pass++) {
    await verifyChunk.handle(world, messages[0] ?? null);
    const [chunk] = await listStoredChunks(ctx);
    seen.push([chunk?.passes.length, chunk?.rows, chunk?.waiting]);
    messages = await runNext(ctx, pass);
  }

  expect(seen).toEqual([
    [1, 2, 1],
    [2, 2, 1],
    [3, 3, 0],
  ]);
  expect(askCount).toEqual([...createEmails(3), "ann2@x.com", "ann2@x.com"]);
  expect(await listResultEmails(ctx)).toEqual(createEmails(3));
  expect(messages).toEqual([]);
  expect(ctx.table.items().filter(({ due_pk, sk }) => due_pk && sk !== "EVENT")).toEqual([]);
  await thenConsistent(ctx);
});

/** No server answers ann2 for so long. */
const setupSilent = async (ms: number) => {
  const ctx = await setupMessages(createEmails(2));
  const world = probing(ctx.world, (ask) => async (question) => {
    if (question.recipient === "ann2@x.com") await ctx.world.sleep(ms);
    return ask(question);
  });
  return { ...ctx, world };
};

test("a pass ends after twelve minutes: a row without a reply by then is attempted in the next", async () => {
  const ctx = await setupSilent(12 * MINUTE_MS + 1);
  const from = ctx.world.now().getTime();

  await verifyChunk.handle(ctx.world, ctx.messages[0] ?? null);

  expect(ctx.world.now().getTime() - from).toBe(12 * MINUTE_MS);
  expect(await listStoredChunks(ctx)).toMatchObject([{ rows: 1, waiting: 1 }]);
  expect(await listResultEmails(ctx)).toEqual(["ann1@x.com"]);
});

test("a row without a reply in the last pass is unknown because of a timeout", async () => {
  const ctx = await setupSilent(12 * MINUTE_MS + 1);
  let messages = ctx.messages;
  for (let pass = 0; pass < 4; pass++) {
    expect(await readStoredJob(ctx)).toMatchObject({ status: "processing" });
    await verifyChunk.handle(ctx.world, messages[0] ?? null);
    messages = await runNext(ctx, pass, "unreached");
  }

  expect(await readStoredJob(ctx)).toMatchObject({ status: "completed", valid: 1, unknown: 1 });
  await thenConsistent(ctx);
});

test("a message about a job that has ended or never existed is removed without an effect", async () => {
  const ctx = await setupMessages(createEmails(2));
  const [message = null] = ctx.messages;
  await verifyChunk.handle(ctx.world, message);
  const before = listStoredItems(ctx);

  await verifyChunk.handle(ctx.world, message);
  await verifyChunk.handle(ctx.world, { ...(message as object), job: "job_9" });

  expect(listStoredItems(ctx)).toEqual(before);
});

test.each([
  ["page", { write: async () => ({ outcome: "ambiguous" as const }) }],
  ["outcome", { transact: async () => ({ outcome: "ambiguous" as const }) }],
])("a pass is not done while it is unknown whether its %s is stored", async (_case, ports) => {
  const ctx = await setupMessages();
  const [message = null] = ctx.messages;

  await expect(
    verifyChunk.handle(withTable(ctx, ports as Partial<Table>), message),
  ).rejects.toThrow("unknown whether");

  await verifyChunk.handle(ctx.world, message);
  expect(await listResultEmails(ctx)).toEqual(createEmails(2));
  await thenConsistent(ctx);
});

test("the worker handles a message again after a lost reply, and the rows count once", async () => {
  const ctx = await setupMessages(createEmails(2));
  let lost = 0;
  const transact: Table["transact"] = async (writes) => {
    const result = await ctx.table.transact(writes);
    return lost++ === 0 ? { outcome: "ambiguous" } : result;
  };

  const handle = () => verifyChunk.handle(withTable(ctx, { transact }), ctx.messages[0] ?? null);

  await expect(handle()).rejects.toThrow("unknown whether the pass was stored");
  await handle();

  expect(await readStoredJob(ctx)).toMatchObject({ status: "completed", processed: 2 });
  expect(listOutboxEvents(ctx)).toEqual(["job.completed"]);
});

test("many workers with the same message count once", async () => {
  const ctx = await setupMessages(createEmails(2));
  const [message = null] = ctx.messages;

  await Promise.all(Array.from({ length: 8 }, () => verifyChunk.handle(ctx.world, message)));

  expect(await readStoredJob(ctx)).toMatchObject({ status: "completed", processed: 2, valid: 2 });
  expect(listOutboxEvents(ctx)).toEqual(["job.completed"]);
  await thenConsistent(ctx);
});

test("a worker that crashes between storing its pages and counting them leaves pages that no reader sees", async () => {
  const ctx = await setupMessages(createEmails(2));
  const [message = null] = ctx.messages;
  void verifyChunk.handle(createProcessGoneAfter(ctx, 1).world, message);
  for (let turns = 0; turns < 10; turns++) await runTurn();
  const early = [listPages(ctx), await listResultEmails(ctx)];

  await verifyChunk.handle(ctx.world, message);

  expect(early).toEqual([1, []]);
  expect(await listResultEmails(ctx)).toEqual(createEmails(2));
});

test("of a worker and the dead letter of the same chunk only one counts", async () => {
  const ctx = await setupMessages(createEmails(2));
  const [message = null] = ctx.messages;

  await Promise.all([
    verifyChunk.handle(ctx.world, message),
    verifyChunk.giveUp?.handle(ctx.world, message),
  ]);

  expect(await readStoredJob(ctx)).toMatchObject({ processed: 2 });
  expect(listOutboxEvents(ctx)).toHaveLength(1);
  await thenConsistent(ctx);
});
