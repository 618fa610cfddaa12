import { verifyChunk } from "@mailproof/core/lists/chunk-worker";
import type { Json } from "@mailproof/core/ports/table";
import { splitDue, toDeferredGroups } from "@mailproof/core/rows/deferrals";
import { SCHEDULE_PARTITIONS } from "@mailproof/core/runtime/leases";
import { expect, test } from "vitest";
import { whenQuiet, whenReconciled, whenWorked } from "../../app/drain-queues.ts";
import { listMoves, readCredits, thenConsistent } from "../../app/ledger.ts";
import {
  createEmails,
  givenChunked,
  readJob,
  type TestContext,
  whenBatched,
  whenProcessed,
} from "../../things/jobs.ts";
import {
  greylisting,
  listResultEmails,
  listStoredChunks,
  probing,
  readStoredJob,
  receiveAll,
  setupMessages,
} from "../lists/working-chunks.ts";

const MINUTE_MS = 60_000;

const listDeferred = ({ table }: Pick<TestContext, "table">) =>
  table.items().filter(({ pk }) => pk.startsWith("DEFERRED#"));

/** The same app with mail servers that reply differently at each attempt. */
const createMoodyWorld = (
  ctx: TestContext,
  moods: Readonly<Record<string, readonly string[]>>,
): TestContext => {
  const askCounts = new Map<string, number>();
  const world = probing(ctx.world, (ask) => (question) => {
    const { recipient } = question;
    const now = askCounts.get(recipient) ?? 0;
    askCounts.set(recipient, now + 1);
    const turns = moods[recipient] ?? [recipient];
    return ask({ ...question, recipient: turns[Math.min(now, turns.length - 1)] ?? "" });
  });
  return { ...ctx, world };
};

const row = (number: number, at: string, reason = "greylisted") => ({
  row: number,
  at,
  reason,
  causes: ["greylisting" as const],
});

test("rows of the same time, reason and history form one group", () => {
  const [early, late] = ["2026-11-21T00:06:00.000Z", "2026-11-21T00:20:00.000Z"];

  expect(
    toDeferredGroups([row(1, early), row(2, late), row(3, early), row(4, early, "timeout")]),
  ).toEqual([
    { at: early, reason: "greylisted", causes: ["greylisting"], rows: [1, 3] },
    { at: late, reason: "greylisted", causes: ["greylisting"], rows: [2] },
    { at: early, reason: "timeout", causes: ["greylisting"], rows: [4] },
  ]);
});

test("an attempt takes the first group early, and further groups due within half a minute of it", () => {
  const groups = ["00:06:00", "00:06:30", "00:06:31"].map((time, at) => ({
    ...row(at, `2026-11-21T${time}.000Z`),
    rows: [at],
  }));

  const { due, later } = splitDue(groups);

  expect(due).toEqual(groups.slice(0, 2));
  expect(later).toEqual(groups.slice(2));
  expect(splitDue([])).toEqual({ due: [], later: [] });
});

test("rows of one chunk that fail in several attempts each receive one refund", async () => {
  const ctx = createMoodyWorld(await givenChunked({ rows: 3 }), {
    "ann2@x.com": ["error@x.com"],
    "ann3@x.com": ["greylisted@x.com", "error@x.com"],
  });
  await whenProcessed(ctx, createEmails(3));

  await whenQuiet(ctx);

  expect(await readJob(ctx)).toMatchObject({
    status: "completed",
    progress: { total: 3, processed: 3, valid: 1, unknown: 2 },
  });
  expect(listMoves(ctx)).toEqual(["hold 3", "settle 3", "refund 1", "refund 1"]);
  expect(await readCredits(ctx)).toMatchObject({ available: 99, held: 0, spent: 1 });
  await thenConsistent(ctx);
});

test.each<[string, (ctx: TestContext) => Promise<unknown>]>([
  ["a batch", ({ world, liveKey }) => whenBatched(world, liveKey, { emails: createEmails(3) })],
  ["a file", (ctx) => whenProcessed(ctx, createEmails(3))],
])(
  "the service refunds the waiting rows of %s whose input disappears, and no row waits longer",
  async (_kind, whenSent) => {
    const ctx = createMoodyWorld(await givenChunked({ rows: 3 }), {
      "ann2@x.com": ["greylisted@x.com"],
      "ann3@x.com": ["unknown@x.com"],
    });
    await whenSent(ctx);
    await whenWorked(ctx);
    expect((await readStoredJob(ctx)).deferred).toEqual({ greylisted: 1, timeout: 1 });
    for (const key of ctx.blobs.keys()) await ctx.blobs.remove(key);

    await whenQuiet(ctx);

    expect(await readStoredJob(ctx)).toMatchObject({
      deferred: {},
      processed: 1,
      refunds: { no_result: 2 },
    });
    expect(listDeferred(ctx)).toEqual([]);
    expect(await readCredits(ctx)).toMatchObject({ spent: 1, refunded: 2 });
    await thenConsistent(ctx);
  },
);

