import { hashAddress } from "@mailproof/core/accounts/hashes";
import { forgetActivity } from "@mailproof/core/activity/forget";
import { findRecord } from "@mailproof/core/activity/items";
import { recordEvents } from "@mailproof/core/activity/record";
import type { Write } from "@mailproof/core/ports/table";
import { getItemKey } from "@mailproof/core/ports/writes";
import { expect, test } from "vitest";
import { withTable } from "../../app/faulty-worlds.ts";
import { given, givenWorld } from "../../app/given.ts";
import { listStoredItems } from "../../app/ledger.ts";
import { createFaultyTable } from "../../simulation/faults.ts";
import { createRandom } from "../../simulation/random.ts";
import {
  createEvent,
  toAddress,
  toRecordedEvent,
  whenActivityRead,
  whenEventsSent,
} from "../../things/activity.ts";

const SOURCE = { account: "acc_1", channel: "api" } as const;

/** Every transaction of 500 events at one domain, one for each of as many people. */
const transactionsOf = async (activityPool: "own" | "shared") => {
  const ctx = givenWorld();
  const transactions: (readonly Write[])[] = [];
  const watched = withTable(ctx, {
    transact: (writes) => {
      transactions.push(writes);
      return ctx.table.transact(writes);
    },
  });
  const world = { ...watched, settings: { ...watched.settings, activityPool } };
  const events = Array.from({ length: 500 }, (_, n) =>
    toRecordedEvent(createEvent("open", n % 3, { email: `p${n}@big.example` })),
  );
  await recordEvents(world, SOURCE, events);
  return transactions;
};

const shardsIn = (writes: readonly Write[], owners: number): number =>
  new Set(
    writes.map((write) => getItemKey(write).pk).filter((pk) => pk.startsWith("ACTIVITYDAYS#")),
  ).size / owners;

test.each([
  ["own", 1, 20],
  ["shared", 2, 36],
] as const)(
  "in the pool %s, each transaction writes a day's events at one domain to few shards",
  async (pool, owners, most) => {
    const transactions = await transactionsOf(pool);

    expect(transactions.length).toBeLessThanOrEqual(most);
    expect(Math.max(...transactions.map((writes) => writes.length))).toBeLessThanOrEqual(100);
    // Of sixteen. A transaction ends where it is full, so it may start with the rest of one shard.
    expect(Math.max(...transactions.map((writes) => shardsIn(writes, owners)))).toBeLessThan(4);
  },
);

// Goal: whichever calls to the table are lost, an acknowledged event counts once, and so does a repeated one.
// Method: each seed decides which calls are lost, before or after they commit; the caller repeats until the response is 200.
test("the service counts each event once for a caller that repeats until a 200, whichever replies are lost", async () => {
  const reported = ["ann@x.com", "bo@x.com"].flatMap((email) =>
    Array.from({ length: 15 }, (_, n) => toRecordedEvent(createEvent("click", n, { email }))),
  );
  for (let seed = 0; seed < 150; seed++) {
    const ctx = givenWorld(seed);
    const world = withTable(ctx, createFaultyTable(ctx.table, createRandom(seed), 0.03));
    const until = async (part: typeof reported): Promise<void> => {
      const done = await recordEvents(world, SOURCE, part).then(
        () => true,
        () => false,
      );
      if (!done) await until(part);
    };
    await Promise.all([until(reported.slice(0, 20)), until(reported.slice(10)), until(reported)]);

    const records = await Promise.all(
      ["ann@x.com", "bo@x.com"].map((email) =>
        findRecord(ctx.table, hashAddress(world, SOURCE.account, email)),
      ),
    );
    expect(
      records.map((one) => one?.clicks),
      `seed ${seed}`,
    ).toEqual([15, 15]);
  }
});

test("24 callers that report one address at once all receive a 200 with the count", async () => {
  const ctx = givenWorld();
  const { sleep } = ctx.world;
  const world = withTable(ctx, {
    get: async (key) => {
      await sleep(10);
      return ctx.table.get(key);
    },
    transact: async (writes) => {
      await sleep(10);
      return ctx.table.transact(writes);
    },
  });
  const callers = Array.from({ length: 24 }, () =>
    Array.from({ length: 75 }, () => toRecordedEvent(createEvent("open", 1))),
  );

  const reported = await Promise.allSettled(
    callers.map((events) => recordEvents(world, SOURCE, events)),
  );

  expect(reported.filter(({ status }) => status === "rejected")).toEqual([]);
  const records = await findRecord(ctx.table, hashAddress(world, SOURCE.account, "ann@x.com"));
  expect(records?.opens).toBe(24 * 75);
});

const ann = toAddress("ANN@x.com");

test("an erasure makes an address unknown and subtracts the address from its domain, and keeps other addresses", async () => {
  const ctx = await given();
  const { world, liveKey: key } = ctx;
  await whenEventsSent(
    world,
    key,
    createEvent("open", 1),
    createEvent("open", 1, { email: "bo@x.com" }),
  );

  expect(await forgetActivity(world, ann)).toBe(1);

  expect((await whenActivityRead(world, key)).data.activity.total_opens).toBe(0);
  expect((await whenActivityRead(world, key, "bo@x.com")).data.activity.total_opens).toBe(1);
  expect(listStoredItems(ctx).reduce((sum, item) => sum + Number(item["people"] ?? 0), 0)).toBe(1);
  expect(await forgetActivity(world, ann)).toBe(0);
});

test("an erased address counts a new event, and ignores a repeat of an event from before the erasure", async () => {
  const { world, liveKey: key } = await given();
  const open = createEvent("open", 1);
  await whenEventsSent(world, key, open);
  await forgetActivity(world, ann);

  await whenEventsSent(world, key, open, createEvent("click", 1));

  expect((await whenActivityRead(world, key)).data.activity).toMatchObject({
    total_opens: 0,
    total_clicks: 1,
  });
});

test("an erasure also forgets an event recorded meanwhile, and an event whose write lost its reply", async () => {
  const ctx = await given();
  const { world, table, account, liveKey: key } = ctx;
  await whenEventsSent(world, key, createEvent("open", 1));
  const source = { account, channel: "api" } as const;
  let turn = 0;
  const busy = withTable(ctx, {
    transact: async (writes) => {
      turn++;
      if (turn === 1) await recordEvents(world, source, [toRecordedEvent(createEvent("open", 2))]);
      const result = await table.transact(writes);
      return turn === 2 ? { outcome: "ambiguous" } : result;
    },
  });

  expect(await forgetActivity(busy, ann)).toBe(1);
  expect((await whenActivityRead(world, key)).data.activity.engagement_level).toBe("unknown");
});
