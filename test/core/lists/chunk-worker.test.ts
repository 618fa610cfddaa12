import { verifyChunk } from "@mailproof/core/lists/chunk-worker";
import { completeIfDone } from "@mailproof/core/lists/completion";
import { toJobKey } from "@mailproof/core/rows/items";
import { RETRY_SCHEDULES, type RetryCause } from "@mailproof/core/verify/retry";
import { describe, expect, test } from "vitest";
import { whenReconciled } from "../../app/drain-queues.ts";
import { createDamagedBlobs, withTable } from "../../app/faulty-worlds.ts";
import { streamPieces } from "../../app/form.ts";
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

/** The messages of the next pass over deferred rows, taken from the queue at the time at which they are due. */
const runNext = async (ctx: TestContext, pass: number, cause: RetryCause = "greylisting") => {
  ctx.later((RETRY_SCHEDULES[cause].afterMinutes[pass] ?? 0) * MINUTE_MS);
  await whenReconciled(ctx);
  return receiveAll(ctx);
};

test("the worker reads the rows of a message, and counts them with their results", async () => {
  const ctx = await setupMessages();

  await verifyChunk.handle(ctx.world, ctx.messages[1] ?? null);

  expect(await listStoredChunks(ctx)).toMatchObject([
    { chunk: 1, outcome: "done", rows: 2, waiting: 0, passes: [expect.any(String)] },
  ]);
  expect(await listResultEmails(ctx)).toEqual(["ann3@x.com", "ann4@x.com"]);
  expect(await readStoredJob(ctx)).toMatchObject({ processed: 2, valid: 2, status: "processing" });
  await thenConsistent(ctx);
});

