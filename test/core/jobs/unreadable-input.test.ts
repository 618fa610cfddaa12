import { verifyChunk } from "@mailproof/core/jobs/chunk-worker";
import { expect, test } from "vitest";
import { createDamagedBlobs } from "../../faulty-worlds.ts";
import { streamPieces } from "../../form.ts";
import { createEmails, type TestContext } from "../../jobs.ts";
import { thenConsistent } from "../../ledger.ts";
import { listStoredChunks, readStoredJob, setupMessages } from "./working-chunks.ts";

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
  expect(await readStoredJob(ctx)).toMatchObject({ status: "failed", refunded: 2 });
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
