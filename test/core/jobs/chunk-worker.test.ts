import { verifyChunk } from "@mailproof/core/jobs/chunk-worker";
import type { Table } from "@mailproof/core/table";
import { RETRY_SCHEDULES, type RetryCause } from "@mailproof/core/verify/retry";
import { expect, test } from "vitest";
import { goneAfter, overTable, stopping, turn } from "../../breaking.ts";
import { anns, type House } from "../../jobs.ts";
import { newsIn, storedIn, thenInOrder } from "../../ledger.ts";
import { whenReconciled } from "../../working.ts";
import {
  chunksIn,
  emailsTold,
  givenMessages,
  greylisting,
  jobOf,
  messagesIn,
  probing,
} from "./working-chunks.ts";

const MINUTE_MS = 60_000;

const passesIn = async (house: House): Promise<number[]> =>
  (await chunksIn(house)).map(({ passes }) => passes.length);

const pagesIn = ({ table }: House): number =>
  table.items().filter(({ pk }) => pk.startsWith("RESULTS#")).length;

/** The next pass over what waits: its time has come, and its message is in our hands. */
const whenNext = async (house: House, pass: number, cause: RetryCause = "greylisting") => {
  house.later((RETRY_SCHEDULES[cause].afterMinutes[pass] ?? 0) * MINUTE_MS);
  await whenReconciled(house);
  return messagesIn(house);
};

test("a message points to its rows, and their outcome counts with them", async () => {
  const house = await givenMessages();

  await verifyChunk.handle(house.world, house.messages[1] ?? null);

  expect(await chunksIn(house)).toMatchObject([
    { chunk: 1, outcome: "done", rows: 2, waiting: 0, passes: [expect.any(String)] },
  ]);
  expect(await emailsTold(house)).toEqual(["ann3@x.com", "ann4@x.com"]);
  expect(await jobOf(house)).toMatchObject({ processed: 2, valid: 2, status: "processing" });
  await thenInOrder(house);
});

test("a worker that stalled until another had done its pass changes nothing that counts", async () => {
  const house = await givenMessages();
  const [message = null] = house.messages;
  const stalled = stopping(house, 0);
  const first = verifyChunk.handle(stalled.world, message);
  for (let turns = 0; turns < 10; turns++) await turn();
  await verifyChunk.handle(house.world, message);
  const counts = await jobOf(house);

  stalled.goOn();
  await first;

  expect(await jobOf(house)).toEqual(counts);
  expect(await emailsTold(house)).toEqual(anns(2));
  expect(await passesIn(house)).toEqual([1]);
  // Its page is there all the same, and is nobody's.
  expect(pagesIn(house)).toBe(2);
  await thenInOrder(house);
});

test("a worker that stalled in the second pass until another had done it changes nothing that counts", async () => {
  const house = await givenMessages(anns(4));
  await verifyChunk.handle(greylisting(house.world), house.messages[0] ?? null);
  const [message = null] = await whenNext(house, 0);
  const stalled = stopping({ ...house, world: greylisting(house.world) }, 0);
  const first = verifyChunk.handle(stalled.world, message);
  for (let turns = 0; turns < 10; turns++) await turn();
  await verifyChunk.handle(house.world, message);

  stalled.goOn();
  await first;

  expect(await passesIn(house)).toEqual([2]);
  expect(await jobOf(house)).toMatchObject({ status: "processing", processed: 2, valid: 2 });
  expect((await chunksIn(house))[0]).toMatchObject({ rows: 2, waiting: 0 });
  expect(await emailsTold(house)).toEqual(anns(2));
  await thenInOrder(house);
});

test("a worker that stalled in the first pass until the second was done does not undo it", async () => {
  const house = await givenMessages(anns(2));
  const [message = null] = house.messages;
  const stalled = stopping(house, 0);
  const first = verifyChunk.handle(stalled.world, message);
  for (let turns = 0; turns < 10; turns++) await turn();
  await verifyChunk.handle(greylisting(house.world), message);
  await verifyChunk.handle(greylisting(house.world), (await whenNext(house, 0))[0] ?? null);
  const before = await chunksIn(house);

  stalled.goOn();
  await first;

  expect(await chunksIn(house)).toEqual(before);
  expect(await jobOf(house)).toMatchObject({ status: "processing", processed: 0 });
  await thenInOrder(house);
});

test("a message of an earlier pass that comes late is done, and asks no server anything", async () => {
  const house = await givenMessages(anns(2));
  const [message = null] = house.messages;
  await verifyChunk.handle(greylisting(house.world), message);
  const before = storedIn(house);
  let asked = 0;
  const counting = probing(house.world, (ask) => (question) => {
    asked++;
    return ask(question);
  });

  await verifyChunk.handle(counting, message);

  expect(asked).toBe(0);
  expect(storedIn(house)).toEqual(before);
});

test("a message of a pass that nobody prepared is done, too", async () => {
  const house = await givenMessages(anns(2));
  const before = storedIn(house);

  for (const pass of [1, 2, 99])
    await verifyChunk.handle(house.world, { job: "job_1", chunk: 0, pass, from: 0, to: 10 });

  expect(storedIn(house)).toEqual(before);
});

