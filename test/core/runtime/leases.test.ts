import { addMs } from "@mailproof/core/lib/time";
import type { Item, Table } from "@mailproof/core/ports/table";
import {
  acquireLease,
  readScheduledWork,
  SCHEDULE_PARTITIONS,
  scheduleWork,
  UNSCHEDULED,
} from "@mailproof/core/runtime/leases";
import { expect, test } from "vitest";
import { givenWorld, START } from "../../app/given.ts";

const LEASE_MS = 60_000;
const key = { pk: "WORK#1", sk: "WORK" };

const setupWork = async () => {
  const ctx = givenWorld();
  const item: Item = { ...key, ...scheduleWork("mend", "1", START, "first") };
  await ctx.table.write({ create: item });
  return { ...ctx, item };
};

test("the process that claims an item has it until the lease is over, under a token of its own", async () => {
  const { world, item, table } = await setupWork();

  const leased = await acquireLease(world, item, LEASE_MS);

  expect(leased).toMatchObject({
    ...key,
    due_kind: "mend",
    due_sk: "2026-11-21T00:01:00.000Z",
    token: "txn_1",
  });
  expect(await table.get(key)).toEqual(leased);
});

test("of many who take it at once one has it", async () => {
  const { world, item } = await setupWork();

  const leased = await Promise.all(
    Array.from({ length: 9 }, () => acquireLease(world, item, LEASE_MS)),
  );

  expect(leased.filter((one) => one !== undefined)).toHaveLength(1);
});

test("a process that read the item before another one took the lease is refused", async () => {
  const { world, item } = await setupWork();
  await acquireLease(world, item, LEASE_MS);

  expect(await acquireLease(world, item, LEASE_MS)).toBeUndefined();
});

test("with the moment as it was, another token is another hand", async () => {
  const { world, item, table } = await setupWork();
  await table.write({ update: key, set: { token: "another" } });

  expect(await acquireLease(world, item, LEASE_MS)).toBeUndefined();
});

test("what is done meanwhile cannot be taken", async () => {
  const { world, item, table } = await setupWork();
  await table.write({ update: key, set: UNSCHEDULED });

  expect(await acquireLease(world, item, LEASE_MS)).toBeUndefined();
});

test("what is gone meanwhile cannot be taken", async () => {
  const { world, item, table } = await setupWork();
  await table.write({ remove: key });

  expect(await acquireLease(world, item, LEASE_MS)).toBeUndefined();
});

test.each([
  ["written", true],
  ["not written", false],
])("a lost reply is found out by looking: %s", async (_case, written) => {
  const { world, item, table } = await setupWork();
  const write: Table["write"] = async (one) => {
    if (written) await table.write(one);
    return { outcome: "ambiguous" };
  };

  const leased = await acquireLease({ ...world, table: { ...table, write } }, item, LEASE_MS);

  expect(leased !== undefined).toBe(written);
});

test("what is due is found in its partition, and no more when it is done", async () => {
  const { table } = await setupWork();
  const found = async () => {
    const pages = await Promise.all(
      SCHEDULE_PARTITIONS.map((pk) => table.query({ index: "due", pk, limit: 10 })),
    );
    return pages.flatMap(({ items }) => items);
  };
  const before = await found();
  await table.write({ update: key, set: UNSCHEDULED });

  expect(before).toMatchObject([{ ...key, due_sk: START.toISOString() }]);
  expect(await found()).toEqual([]);
});

test("ids are spread over all partitions, and an id is always in the same one", () => {
  const partitions = Array.from(
    { length: 200 },
    (_row, n) => scheduleWork("a", `job_${n}x${n * 7}`, START, "t").due_pk,
  );

  expect(new Set(partitions)).toEqual(new Set(SCHEDULE_PARTITIONS));
  expect(scheduleWork("a", "job_1", START, "t").due_pk).toBe(
    scheduleWork("b", "job_1", addMs(START, 5), "u").due_pk,
  );
});

test("an item that is not due is no due item", () => {
  expect(() => readScheduledWork(key)).toThrow("due_pk");
});
