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

test("the process that acquires a lease keeps the item until the lease ends, under its own token", async () => {
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

test("one of many concurrent processes acquires the lease", async () => {
  const { world, item } = await setupWork();

  const leased = await Promise.all(
    Array.from({ length: 9 }, () => acquireLease(world, item, LEASE_MS)),
  );

  expect(leased.filter((one) => one !== undefined)).toHaveLength(1);
});

test("acquireLease refuses a process that read the item before another process acquired the lease", async () => {
  const { world, item } = await setupWork();
  await acquireLease(world, item, LEASE_MS);

  expect(await acquireLease(world, item, LEASE_MS)).toBeUndefined();
});

test("acquireLease refuses an item whose token changed, although its due time is the same", async () => {
  const { world, item, table } = await setupWork();
  await table.write({ update: key, set: { token: "another" } });

  expect(await acquireLease(world, item, LEASE_MS)).toBeUndefined();
});

test("acquireLease refuses an item whose work ended meanwhile", async () => {
  const { world, item, table } = await setupWork();
  await table.write({ update: key, set: UNSCHEDULED });

  expect(await acquireLease(world, item, LEASE_MS)).toBeUndefined();
});

test("acquireLease refuses an item that disappeared meanwhile", async () => {
  const { world, item, table } = await setupWork();
  await table.write({ remove: key });

  expect(await acquireLease(world, item, LEASE_MS)).toBeUndefined();
});

test.each([
  ["written", true],
  ["not written", false],
])(
  "a lease with a lost reply reads the item again to learn its outcome: %s",
  async (_case, written) => {
    const { world, item, table } = await setupWork();
    const write: Table["write"] = async (one) => {
      if (written) await table.write(one);
      return { outcome: "ambiguous" };
    };

    const leased = await acquireLease({ ...world, table: { ...table, write } }, item, LEASE_MS);

    expect(leased !== undefined).toBe(written);
  },
);

test("a query finds due work in its partition until the work is done", async () => {
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

test("ids spread over all partitions, and one id always belongs to the same partition", () => {
  const partitions = Array.from(
    { length: 200 },
    (_row, n) => scheduleWork("a", `job_${n}x${n * 7}`, START, "t").due_pk,
  );

  expect(new Set(partitions)).toEqual(new Set(SCHEDULE_PARTITIONS));
  expect(scheduleWork("a", "job_1", START, "t").due_pk).toBe(
    scheduleWork("b", "job_1", addMs(START, 5), "u").due_pk,
  );
});

test("the reader of scheduled work refuses an item without a due time", () => {
  expect(() => readScheduledWork(key)).toThrow("due_pk");
});