test("the chunks of a large job are due in every partition at the same time", async () => {
  const ctx = await setupMessages(createEmails(100), 1);
  for (const message of ctx.messages) await verifyChunk.handle(greylisting(ctx.world), message);
  const due = ctx.table.items().filter(({ due_kind }) => due_kind === "chunk");

  expect(due).toHaveLength(100);
  for (const partition of SCHEDULE_PARTITIONS)
    expect(due.filter(({ due_pk }) => due_pk === partition).length).toBeGreaterThan(5);
  ctx.later(6 * MINUTE_MS);
  await whenReconciled(ctx);
  expect(await receiveAll(ctx)).toHaveLength(100);
});

test("the record of deferred rows stays far below an item's limit, and disappears when no row waits", async () => {
  const ctx = await setupMessages(createEmails(100), 100);

  await verifyChunk.handle(greylisting(ctx.world), ctx.messages[0] ?? null);

  const [item] = listDeferred(ctx);
  expect(JSON.stringify(item).length).toBeLessThan(1_000);
  expect(await listStoredChunks(ctx)).toMatchObject([{ rows: 0, waiting: 100 }]);
  await whenQuiet(ctx);
  expect(listDeferred(ctx)).toEqual([]);
  await thenConsistent(ctx);
});

// Rows whose mail server takes minutes, in a process that continues them after a pass.

/** `slow@…` answers after 30 seconds, `endless@…` after minutes. How often each address was asked is counted. */
const setupSlow = async (emails: readonly string[], rows = 10) => {
  const ctx = await givenChunked({ rows });
  const askCounts = new Map<string, number>();
  const counting = probing(ctx.world, (ask) => async (question) => {
    askCounts.set(question.recipient, (askCounts.get(question.recipient) ?? 0) + 1);
    if (question.recipient.startsWith("endless")) await ctx.world.sleep(200_000);
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

test("the worker stores the finished rows while the slow rows continue", async () => {
  const ctx = await setupSlow([...createEmails(3), "slow@x.com"]);
  const from = ctx.world.now().getTime();

  await whenHandled(ctx, await receiveAll(ctx));

  expect(ctx.world.now().getTime() - from).toBe(20_000);
  expect(await listResultEmails(ctx)).toEqual(createEmails(3));
  expect(await readJob(ctx)).toMatchObject({ status: "processing", progress: { processed: 3 } });
});

test("slow rows continue in a message that counts only them, and no session asks their server again", async () => {
  const ctx = await setupSlow([...createEmails(3), "slow@x.com"]);
  await whenHandled(ctx, await receiveAll(ctx));

  const [next] = await ctx.queue.receive(verifyChunk.queue, { waitMs: 0 });
  expect(next).toMatchObject({ group: ctx.account, weight: 1, body: { pass: 1 } });
  await whenHandled(ctx, [next?.body ?? null]);

  expect(ctx.asked.get("slow@x.com")).toBe(1);
  expect(await readJob(ctx)).toMatchObject({ status: "completed", progress: { valid: 4 } });
  await thenConsistent(ctx);
});

test("an attempt stores slow rows that have ended while another row takes minutes", async () => {
  const ctx = await setupSlow([...createEmails(1), "slow@x.com", "endless@x.com"]);
  const from = ctx.world.now().getTime();
  await whenHandled(ctx, await receiveAll(ctx));

  await whenHandled(ctx, await receiveAll(ctx));

  expect(ctx.world.now().getTime() - from).toBe(80_000);
  expect(await readJob(ctx)).toMatchObject({ status: "processing", progress: { processed: 2 } });
});

test("a process that has not begun a slow row verifies it anew, and each row gets one result", async () => {
  const ctx = await setupSlow([...createEmails(3), "slow@x.com"]);
  await whenHandled(ctx, await receiveAll(ctx));
  const restarted = { ...ctx, world: { ...ctx.world, blobs: { ...ctx.world.blobs } } };

  await whenHandled(restarted, await receiveAll(ctx));
  await whenHandled(restarted, await receiveAll(ctx));

  expect(ctx.asked.get("slow@x.com")).toBe(2);
  expect((await listResultEmails(ctx)).toSorted()).toEqual([...createEmails(3), "slow@x.com"]);
});

test("the chunk is due, and its slow rows continue, when their message is lost", async () => {
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

test("slow rows do not count as deferred, since their verification continues", async () => {
  const ctx = await setupSlow([...createEmails(2), "slow@x.com", "greylisted@x.com"]);
  await whenHandled(ctx, await receiveAll(ctx));

  expect(await readJob(ctx)).toMatchObject({ deferred: { count: 1 } });
});

test("a pass judges no row whose verification continues", async () => {
  const ctx = await setupSlow([...createEmails(3), "slow@x.com"]);
  const { engine } = ctx.world;
  const judged: string[] = [];
  const role = (local: string) => {
    judged.push(local);
    return null;
  };
  // A verification reads the lists that are current when it begins, and an unprobed result reads these.
  const world = { ...ctx.world, engine: { ...engine, lists: { ...engine.lists, role } } };

  await whenHandled({ ...ctx, world }, await receiveAll(ctx));

  expect(await readJob(ctx)).toMatchObject({ progress: { processed: 3 } });
  expect(judged).toEqual([]);
});
