import { openAccount } from "@mailproof/core/accounts/accounts";
import { forgetActivity } from "@mailproof/core/activity/forget";
import { findDomainActivity } from "@mailproof/core/activity/reputation";
import type { AppWorld } from "@mailproof/core/app-world";
import { credits } from "@mailproof/core/money/credits";
import { expect, test } from "vitest";
import { givenWorld } from "../../app/given.ts";
import {
  ADDRESSES_MIN,
  createEvent,
  daysAgo,
  toAddress,
  whenActivityRead,
  whenEventsSent,
} from "../../things/activity.ts";

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

test("an account sees no other account's events when the operator does not share a pool, however many accounts report", async () => {
  const { world, opened } = await givenAccounts(4, "own");
  for (const { liveKey } of opened.slice(1)) await whenEventsSent(world, liveKey, noon(2));

  expect(await opensSeenBy(world, opened[0]?.liveKey ?? "")).toBe(0);
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
