import { verifyChunk } from "@mailproof/core/jobs/chunk-worker";
import { expect, test } from "vitest";
import { damaged } from "../../breaking.ts";
import { anns, type House } from "../../jobs.ts";
import { thenInOrder } from "../../ledger.ts";
import { pieces } from "../../pieces.ts";
import { chunksIn, givenMessages, jobOf } from "./working-chunks.ts";

const KEY = "inputs/job_1.jsonl";
type Blobs = House["blobs"];

test.each<[string, (blobs: Blobs) => Promise<Partial<Blobs>>]>([
  ["is damaged", async (blobs) => damaged(blobs, () => 3)],
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
        return found && { ...found, content: pieces('[1,"ann') };
      },
    }),
  ],
  [
    "has other bytes of the same form",
    async (blobs) => ({
      get: async (key, options) => {
        const found = await blobs.get(key, options);
        const text = Buffer.concat(await Array.fromAsync(found?.content ?? [])).toString();
        return found && { ...found, content: pieces(text.replace("ann1", "ann7")) };
      },
    }),
  ],
])("a chunk whose input %s is refunded at the first message, and once", async (_case, breakIt) => {
  const house = await givenMessages(anns(2));
  const [message = null] = house.messages;
  const blobs = { ...house.blobs, ...(await breakIt(house.blobs)) };
  const world = { ...house.world, blobs };

  await verifyChunk.handle(world, message);
  await verifyChunk.handle(world, message);
  await verifyChunk.giveUp?.(world, message);

  expect(await chunksIn(house)).toMatchObject([{ outcome: "refunded", rows: 0 }]);
  expect(await jobOf(house)).toMatchObject({ status: "failed", refunded: 2 });
  await thenInOrder(house);
});

test("a store that does not answer is asked again later: it says nothing about the input", async () => {
  const house = await givenMessages(anns(2));
  const [message = null] = house.messages;
  const get = () => Promise.reject(new Error("connection reset"));
  const world = { ...house.world, blobs: { ...house.blobs, get } };

  await expect(verifyChunk.handle(world, message)).rejects.toThrow("connection reset");
  await expect(verifyChunk.giveUp?.(world, message)).rejects.toThrow("connection reset");

  expect(await chunksIn(house)).toEqual([]);
});

test("rows of an earlier release, without a checksum, are refunded where they are no JSON any more", async () => {
  const house = await givenMessages(anns(2));
  const [message] = house.messages as { checksum?: number }[];
  const { checksum: _, ...earlier } = message ?? {};
  const get: Blobs["get"] = async (key, options) => {
    const found = await house.blobs.get(key, options);
    return found && { ...found, content: pieces("x".repeat(found.bytes)) };
  };

  await verifyChunk.handle({ ...house.world, blobs: { ...house.blobs, get } }, earlier);

  expect(await chunksIn(house)).toMatchObject([{ outcome: "refunded", rows: 0 }]);
});
