import { verifyChunk } from "@mailproof/core/jobs/chunk-worker";
import type { Json } from "@mailproof/core/table";
import { expect, test } from "vitest";
import { anns, givenChunked, type House, jobIn, whenBatched } from "../../jobs.ts";
import { creditsOf, thenInOrder } from "../../ledger.ts";
import { whenQuiet } from "../../working.ts";
import { emailsTold, messagesIn, probing } from "./working-chunks.ts";

// Rows whose mail server takes minutes, in a process that goes on after a pass.

/** `slow@…` answers after 30 seconds. How often each address was asked is counted. */
const givenSlow = async (emails: readonly string[], rows = 10) => {
  const house = await givenChunked({ rows });
  const asked = new Map<string, number>();
  const counting = probing(house.world, (ask) => (question) => {
    asked.set(question.recipient, (asked.get(question.recipient) ?? 0) + 1);
    return ask(question);
  });
  const settings = { ...counting.settings, slowRowsAfterMs: 20_000 };
  const slow: House = { ...house, world: { ...counting, settings } };
  await whenBatched(slow.world, slow.liveKey, { emails });
  return { ...slow, asked };
};

const whenHandled = async (house: House, messages: readonly Json[]): Promise<void> => {
  for (const body of messages) await verifyChunk.handle(house.world, body);
};

test("the rows of a chunk that have a result are stored while the slow ones go on", async () => {
  const house = await givenSlow([...anns(3), "slow@x.com"]);
  const from = house.world.now().getTime();

  await whenHandled(house, await messagesIn(house));

  expect(house.world.now().getTime() - from).toBe(20_000);
  expect(await emailsTold(house)).toEqual(anns(3));
  expect(await jobIn(house)).toMatchObject({ status: "processing", progress: { processed: 3 } });
});

test("slow rows go on in a message of their own weight, and are not asked again", async () => {
  const house = await givenSlow([...anns(3), "slow@x.com"]);
  await whenHandled(house, await messagesIn(house));

  const [next] = await house.queue.receive(verifyChunk.queue, { waitMs: 0 });
  expect(next).toMatchObject({ group: house.account, weight: 1, body: { pass: 1 } });
  await whenHandled(house, [next?.body ?? null]);

  expect(house.asked.get("slow@x.com")).toBe(1);
  expect(await jobIn(house)).toMatchObject({ status: "completed", progress: { valid: 4 } });
  await thenInOrder(house);
});

test("a process that knows nothing of a slow row verifies it anew, and each row has one result", async () => {
  const house = await givenSlow([...anns(3), "slow@x.com"]);
  await whenHandled(house, await messagesIn(house));
  const restarted = { ...house, world: { ...house.world, blobs: { ...house.world.blobs } } };

  await whenHandled(restarted, await messagesIn(house));

  expect(house.asked.get("slow@x.com")).toBe(2);
  expect((await emailsTold(house)).toSorted()).toEqual([...anns(3), "slow@x.com"]);
});

test("where the message of the slow rows is lost, the chunk is due and they go on", async () => {
  const house = await givenSlow([...anns(3), "slow@x.com"]);
  await whenHandled(house, await messagesIn(house));
  await messagesIn(house);

  await whenQuiet(house);

  expect(await jobIn(house)).toMatchObject({ status: "completed", progress: { valid: 4 } });
});

test("a message that comes twice while slow rows go on adds no result and no charge", async () => {
  const house = await givenSlow([...anns(3), "slow@x.com"]);
  const first = await messagesIn(house);
  await whenHandled(house, [...first, ...first]);
  const second = await messagesIn(house);
  await Promise.all([whenHandled(house, second), whenHandled(house, second)]);

  expect(house.asked.get("slow@x.com")).toBe(1);
  expect(await emailsTold(house)).toHaveLength(4);
  expect(await creditsOf(house)).toMatchObject({ available: 96, spent: 4 });
  await thenInOrder(house);
});

test("slow rows are not counted as deferred: they are under way", async () => {
  const house = await givenSlow([...anns(2), "slow@x.com", "greylisted@x.com"]);
  await whenHandled(house, await messagesIn(house));

  expect(await jobIn(house)).toMatchObject({ deferred: { count: 1 } });
});