test("the worker removes a late message of an earlier attempt, and asks no mail server", async () => {
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

test("the worker removes a message of an attempt that no pass has prepared", async () => {
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

test("the worker asks for a deferred row once per attempt, in at most three attempts", async () => {
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

test("the worker ends an attempt after twelve minutes, and asks for a row without a reply in the next attempt", async () => {
  const ctx = await setupSilent(12 * MINUTE_MS + 1);
  const from = ctx.world.now().getTime();

  await verifyChunk.handle(ctx.world, ctx.messages[0] ?? null);

  expect(ctx.world.now().getTime() - from).toBe(12 * MINUTE_MS);
  expect(await listStoredChunks(ctx)).toMatchObject([{ rows: 1, waiting: 1 }]);
  expect(await listResultEmails(ctx)).toEqual(["ann1@x.com"]);
});

test("a row without a reply in the last attempt becomes unknown because of a timeout", async () => {
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

test("the worker removes a message about an ended or unknown job without an effect", async () => {
  const ctx = await setupMessages(createEmails(2));
  const [message = null] = ctx.messages;
  await verifyChunk.handle(ctx.world, message);
  const before = listStoredItems(ctx);

  await verifyChunk.handle(ctx.world, message);
  await verifyChunk.handle(ctx.world, { ...(message as object), job: "job_9" });

  expect(listStoredItems(ctx)).toEqual(before);
});

describe("the completion of a job", () => {
  /** A job of five addresses with these counts. */
  const givenCounts = async (set: Readonly<Record<string, number | string>>) => {
    const ctx = await setupMessages();
    await ctx.table.write({ update: toJobKey("job_1"), set });
    return ctx;
  };

  test.each([
    ["no address is done", "processing", {}],
    ["one address is missing", "processing", { processed: 4, valid: 4 }],
    ["all addresses are done", "completed", { processed: 5, valid: 5 }],
    ["the other addresses were refunded", "completed", { processed: 3, valid: 3, refunded: 2 }],
    ["the other addresses failed", "completed", { processed: 5, valid: 3, unknown: 2, lost: 2 }],
    ["all addresses failed", "failed", { processed: 5, unknown: 5, lost: 5 }],
    ["all addresses were refunded", "failed", { refunded: 5 }],
    [
      "all addresses failed or were refunded",
      "failed",
      { processed: 2, unknown: 2, lost: 2, refunded: 3 },
    ],
    [
      "all addresses are done and one chunk is not settled",
      "processing",
      { processed: 5, valid: 5, unsettled: 1 },
    ],
  ])(
    "completeIfDone leaves the job, when %s, with the status %s",
    async (_case, status, counts) => {
      const ctx = await givenCounts(counts);

      const isDone = await completeIfDone(ctx.world, "job_1");

      expect(isDone).toBe(status !== "processing");
      expect((await readStoredJob(ctx)).status).toBe(status);
      expect(listOutboxEvents(ctx)).toEqual(isDone ? [`job.${status}`] : []);
    },
  );

  test("a completed job leaves the scheduled work, and its record stays stored for a year", async () => {
    const ctx = await givenCounts({ processed: 5, valid: 5 });

    await completeIfDone(ctx.world, "job_1");

    const item = ctx.table.items().find(({ sk }) => sk === "JOB");
    expect(item).not.toHaveProperty("due_pk");
    expect(item).toMatchObject({ completedAt: "2026-11-21T00:00:00.000Z" });
    expect(item?.expires_at).toBe(Date.UTC(2027, 10, 21) / 1000);
  });

  test("a completion without a reply throws an error, so that a retry completes the job and emits one event", async () => {
    const ctx = await givenCounts({ processed: 5, valid: 5 });
    const transact = async (writes: Parameters<typeof ctx.table.transact>[0]) => {
      await ctx.table.transact(writes);
      return { outcome: "ambiguous" as const };
    };

    // The worker's retry finds that the job has ended. It may have ended it itself; either way it is done.
    await completeIfDone(withTable(ctx, { transact }), "job_1").catch(() => undefined);
    await completeIfDone(ctx.world, "job_1");

    expect(listOutboxEvents(ctx)).toEqual(["job.completed"]);
    await expect(
      completeIfDone(
        withTable(await givenCounts({ processed: 5, valid: 5 }), {
          transact: async () => ({ outcome: "ambiguous" }),
        }),
        "job_1",
      ),
    ).rejects.toThrow("unknown whether the job was ended");
  });

  const KEY = "inputs/job_1.jsonl";
  type Blobs = TestContext["blobs"];

  test.each<[string, (blobs: Blobs) => Promise<Partial<Blobs>>]>([
    ["is damaged", async (blobs) => createDamagedBlobs(blobs, () => 3)],
    [
      "was put again",
      async (blobs) => {
        const body = await blobs.get(KEY);
        if (body) await blobs.put(KEY, body.content);
        return blobs;
      },
    ],
    [
      "is gone",
      async (blobs) => {
        await blobs.remove(KEY);
        return blobs;
      },
    ],
    [
      "breaks off",
      async (blobs) => ({
        get: async (key, options) => {
          const found = await blobs.get(key, options);
          return found && { ...found, content: streamPieces('[1,"ann') };
        },
      }),
    ],
    [
      "has other bytes of the same form",
      async (blobs) => ({
        get: async (key, options) => {
          const found = await blobs.get(key, options);
          const text = Buffer.concat(await Array.fromAsync(found?.content ?? [])).toString();
          return found && { ...found, content: streamPieces(text.replace("ann1", "ann7")) };
        },
      }),
    ],
  ])(
    "the worker refunds a chunk whose input %s at the first message, and once",
    async (_case, breakIt) => {
      const ctx = await setupMessages(createEmails(2));
      const [message = null] = ctx.messages;
      const blobs = { ...ctx.blobs, ...(await breakIt(ctx.blobs)) };
      const world = { ...ctx.world, blobs };

      await verifyChunk.handle(world, message);
      await verifyChunk.handle(world, message);
      await verifyChunk.giveUp?.handle(world, message);

      expect(await listStoredChunks(ctx)).toMatchObject([{ outcome: "refunded", rows: 0 }]);
      expect(await readStoredJob(ctx)).toMatchObject({
        status: "failed",
        refunds: { no_result: 2 },
      });
      await thenConsistent(ctx);
    },
  );

  test("the worker retries when the blob store does not respond, since the input may be intact", async () => {
    const ctx = await setupMessages(createEmails(2));
    const [message = null] = ctx.messages;
    const get = () => Promise.reject(new Error("connection reset"));
    const world = { ...ctx.world, blobs: { ...ctx.blobs, get } };

    await expect(verifyChunk.handle(world, message)).rejects.toThrow("connection reset");
    await expect(verifyChunk.giveUp?.handle(world, message)).rejects.toThrow("connection reset");

    expect(await listStoredChunks(ctx)).toEqual([]);
  });
});
