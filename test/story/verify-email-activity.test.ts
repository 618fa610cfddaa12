import { expect, test } from "vitest";
import { withUnreadable } from "../app/faulty-worlds.ts";
import { given } from "../app/given.ts";
import { readCredits } from "../app/ledger.ts";
import { whenVerified } from "../app/send.ts";
import { createEvent, DAY_MS, daysAgo, whenEventsSent } from "../things/activity.ts";

const ask = { email: "ann@x.com", include_activity: true };
const PART = {
  last_seen: daysAgo(2),
  engagement_level: "high",
  opens_last_30d: 1,
  clicks_last_30d: 0,
};

const givenOpen = async () => {
  const ctx = await given({ balance: 10 });
  await whenEventsSent(ctx.world, ctx.liveKey, createEvent("open", 2));
  return ctx;
};

test("a verification with include_activity returns the address's activity beside the verdict for free", async () => {
  const ctx = await givenOpen();

  const { statusCode, data } = await whenVerified(ctx.world, ctx.liveKey, ask);

  expect(statusCode).toBe(200);
  expect(data).toMatchObject({ status: "valid", activity: PART, credits_used: 1 });
  expect(await readCredits(ctx)).toMatchObject({ available: 9, spent: 1 });
});

test.each([
  ["without the option", { email: "ann@x.com" }],
  ["with include_activity false", { ...ask, include_activity: false }],
  ["of an address without events", { ...ask, email: "bo@x.com" }],
  ["of a text without an address", { ...ask, email: "no address" }],
])("a verification %s omits activity", async (_case, body) => {
  const { world, liveKey } = await givenOpen();

  const { statusCode, data } = await whenVerified(world, liveKey, body);

  expect(statusCode).toBe(200);
  expect(data).not.toHaveProperty("activity");
});

test("a cached result contains the current activity", async () => {
  const { world, liveKey, later } = await givenOpen();
  await whenVerified(world, liveKey, { email: "ann@x.com" });
  await whenEventsSent(world, liveKey, createEvent("click", 0));
  later(DAY_MS / 2);

  const { data } = await whenVerified(world, liveKey, ask);

  expect(data).toMatchObject({ cached: true, credits_used: 0.5 });
  expect(data.activity).toMatchObject({ last_seen: daysAgo(0), clicks_last_30d: 1 });
});

test("a replay contains the current activity and otherwise equals the first response", async () => {
  const { world, liveKey } = await givenOpen();
  const first = await whenVerified(world, liveKey, ask, "k");
  await whenEventsSent(world, liveKey, createEvent("open", 1));

  const { data } = await whenVerified(world, liveKey, ask, "k");

  expect(data).toEqual({
    ...first.data,
    activity: { ...PART, last_seen: daysAgo(1), opens_last_30d: 2 },
    credits_used: 0,
    idempotent_replay: true,
  });
});

test("a pending response contains no activity", async () => {
  const { world, liveKey } = await given({ balance: 10 });
  await whenEventsSent(world, liveKey, createEvent("open", 2, { email: "slow@x.com" }));

  const { data } = await whenVerified(world, liveKey, { ...ask, email: "slow@x.com" });

  expect(data.status).toBe("pending");
  expect(data).not.toHaveProperty("activity");
});

test("a verification returns its paid verdict without activity when activity cannot be read", async () => {
  const ctx = await givenOpen();

  const response = await whenVerified(withUnreadable(ctx, "ACTIVITY#"), ctx.liveKey, ask);

  expect(response).toMatchObject({ statusCode: 200, data: { status: "valid", credits_used: 1 } });
  expect(response.data).not.toHaveProperty("activity");
  expect(ctx.logged.map(({ event }) => event)).toContain("activity_unread");
});

test("a test key's verification returns mock activity", async () => {
  const { world, testKey } = await given();

  const { data } = await whenVerified(world, testKey, ask);

  expect(data.activity).toMatchObject({
    engagement_level: "high",
    last_seen: "2026-11-19T09:30:00.000Z",
  });
});
