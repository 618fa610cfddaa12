import { verifyChunk } from "@mailproof/core/lists/chunk-worker";
import { completeIfDone } from "@mailproof/core/lists/completion";
import { toJobKey } from "@mailproof/core/rows/items";
import { expect, test } from "vitest";
import { createDamagedBlobs, withTable } from "../../app/faulty-worlds.ts";
import { streamPieces } from "../../app/form.ts";
import { listOutboxEvents, thenConsistent } from "../../app/ledger.ts";
import { createEmails, type TestContext } from "../../things/jobs.ts";
import { listStoredChunks, readStoredJob, setupMessages } from "./working-chunks.ts";

/** A job of five addresses with these counts. */
const givenCounts = async (set: Readonly<Record<string, number | string>>) => {
  const ctx = await setupMessages();
  await ctx.table.write({ update: toJobKey("job_1"), set });
  return ctx;
};

test.each([
  ["nothing is done", "processing", {}],
  ["one address is missing", "processing", { processed: 4, valid: 4 }],
  ["all are done", "completed", { processed: 5, valid: 5 }],
  ["the others were refunded", "completed", { processed: 3, valid: 3, refunded: 2 }],
  ["the others failed", "completed", { processed: 5, valid: 3, unknown: 2, lost: 2 }],
  ["all failed", "failed", { processed: 5, unknown: 5, lost: 5 }],
  ["all were refunded", "failed", { refunded: 5 }],
  ["all failed or were refunded", "failed", { processed: 2, unknown: 2, lost: 2, refunded: 3 }],
  [
    "all are done and one chunk is not settled",
    "processing",
    { processed: 5, valid: 5, unsettled: 1 },
  ],
])("when %s the job is %s", async (_case, status, counts) => {
  const ctx = await givenCounts(counts);

  const isDone = await completeIfDone(ctx.world, "job_1");

  expect(isDone).toBe(status !== "processing");
  expect((await readStoredJob(ctx)).status).toBe(status);
  expect(listOutboxEvents(ctx)).toEqual(isDone ? [`job.${status}`] : []);
});

test("a job that is done is no longer scheduled work, and its record is stored for a year", async () => {
  const ctx = await givenCounts({ processed: 5, valid: 5 });

  await completeIfDone(ctx.world, "job_1");

  const item = ctx.table.items().find(({ sk }) => sk === "JOB");
  expect(item).not.toHaveProperty("due_pk");
  expect(item).toMatchObject({ completedAt: "2026-11-21T00:00:00.000Z" });
  expect(item?.expires_at).toBe(Date.UTC(2027, 10, 21) / 1000);
});

test("however many workers complete a job at once, its event is emitted once", async () => {
  const ctx = await givenCounts({ processed: 5, valid: 5 });

  const found = await Promise.all(
    Array.from({ length: 10 }, () => completeIfDone(ctx.world, "job_1")),
  );

  expect(found).toEqual(Array(10).fill(true));
  expect(listOutboxEvents(ctx)).toEqual(["job.completed"]);
});

test.each([
  ["completed", { status: "completed" }],
  ["failed", { status: "failed" }],
])("a job that is already %s stays so, and no event is emitted", async (_case, set) => {
  const ctx = await givenCounts({ ...set, processed: 5, valid: 5 });

  expect(await completeIfDone(ctx.world, "job_1")).toBe(true);
  expect(listOutboxEvents(ctx)).toEqual([]);
});

test("a job that does not exist counts as done", async () => {
  const { world } = await setupMessages();

  expect(await completeIfDone(world, "job_9")).toBe(true);
});

test("a lost reply to the completion is an error, so that a worker retries; the event is emitted once", async () => {
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
])("a chunk whose input %s is refunded at the first message, and once", async (_case, breakIt) => {
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
});

test("the worker retries when the blob store does not respond, since that tells nothing about the input", async () => {
  const ctx = await setupMessages(createEmails(2));
  const [message = null] = ctx.messages;
  const get = () => Promise.reject(new Error("connection reset"));
  const world = { ...ctx.world, blobs: { ...ctx.blobs, get } };

  await expect(verifyChunk.handle(world, message)).rejects.toThrow("connection reset");
  await expect(verifyChunk.giveUp?.handle(world, message)).rejects.toThrow("connection reset");

  expect(await listStoredChunks(ctx)).toEqual([]);
});
