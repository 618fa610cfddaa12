import { chunkKey } from "@mailproof/core/jobs/chunks";
import { jobKey } from "@mailproof/core/jobs/items";
import { repairJob } from "@mailproof/core/jobs/repair";
import type { Item, Table } from "@mailproof/core/table";
import { expect, test } from "vitest";
import { down, type Fate, fated, overTable } from "../../breaking.ts";
import { anns, givenChunked, type House, whenProcessed } from "../../jobs.ts";
import { creditsOf, movesOf, newsIn, storedIn, thenInOrder } from "../../ledger.ts";
import { whenQuiet, whenReconciled, whenWorked } from "../../working.ts";
import { givenMessages, jobOf, messagesIn } from "./working-chunks.ts";

const MINUTE_MS = 60_000;

const itemIn = (house: House): Item => {
  const item = house.table.items().find(({ sk }) => sk === "JOB");
  if (!item) throw new Error("there is no job");
  return item;
};

/** A file of chunks of one address, of which each met this fate. */
const givenFates = async (fates: readonly Fate[]) => {
  const house = await givenChunked({ rows: 1 });
  const world = fated(house, (chunk) => fates[chunk] ?? "sent");
  await whenProcessed({ ...house, world }, anns(fates.length));
  return house;
};

test("a job that goes on is left alone for another hour", async () => {
  const house = await givenMessages();
  await house.queue.sendMany("chunks", [{ body: house.messages[0] ?? null }]);
  await whenWorked(house);

  const done = await repairJob(house.world, itemIn(house));

  expect(done).toBe("goes_on");
  expect(house.queue.pending()).toBe(0);
  expect(itemIn(house)).toMatchObject({ seen: 2, due_sk: "2026-11-21T01:00:00.000Z" });
});

test("one of which nothing came since is sent again: every chunk of which nothing is known", async () => {
  const house = await givenMessages();
  await house.queue.sendMany("chunks", [{ body: house.messages[1] ?? null }]);
  await whenWorked(house);
  await repairJob(house.world, itemIn(house));

  const done = await repairJob(house.world, itemIn(house));

  expect(done).toBe("sent_again");
  expect(await messagesIn(house)).toEqual([house.messages[0], house.messages[2]]);
});

test("a chunk whose rows wait for a server is not stuck", async () => {
  const house = await givenMessages(["greylisted@x.com", "ann@x.com"]);
  await house.queue.sendMany("chunks", [{ body: house.messages[0] ?? null }]);
  await whenWorked(house);
  await repairJob(house.world, itemIn(house));

  await repairJob(house.world, itemIn(house));

  expect(house.queue.pending()).toBe(0);
});

test("one whose last worker is gone before it said so is completed", async () => {
  const house = await givenMessages();
  await house.table.write({ update: jobKey("job_1"), add: { processed: 5, valid: 5 } });

  expect(await repairJob(house.world, itemIn(house))).toBe("completed");
  expect(newsIn(house)).toEqual(["job.completed"]);
});

test("chunks that may be queued or not are sent again and settled, each by an entry of its own", async () => {
  const house = await givenFates(["unknown", "sent", "unheard"]);

  const done = await repairJob(house.world, itemIn(house));

  expect(done).toBe("resolved");
  expect(await jobOf(house)).toMatchObject({
    status: "processing",
    unsettled: 0,
    unresolved: [],
    held: 0,
    refunded: 0,
  });
  expect(movesOf(house)).toEqual(["settle 1", "settle 1", "hold 3", "settle 1"]);
  await thenInOrder(house);
});

test("as long as the queue does not say so nothing is settled, and it is asked each minute", async () => {
  const house = await givenFates(["unknown", "sent"]);
  const lossy = fated(house, () => "unheard");

  const done = await repairJob(lossy, itemIn(house));

  expect(done).toBe("partly_resolved");
  expect(itemIn(house)).toMatchObject({ unresolved: [0], due_sk: "2026-11-21T00:01:00.000Z" });
  expect(await creditsOf(house)).toMatchObject({ held: 1, spent: 1 });
});

