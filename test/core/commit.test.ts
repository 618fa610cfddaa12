import { commit, type Writes } from "@mailproof/core/commit";
import type { Table, Transacted } from "@mailproof/core/table";
import { expect, test } from "vitest";
import { givenWorld } from "../given.ts";

const key = (sk: string) => ({ pk: "P", sk });
const ours = { ...key("entry"), by: "us" };
const WRITES: Writes = [
  { create: ours },
  { update: key("purse"), add: { n: -1 }, leaving: { n: { atLeast: 0 } } },
];

type Fate = "passes" | "is lost before" | "is lost after" | "breaks";

/** A table to which each transaction has a fate, the last of them for all that follow. */
const givenFates = async (fates: readonly Fate[], halves = 5) => {
  const { table, queue, world } = givenWorld();
  await table.write({ create: { ...key("purse"), n: halves } });
  const slept: number[] = [];
  let tries = 0;
  const tokens = new Set<string | undefined>();
  const transact: Table["transact"] = async (writes, attempt): Promise<Transacted> => {
    tokens.add(attempt?.token);
    const fate = fates[Math.min(tries++, fates.length - 1)];
    if (fate === "breaks") throw new Error("no connection");
    if (fate === "is lost before") return { outcome: "ambiguous" };
    const result = await table.transact(writes, attempt);
    return fate === "is lost after" ? { outcome: "ambiguous" } : result;
  };
  const unsure = {
    table: { ...table, transact },
    queue,
    now: world.now,
    newId: world.newId,
    random: () => 0.5,
    sleep: async (ms: number) => void slept.push(ms),
  };
  const left = async () => (await table.get(key("purse")))?.["n"];
  return { world: unsure, table, left, slept, tokens, tries: () => tries };
};

test.each<[Fate[], string, number, number]>([
  [["passes"], "committed", 4, 1],
  [["is lost before", "passes"], "committed", 4, 2],
  [["is lost after", "passes"], "committed", 4, 2],
  [["is lost before", "is lost after", "passes"], "committed", 4, 3],
  [["is lost before", "is lost before", "is lost after", "passes"], "committed", 4, 4],
  [["is lost after"], "committed", 4, 4],
  [["is lost before"], "ambiguous", 5, 4],
  [["is lost after", "breaks"], "committed", 4, 4],
  [["is lost before", "breaks", "passes"], "committed", 4, 3],
  [["is lost before", "breaks"], "ambiguous", 5, 4],
])(
  "where a transaction %j it is %s, %d are left, after %d tries",
  async (fates, outcome, left, tries) => {
    const house = await givenFates(fates);

    expect(await commit(house.world, WRITES)).toMatchObject({ outcome });
    expect(await house.left()).toBe(left);
    expect(house.tries()).toBe(tries);
    // However often it is sent, the table knows it as one.
    expect(house.tokens.size).toBe(1);
    expect(house.tokens).not.toContain(undefined);
  },
);

test("a door that throws at the first try is sure, and is not asked again", async () => {
  const house = await givenFates(["breaks", "passes"]);

  await expect(commit(house.world, WRITES)).rejects.toThrow("no connection");
  expect(house.tries()).toBe(1);
});

test("a refusal is told as it came, by the very write that was refused", async () => {
  const house = await givenFates(["passes"], 0);

  expect(await commit(house.world, WRITES)).toEqual({ outcome: "refused", by: WRITES[1] });
  expect(house.tries()).toBe(1);
});

test("a refusal after a lost reply is one, where it is not our own doing", async () => {
  const house = await givenFates(["is lost before", "passes"], 0);

  expect(await commit(house.world, WRITES)).toEqual({ outcome: "refused", by: WRITES[1] });
});

test("somebody else's item in the place of ours is a refusal, however alike the two are", async () => {
  const house = await givenFates(["is lost before", "passes"]);
  await house.table.write({ create: { ...ours, by: "them" } });

  expect(await commit(house.world, WRITES)).toEqual({ outcome: "refused", by: WRITES[0] });
  expect(await house.left()).toBe(5);
});

test("an item in another order of fields is still ours", async () => {
  const house = await givenFates(["is lost before", "passes"]);
  await house.table.write({ create: { by: "us", sk: "entry", pk: "P" } });

  expect(await commit(house.world, WRITES)).toMatchObject({ outcome: "committed" });
});

test("a removal whose reply was lost was ours when there is nothing left to remove", async () => {
  const house = await givenFates(["is lost after", "passes"]);
  const removal: Writes = [{ remove: key("purse"), where: { n: 5 } }];

  expect(await commit(house.world, removal)).toEqual({ outcome: "committed" });
});

test("what cannot be looked up in the end stays unknown", async () => {
  const house = await givenFates(["is lost after"]);
  const blind = { ...house.world.table, get: () => Promise.reject(new Error("no connection")) };

  expect(await commit({ ...house.world, table: blind }, WRITES)).toEqual({ outcome: "ambiguous" });
});

test("the waits grow, and chance spreads them", async () => {
  const house = await givenFates(["is lost before"]);
  await commit(house.world, WRITES);

  expect(house.slept).toEqual([15, 100, 400]);
});

test("what an outbox write sends is sent when all is written, and never before", async () => {
  const sends = { queue: "events", message: { body: { id: "evt_1" } } };
  const writes: Writes = [...WRITES, { create: key("event"), sends }];
  const house = await givenFates(["is lost before", "passes"]);
  const poor = await givenFates(["passes"], 0);

  await commit(house.world, writes);
  await commit(poor.world, writes);

  expect(house.world.queue.pending()).toBe(1);
  expect(poor.world.queue.pending()).toBe(0);
});
