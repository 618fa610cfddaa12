import { dueAt, duePartitions, NOT_DUE, readDue, take } from "@mailproof/core/due";
import { inMs } from "@mailproof/core/moments";
import type { Item, Table } from "@mailproof/core/table";
import { expect, test } from "vitest";
import { givenWorld, START } from "../given.ts";

const LEASE_MS = 60_000;
const key = { pk: "WORK#1", sk: "WORK" };

const givenWork = async () => {
  const house = givenWorld();
  const item: Item = { ...key, ...dueAt("mend", "1", START, "first") };
  await house.table.write({ create: item });
  return { ...house, item };
};

test("whoever takes it has it until the lease is over, under a token of its own", async () => {
  const { world, item, table } = await givenWork();

  const taken = await take(world, item, LEASE_MS);

  expect(taken).toMatchObject({
    ...key,
    due_kind: "mend",
    due_sk: "2026-11-21T00:01:00.000Z",
    token: "txn_1",
  });
  expect(await table.get(key)).toEqual(taken);
});

test("of many who take it at once one has it", async () => {
  const { world, item } = await givenWork();

  const taken = await Promise.all(Array.from({ length: 9 }, () => take(world, item, LEASE_MS)));

  expect(taken.filter((one) => one !== undefined)).toHaveLength(1);
});

test("whoever looked before it was taken comes too late", async () => {
  const { world, item } = await givenWork();
  await take(world, item, LEASE_MS);

  expect(await take(world, item, LEASE_MS)).toBeUndefined();
});

test("with the moment as it was, another token is another hand", async () => {
  const { world, item, table } = await givenWork();
  await table.write({ update: key, set: { token: "another" } });

  expect(await take(world, item, LEASE_MS)).toBeUndefined();
});

test("what is done meanwhile cannot be taken", async () => {
  const { world, item, table } = await givenWork();
  await table.write({ update: key, set: NOT_DUE });

  expect(await take(world, item, LEASE_MS)).toBeUndefined();
});

test("what is gone meanwhile cannot be taken", async () => {
  const { world, item, table } = await givenWork();
  await table.write({ remove: key });

  expect(await take(world, item, LEASE_MS)).toBeUndefined();
});

test.each([
  ["written", true],
  ["not written", false],
])("a lost reply is found out by looking: %s", async (_case, written) => {
  const { world, item, table } = await givenWork();
  const write: Table["write"] = async (one) => {
    if (written) await table.write(one);
    return { outcome: "ambiguous" };
  };

  const taken = await take({ ...world, table: { ...table, write } }, item, LEASE_MS);

  expect(taken !== undefined).toBe(written);
});

test("what is due is found in its partition, and no more when it is done", async () => {
  const { table } = await givenWork();
  const found = async () => {
    const pages = await Promise.all(
      duePartitions.map((pk) => table.query({ index: "due", pk, limit: 10 })),
    );
    return pages.flatMap(({ items }) => items);
  };
  const before = await found();
  await table.write({ update: key, set: NOT_DUE });

  expect(before).toMatchObject([{ ...key, due_sk: START.toISOString() }]);
  expect(await found()).toEqual([]);
});

test("ids are spread over all partitions, and an id is always in the same one", () => {
  const partitions = Array.from(
    { length: 200 },
    (_row, n) => dueAt("a", `job_${n}x${n * 7}`, START, "t").due_pk,
  );

  expect(new Set(partitions)).toEqual(new Set(duePartitions));
  expect(dueAt("a", "job_1", START, "t").due_pk).toBe(
    dueAt("b", "job_1", inMs(START, 5), "u").due_pk,
  );
});

test("an item that is not due is no due item", () => {
  expect(() => readDue(key)).toThrow("due_pk");
});
