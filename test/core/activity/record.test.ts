import { openAccount } from "@mailproof/core/accounts/accounts";
import { hashAddress } from "@mailproof/core/accounts/hashes";
import { forgetActivity } from "@mailproof/core/activity/forget";
import { findRecord } from "@mailproof/core/activity/items";
import { recordEvents } from "@mailproof/core/activity/record";
import { findDomainActivity } from "@mailproof/core/activity/reputation";
import type { AppWorld } from "@mailproof/core/app-world";
import { credits } from "@mailproof/core/money/credits";
import type { Write } from "@mailproof/core/ports/table";
import { getItemKey } from "@mailproof/core/ports/writes";
import { expect, test } from "vitest";
import { withTable } from "../../app/faulty-worlds.ts";
import { given, givenWorld } from "../../app/given.ts";
import { listStoredItems } from "../../app/ledger.ts";
import { createFaultyTable } from "../../simulation/faults.ts";
import { createRandom } from "../../simulation/random.ts";
import {
  ADDRESSES_MIN,
  createEvent,
  daysAgo,
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

/** Accounts with different contributor tags, and a world in which the operator shares their events, or not. */
const givenAccounts = async (count: number, activityPool: "own" | "shared") => {
  const ctx = givenWorld();
  const world: AppWorld = { ...ctx.world, settings: { ...ctx.world.settings, activityPool } };
  const opened = [];
  for (let n = 0; n < count; n++)
    opened.push(await openAccount(world, { name: `A${n}`, plan: "pro", opening: credits(0) }));
  return { ...ctx, world, opened };
};

const noon = (days: number) => createEvent("open", days - 0.5);

const opensSeenBy = async (world: AppWorld, key: string) =>
  (await whenActivityRead(world, key)).data.activity.total_opens;

test("a shared pool shows two accounts only their own events, and three accounts the events of all", async () => {
  const { world, opened } = await givenAccounts(4, "shared");
  const [a, b, c, d] = opened.map(({ liveKey }) => liveKey) as [string, string, string, string];
  await whenEventsSent(world, a, noon(3));
  await whenEventsSent(world, b, noon(2), noon(2));
  const early = [await opensSeenBy(world, a), await opensSeenBy(world, d)];

  await whenEventsSent(world, c, noon(5));

  expect(early).toEqual([1, 0]);
  expect(await opensSeenBy(world, a)).toBe(4);
  expect(await opensSeenBy(world, d)).toBe(4);
});

test("the pool shows days, and hides hours", async () => {
  const { world, opened } = await givenAccounts(3, "shared");
  for (const { liveKey } of opened) await whenEventsSent(world, liveKey, noon(2));

  const { data } = await whenActivityRead(world, opened[0]?.liveKey ?? "");

  expect(data.activity.last_open).toBe(daysAgo(2));
});

test("the pool hides shared events once the operator ends sharing", async () => {
  const { world, opened } = await givenAccounts(4, "shared");
  for (const { liveKey } of opened.slice(1)) await whenEventsSent(world, liveKey, noon(2));
  const key = opened[0]?.liveKey ?? "";
  const settings = { ...world.settings, activityPool: "own" as const };

  expect([await opensSeenBy(world, key), await opensSeenBy({ ...world, settings }, key)]).toEqual([
    3, 0,
  ]);
});

test("one event id that two accounts send counts as two events, in the pool as well", async () => {
  const { world, opened } = await givenAccounts(3, "shared");
  const same = { ...noon(2), id: "same" };
  for (const { liveKey } of opened) await whenEventsSent(world, liveKey, same, same);

  expect(await opensSeenBy(world, opened[0]?.liveKey ?? "")).toBe(3);
});

test("an erasure also removes an address from the pool", async () => {
  const { world, opened } = await givenAccounts(3, "shared");
  for (const { liveKey } of opened) await whenEventsSent(world, liveKey, noon(2));

  expect(await forgetActivity(world, toAddress("ann@x.com"))).toBe(4);
  expect(await opensSeenBy(world, opened[0]?.liveKey ?? "")).toBe(0);
});

test("a domain's reputation uses the pool once three accounts have reported events of it", async () => {
  const { world, opened } = await givenAccounts(4, "shared");
  const outsider = { account: opened[3]?.account ?? "", mode: "live", plan: "pro" } as const;
  const createEvents = (from: number) =>
    Array.from({ length: ADDRESSES_MIN }, (_, n) =>
      createEvent("delivery", 1, { email: `p${from + n}@x.com` }),
    );
  const seen = [];
  for (const [n, { liveKey }] of opened.slice(0, 3).entries()) {
    await whenEventsSent(world, liveKey, ...createEvents(n * ADDRESSES_MIN));
    seen.push((await findDomainActivity(world, outsider, "x.com")).activeAddresses);
  }

  expect(seen).toEqual([null, null, 3 * ADDRESSES_MIN]);
  const settings = { ...world.settings, activityPool: "own" as const };
  expect(
    (await findDomainActivity({ ...world, settings }, outsider, "x.com")).activeAddresses,
  ).toBeNull();
});
