import { addMs } from "@mailproof/core/lib/time";
import type { Item, Table, TransactResult } from "@mailproof/core/ports/table";
import { commit, type Transaction } from "@mailproof/core/runtime/commit";
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
const work = { pk: "WORK#1", sk: "WORK" };

const setupWork = async () => {
  const ctx = givenWorld();
  const item: Item = { ...work, ...scheduleWork("mend", "1", START, "first") };
  await ctx.table.write({ create: item });
  return { ...ctx, item };
};

test("the process that acquires a lease keeps the item until the lease ends, under its own token", async () => {
  const { world, item, table } = await setupWork();

  const leased = await acquireLease(world, item, LEASE_MS);

  expect(leased).toMatchObject({
    ...work,
    due_kind: "mend",
    due_sk: "2026-11-21T00:01:00.000Z",
    token: "txn_1",
  });
  expect(await table.get(work)).toEqual(leased);
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
  await table.write({ update: work, set: { token: "another" } });

  expect(await acquireLease(world, item, LEASE_MS)).toBeUndefined();
});

test("acquireLease refuses an item whose work ended meanwhile", async () => {
  const { world, item, table } = await setupWork();
  await table.write({ update: work, set: UNSCHEDULED });

  expect(await acquireLease(world, item, LEASE_MS)).toBeUndefined();
});

test("acquireLease refuses an item that disappeared meanwhile", async () => {
  const { world, item, table } = await setupWork();
  await table.write({ remove: work });

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
  await table.write({ update: work, set: UNSCHEDULED });

  expect(before).toMatchObject([{ ...work, due_sk: START.toISOString() }]);
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
  expect(() => readScheduledWork(work)).toThrow("due_pk");
});

const key = (sk: string) => ({ pk: "P", sk });
const ours = { ...key("entry"), by: "us" };
const PROOF = { create: ours };
const PAYMENT = { update: key("purse"), add: { n: -1 }, bounds: { n: { atLeast: 0 } } };
const WRITES: Transaction = { proof: PROOF, also: [PAYMENT] };

type Fate = "passes" | "is lost before" | "is lost after" | "breaks";

/** A table to which each transaction has a fate, the last of them for all that follow. */
const setupFates = async (fates: readonly Fate[], halves = 5) => {
  const { table, queue, world } = givenWorld();
  await table.write({ create: { ...key("purse"), n: halves } });
  const slept: number[] = [];
  let tries = 0;
  const tokens = new Set<string | undefined>();
  const transact: Table["transact"] = async (writes, attempt): Promise<TransactResult> => {
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
  "commit of a transaction with the fates %j returns %s and leaves %d after %d tries",
  async (fates, outcome, left, tries) => {
    const ctx = await setupFates(fates);

    expect(await commit(ctx.world, WRITES)).toMatchObject({ outcome });
    expect(await ctx.left()).toBe(left);
    expect(ctx.tries()).toBe(tries);
    // However often it is sent, the table knows it as one.
    expect(ctx.tokens.size).toBe(1);
    expect(ctx.tokens).not.toContain(undefined);
  },
);

test("commit rethrows an error that the table throws at the first try, and does not retry", async () => {
  const ctx = await setupFates(["breaks", "passes"]);

  await expect(commit(ctx.world, WRITES)).rejects.toThrow("no connection");
  expect(ctx.tries()).toBe(1);
});

test("commit returns a refusal with the refused write", async () => {
  const ctx = await setupFates(["passes"], 0);

  expect(await commit(ctx.world, WRITES)).toEqual({ outcome: "refused", refusedWrite: PAYMENT });
  expect(ctx.tries()).toBe(1);
});

test("commit returns a refusal after a lost reply when our own write did not cause it", async () => {
  const ctx = await setupFates(["is lost before", "passes"], 0);

  expect(await commit(ctx.world, WRITES)).toEqual({ outcome: "refused", refusedWrite: PAYMENT });
});

test("commit treats another writer's item under our key as a refusal, even if the items are alike", async () => {
  const ctx = await setupFates(["is lost before", "passes"]);
  await ctx.table.write({ create: { ...ours, by: "them" } });

  expect(await commit(ctx.world, WRITES)).toEqual({ outcome: "refused", refusedWrite: PROOF });
  expect(await ctx.left()).toBe(5);
});

test("commit recognizes our item when its fields appear in another order", async () => {
  const ctx = await setupFates(["is lost before", "passes"]);
  await ctx.table.write({ create: { by: "us", sk: "entry", pk: "P" } });

  expect(await commit(ctx.world, WRITES)).toMatchObject({ outcome: "committed" });
});

const UNPROVEN: Transaction = { proof: null, also: [{ remove: key("purse"), where: { n: 5 } }] };

test.each<[Fate[], string]>([
  [["passes"], "committed"],
  [["is lost before", "passes"], "committed"],
  // The second attempt is refused: this table remembers no token.
  [["is lost after", "passes"], "ambiguous"],
  [["is lost after"], "ambiguous"],
])(
  "commit of a transaction without a proof with the fates %j returns %s",
  async (fates, outcome) => {
    const ctx = await setupFates(fates);

    expect(await commit(ctx.world, UNPROVEN)).toMatchObject({ outcome });
  },
);

test("commit refuses a transaction without a proof when its first attempt is refused", async () => {
  const ctx = await setupFates(["passes"], 4);

  expect(await commit(ctx.world, UNPROVEN)).toMatchObject({ outcome: "refused" });
});

test("commit returns ambiguous when the look-up of the proof fails", async () => {
  const ctx = await setupFates(["is lost after"]);
  const blind = { ...ctx.world.table, get: () => Promise.reject(new Error("no connection")) };

  expect(await commit({ ...ctx.world, table: blind }, WRITES)).toEqual({ outcome: "ambiguous" });
});

const WORK = { create: key("work") };

test.each<[string, Transaction, string]>([
  ["the entry, which exists", { proof: PROOF, also: [WORK, PAYMENT] }, "committed"],
  [
    "the work, which another process finished and removed",
    { proof: WORK, also: [PROOF, PAYMENT] },
    "ambiguous",
  ],
])("commit without a reply reads as its proof %s", async (_, transaction, outcome) => {
  const ctx = await setupFates(["is lost after"]);
  const finish = async () => void (await ctx.table.write({ remove: key("work") }));

  const result = await commit({ ...ctx.world, sleep: finish }, transaction);

  expect(result).toMatchObject({ outcome });
  expect(await ctx.left()).toBe(4);
});

test("the waits between tries grow, with a random part", async () => {
  const ctx = await setupFates(["is lost before"]);
  await commit(ctx.world, WRITES);

  expect(ctx.slept).toEqual([15, 100, 400]);
});

test("commit sends an outbox write's message after the transaction, and never before", async () => {
  const sends = { queue: "events", message: { body: { id: "evt_1" } } };
  const writes = { proof: PROOF, also: [PAYMENT, { create: key("event"), sends }] };
  const ctx = await setupFates(["is lost before", "passes"]);
  const poor = await setupFates(["passes"], 0);

  await commit(ctx.world, writes);
  await commit(poor.world, writes);

  expect(ctx.world.queue.pending()).toBe(1);
  expect(poor.world.queue.pending()).toBe(0);
});
