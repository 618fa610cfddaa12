import { expect, test } from "vitest";
import { givenWorld } from "../app/given.ts";
import { createContention } from "./contention.ts";

// The conflicts are held to what AWS documents: a simulation proves nothing over a database that is politer.

const item = (pk: string) => ({ pk, sk: "a" });
const BUSY_MS = 10;

const givenContention = () => {
  const { world } = givenWorld();
  const retries: number[] = [];
  const table = createContention({ ...world, busyMs: () => BUSY_MS }).wrap(world.table, (count) =>
    retries.push(count),
  );
  return { ...world, table, retries };
};

test("a transaction refuses another transaction and a write on its item until it ends", async () => {
  const { table, retries, sleep } = givenContention();
  const first = table.transact([{ put: item("a") }, { put: item("b") }]);
  await sleep(1);

  const results = await Promise.all([
    first,
    table.transact([{ checkAbsent: item("c") }, { put: item("b") }]),
    table.write({ put: item("a") }),
  ]);

  expect(results.map(({ outcome }) => outcome)).toEqual(["committed", "committed", "committed"]);
  expect(retries.filter((count) => count === 0)).toHaveLength(1);
});

test("transactions on different items do not conflict, and neither do reads", async () => {
  const { table, retries, now } = givenContention();
  const start = now().getTime();

  await Promise.all([
    table.transact([{ put: item("a") }]),
    table.transact([{ put: item("b") }]),
    table.get(item("a")),
    table.write({ put: item("c") }),
  ]);

  expect(retries).toEqual([0, 0, 0]);
  expect(now().getTime() - start).toBe(BUSY_MS);
});

test("a write fails when its item stays busy, and writes nothing", async () => {
  const { world } = givenWorld();
  const busyMs = () => 60_000;
  const table = createContention({ ...world, busyMs }).wrap(world.table);
  const long = table.transact([{ put: item("a") }]);
  await world.sleep(1);

  await expect(table.transact([{ put: { ...item("a"), n: 2 } }])).rejects.toThrow(
    "TransactionConflict",
  );
  await long;
  expect(await table.get(item("a"))).toEqual(item("a"));
});

test("a query may see one item before a transaction and the next item after it", async () => {
  const { world } = givenWorld();
  const { random, sleep } = world;
  const table = createContention({ random, sleep, busyMs: () => 0 }).wrap(world.table);
  const put = (n: number) => table.transact(["1", "2"].map((sk) => ({ put: { pk: "a", sk, n } })));
  await put(0);
  const seen = new Set<string>();
  for (let n = 1; n <= 50; n++) {
    const reading = table.query({ pk: "a", limit: 10 });
    await put(n);
    const { items } = await reading;
    seen.add(items.map((one) => Number(one["n"]) - n).join(" "));
  }

  expect([...seen].toSorted()).toEqual(["-1 0", "0 0"]);
});

// The faults themselves are held to what they claim: a simulation proves nothing over a network that lies in
// ways no network can.