test("each row is asked for once per pass, in three passes at the most, and only while it is put off", async () => {
  const house = await givenMessages(anns(3), 3);
  const asked: string[] = [];
  const world = probing(house.world, (ask) => (question) => {
    asked.push(question.recipient);
    const isPutOff = question.recipient === "ann2@x.com";
    return ask(isPutOff ? { ...question, recipient: "greylisted@x.com" } : question);
  });
  const seen = [];
  let messages = house.messages;
  for (let pass = 0; pass < 3; pass++) {
    await verifyChunk.handle(world, messages[0] ?? null);
    const [chunk] = await chunksIn(house);
    seen.push([chunk?.passes.length, chunk?.rows, chunk?.waiting]);
    messages = await whenNext(house, pass);
  }

  expect(seen).toEqual([
    [1, 2, 1],
    [2, 2, 1],
    [3, 3, 0],
  ]);
  expect(asked).toEqual([...anns(3), "ann2@x.com", "ann2@x.com"]);
  expect(await emailsTold(house)).toEqual(anns(3));
  expect(messages).toEqual([]);
  expect(house.table.items().filter(({ due_pk, sk }) => due_pk && sk !== "EVENT")).toEqual([]);
  await thenInOrder(house);
});

/** No server answers ann2 for so long. */
const givenSilent = async (ms: number) => {
  const house = await givenMessages(anns(2));
  const world = probing(house.world, (ask) => async (question) => {
    if (question.recipient === "ann2@x.com") await house.world.sleep(ms);
    return ask(question);
  });
  return { ...house, world };
};

test("a pass ends after twelve minutes: who is not answered by then has a turn in the next", async () => {
  const house = await givenSilent(12 * MINUTE_MS + 1);
  const from = house.world.now().getTime();

  await verifyChunk.handle(house.world, house.messages[0] ?? null);

  expect(house.world.now().getTime() - from).toBe(12 * MINUTE_MS);
  expect(await chunksIn(house)).toMatchObject([{ rows: 1, waiting: 1 }]);
  expect(await emailsTold(house)).toEqual(["ann1@x.com"]);
});

test("whoever is not answered in the last pass either is unknown for a time-out", async () => {
  const house = await givenSilent(12 * MINUTE_MS + 1);
  let messages = house.messages;
  for (let pass = 0; pass < 4; pass++) {
    expect(await jobOf(house)).toMatchObject({ status: "processing" });
    await verifyChunk.handle(house.world, messages[0] ?? null);
    messages = await whenNext(house, pass, "unreached");
  }

  expect(await jobOf(house)).toMatchObject({ status: "completed", valid: 1, unknown: 1 });
  await thenInOrder(house);
});

test("a message about a job that is over, or was never there, is done without a word", async () => {
  const house = await givenMessages(anns(2));
  const [message = null] = house.messages;
  await verifyChunk.handle(house.world, message);
  const before = storedIn(house);

  await verifyChunk.handle(house.world, message);
  await verifyChunk.handle(house.world, { ...(message as object), job: "job_9" });

  expect(storedIn(house)).toEqual(before);
});

test.each([
  ["page", { write: async () => ({ outcome: "ambiguous" as const }) }],
  ["outcome", { transact: async () => ({ outcome: "ambiguous" as const }) }],
])("a pass of which it is not known whether its %s is kept is not done", async (_case, doors) => {
  const house = await givenMessages();
  const [message = null] = house.messages;

  await expect(
    verifyChunk.handle(overTable(house, doors as Partial<Table>), message),
  ).rejects.toThrow("it is not known");

  await verifyChunk.handle(house.world, message);
  expect(await emailsTold(house)).toEqual(anns(2));
  await thenInOrder(house);
});

test("a lost reply to what was written is found out, and counts once", async () => {
  const house = await givenMessages(anns(2));
  let lost = 0;
  const transact: Table["transact"] = async (writes) => {
    const result = await house.table.transact(writes);
    return lost++ === 0 ? { outcome: "ambiguous" } : result;
  };

  await verifyChunk.handle(overTable(house, { transact }), house.messages[0] ?? null);

  expect(await jobOf(house)).toMatchObject({ status: "completed", processed: 2 });
  expect(newsIn(house)).toEqual(["job.completed"]);
});

test("many workers with the same message count once", async () => {
  const house = await givenMessages(anns(2));
  const [message = null] = house.messages;

  await Promise.all(Array.from({ length: 8 }, () => verifyChunk.handle(house.world, message)));

  expect(await jobOf(house)).toMatchObject({ status: "completed", processed: 2, valid: 2 });
  expect(newsIn(house)).toEqual(["job.completed"]);
  await thenInOrder(house);
});

test("a worker that is gone between its pages and their count leaves pages that nobody reads", async () => {
  const house = await givenMessages(anns(2));
  const [message = null] = house.messages;
  void verifyChunk.handle(goneAfter(house, 1).world, message);
  for (let turns = 0; turns < 10; turns++) await turn();
  const early = [pagesIn(house), await emailsTold(house)];

  await verifyChunk.handle(house.world, message);

  expect(early).toEqual([1, []]);
  expect(await emailsTold(house)).toEqual(anns(2));
});

test("a worker and the dead letter of its own chunk: one of them counts", async () => {
  const house = await givenMessages(anns(2));
  const [message = null] = house.messages;

  await Promise.all([
    verifyChunk.handle(house.world, message),
    verifyChunk.giveUp?.(house.world, message),
  ]);

  expect(await jobOf(house)).toMatchObject({ processed: 2 });
  expect(newsIn(house)).toHaveLength(1);
  await thenInOrder(house);
});