test("what a worker did is settled without being sent again", async () => {
  const house = await givenFates(["unheard", "sent"]);
  await whenWorked(house);
  const world = { ...house.world, queue: { ...house.queue, sendMany: down } };

  expect(await repairJob(world, itemIn(house))).toBe("resolved");
  expect(await jobOf(house)).toMatchObject({ status: "completed" });
});

test("an hour is an hour: to the minute it is tried, and after it given back, and no worker does it then", async () => {
  const house = await givenFates(["unheard", "sent"]);
  const lossy = fated(house, () => "refused");
  house.later(60 * MINUTE_MS);
  const before = await repairJob(lossy, itemIn(house));
  house.later(1);

  const after = await repairJob(lossy, itemIn(house));
  await whenWorked(house);

  expect([before, after]).toEqual(["partly_resolved", "resolved"]);
  expect(await jobOf(house)).toMatchObject({ status: "completed", processed: 1, refunded: 1 });
  expect(await house.table.get(chunkKey("job_1", 0))).toMatchObject({ outcome: "refunded" });
  expect(await creditsOf(house)).toMatchObject({ available: 99, held: 0, spent: 1, refunded: 1 });
  await thenInOrder(house);
});

test("fifty at once and no more: a great heap is resolved in several looks", async () => {
  const house = await givenFates([...Array<Fate>(70).fill("unknown"), "sent"]);

  const looks = [
    await repairJob(house.world, itemIn(house)),
    (await jobOf(house)).unresolved.length,
    await repairJob(house.world, itemIn(house)),
  ];

  expect(looks).toEqual(["partly_resolved", 20, "resolved"]);
  await thenInOrder(house);
});

test("whoever finds another's token on the job changes no money", async () => {
  const house = await givenFates(["unknown", "sent"]);
  const stale = itemIn(house);
  await house.table.write({ update: jobKey("job_1"), set: { token: "another" } });
  const before = movesOf(house);

  await expect(repairJob(house.world, stale)).rejects.toThrow("was not resolved: refused");

  expect(movesOf(house)).toEqual(before);
});

test.each([true, false])(
  "no reply to a settlement (written: %s) is an error; whoever looks next settles what is left, once",
  async (written) => {
    const house = await givenFates(["unknown", "sent", "unknown"]);
    let lost = 0;
    const transact: Table["transact"] = async (writes) => {
      if (lost++ < 4) {
        if (written) await house.table.transact(writes);
        return { outcome: "ambiguous" };
      }
      return house.table.transact(writes);
    };

    await repairJob(overTable(house, { transact }), itemIn(house)).catch(() => undefined);
    await whenQuiet(house);

    expect(await creditsOf(house)).toMatchObject({ held: 0, spent: 3, refunded: 0 });
    expect(await jobOf(house)).toMatchObject({ status: "completed", processed: 3 });
    await thenInOrder(house);
  },
);

test("two reconcilers at once settle each chunk once", async () => {
  const house = await givenFates(["unknown", "unknown", "sent"]);
  house.later(MINUTE_MS);

  await Promise.all([whenReconciled(house), whenReconciled(house), whenReconciled(house)]);
  await whenQuiet(house);

  expect(await creditsOf(house)).toMatchObject({ held: 0, spent: 3 });
  expect(newsIn(house)).toEqual(["job.completed"]);
  await thenInOrder(house);
});

test("what nobody waits for any more is not touched again, however often somebody looks", async () => {
  const house = await givenFates(["unknown", "sent", "refused"]);
  await whenQuiet(house);
  const before = storedIn(house);

  for (let hour = 0; hour < 5; hour++) {
    house.later(60 * MINUTE_MS);
    await whenReconciled(house);
  }

  expect(storedIn(house)).toEqual(before);
});
