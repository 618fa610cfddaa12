import { duePartitions } from "@mailproof/core/due";
import { verifyChunk } from "@mailproof/core/jobs/chunk-worker";
import { chunkKey } from "@mailproof/core/jobs/chunks";
import { splitDue, toGroups } from "@mailproof/core/jobs/deferrals";
import { jobKey } from "@mailproof/core/jobs/items";
import { expect, test } from "vitest";
import { anns, givenChunked, type House, jobIn, whenBatched, whenProcessed } from "../../jobs.ts";
import { creditsOf, movesOf, thenInOrder } from "../../ledger.ts";
import { whenQuiet, whenReconciled, whenWorked } from "../../working.ts";
import {
  chunksIn,
  givenMessages,
  greylisting,
  jobOf,
  messagesIn,
  probing,
} from "./working-chunks.ts";

const MINUTE_MS = 60_000;

const deferredIn = ({ table }: Pick<House, "table">) =>
  table.items().filter(({ pk }) => pk.startsWith("DEFERRED#"));

/** The same house with servers that answer an address otherwise each time they are asked. */
const moody = (house: House, moods: Readonly<Record<string, readonly string[]>>): House => {
  const asked = new Map<string, number>();
  const world = probing(house.world, (ask) => (question) => {
    const { recipient } = question;
    const now = asked.get(recipient) ?? 0;
    asked.set(recipient, now + 1);
    const turns = moods[recipient] ?? [recipient];
    return ask({ ...question, recipient: turns[Math.min(now, turns.length - 1)] ?? "" });
  });
  return { ...house, world };
};

const row = (number: number, at: string, reason = "greylisted") => ({
  row: number,
  at,
  reason,
  causes: ["greylisting" as const],
});

test("rows of the same time, reason and history are one group", () => {
  const [early, late] = ["2026-11-21T00:06:00.000Z", "2026-11-21T00:20:00.000Z"];

  expect(toGroups([row(1, early), row(2, late), row(3, early), row(4, early, "timeout")])).toEqual([
    { at: early, reason: "greylisted", causes: ["greylisting"], rows: [1, 3] },
    { at: late, reason: "greylisted", causes: ["greylisting"], rows: [2] },
    { at: early, reason: "timeout", causes: ["greylisting"], rows: [4] },
  ]);
});

test("a pass takes the first group, also when it comes early, and those within half a minute of it", () => {
  const groups = ["00:06:00", "00:06:30", "00:06:31"].map((time, at) => ({
    ...row(at, `2026-11-21T${time}.000Z`),
    rows: [at],
  }));

  const { due, later } = splitDue(groups);

  expect(due).toEqual(groups.slice(0, 2));
  expect(later).toEqual(groups.slice(2));
  expect(splitDue([])).toEqual({ due: [], later: [] });
});

test("rows of one chunk that break in several passes are each refunded, once", async () => {
  const house = moody(await givenChunked({ rows: 3 }), {
    "ann2@x.com": ["error@x.com"],
    "ann3@x.com": ["greylisted@x.com", "error@x.com"],
  });
  await whenProcessed(house, anns(3));

  await whenQuiet(house);

  expect(await jobIn(house)).toMatchObject({
    status: "completed",
    progress: { total: 3, processed: 3, valid: 1, unknown: 2 },
  });
  expect(movesOf(house)).toEqual(["hold 3", "settle 3", "refund 1", "refund 1"]);
  expect(await creditsOf(house)).toMatchObject({ available: 99, held: 0, spent: 1 });
  await thenInOrder(house);
});

test.each<[string, (house: House) => Promise<unknown>]>([
  ["a batch", ({ world, liveKey }) => whenBatched(world, liveKey, { emails: anns(3) })],
  ["a file", (house) => whenProcessed(house, anns(3))],
])(
  "%s whose input is gone while rows wait is refunded for them, and none waits any more",
  async (_kind, whenSent) => {
    const house = moody(await givenChunked({ rows: 3 }), {
      "ann2@x.com": ["greylisted@x.com"],
      "ann3@x.com": ["unknown@x.com"],
    });
    await whenSent(house);
    await whenWorked(house);
    expect((await jobOf(house)).deferred).toEqual({ greylisted: 1, timeout: 1 });
    for (const key of house.blobs.keys()) await house.blobs.remove(key);

    await whenQuiet(house);

    expect(await jobOf(house)).toMatchObject({ deferred: {}, processed: 1, refunded: 2 });
    expect(deferredIn(house)).toEqual([]);
    expect(await creditsOf(house)).toMatchObject({ spent: 1, refunded: 2 });
    await thenInOrder(house);
  },
);

test("a chunk that an earlier release deferred goes on: all of its rows without a result have their turn", async () => {
  const house = await givenMessages(anns(2));
  await verifyChunk.handle(greylisting(house.world), house.messages[0] ?? null);
  // Earlier releases wrote neither which rows waited nor how many.
  for (const { pk, sk } of deferredIn(house)) await house.table.write({ remove: { pk, sk } });
  await house.table.write({ update: chunkKey("job_1", 0), set: { retryAt: undefined } });
  await house.table.write({ update: jobKey("job_1"), set: { deferred_greylisted: undefined } });

  house.later(6 * MINUTE_MS);
  await whenReconciled(house);
  const [message = null] = await messagesIn(house);
  await verifyChunk.handle(greylisting(house.world), message);
  const after = await jobOf(house);
  await whenQuiet(house);

  expect(after).toMatchObject({ status: "processing", deferred: { greylisted: 2 } });
  expect(await jobOf(house)).toMatchObject({ status: "completed", valid: 2, deferred: {} });
  await thenInOrder(house);
});

test("the chunks of a great job are due in every partition, and all of them at once", async () => {
  const house = await givenMessages(anns(100), 1);
  for (const message of house.messages) await verifyChunk.handle(greylisting(house.world), message);
  const due = house.table.items().filter(({ due_kind }) => due_kind === "chunk");

  expect(due).toHaveLength(100);
  for (const partition of duePartitions)
    expect(due.filter(({ due_pk }) => due_pk === partition).length).toBeGreaterThan(5);
  house.later(6 * MINUTE_MS);
  await whenReconciled(house);
  expect(await messagesIn(house)).toHaveLength(100);
});

test("what is written of waiting rows fits an item many times, and goes when they do not wait", async () => {
  const house = await givenMessages(anns(100), 100);

  await verifyChunk.handle(greylisting(house.world), house.messages[0] ?? null);

  const [item] = deferredIn(house);
  expect(JSON.stringify(item).length).toBeLessThan(1_000);
  expect(await chunksIn(house)).toMatchObject([{ rows: 0, waiting: 100 }]);
  await whenQuiet(house);
  expect(deferredIn(house)).toEqual([]);
  await thenInOrder(house);
});
