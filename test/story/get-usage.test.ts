import { grantCredits } from "@mailproof/core/accounts/accounts";
import { credits } from "@mailproof/core/money/credits";
import { expect, test } from "vitest";
import { given, givenKey } from "../given.ts";
import { send } from "../send.ts";

const DAY_MS = 86_400_000;

test("the last thirty days are 200: every day on which credits moved, oldest first, and their sum", async () => {
  const { world, account, liveKey, later } = await given({ balance: 100 });
  later(2 * DAY_MS);
  await grantCredits(world, account, credits(20));
  await grantCredits(world, account, credits(0.5));

  const { statusCode, data } = await send(world, "GET /v1/account/usage", { key: liveKey });

  expect(statusCode).toBe(200);
  expect(data).toEqual({
    from: "2026-10-25",
    to: "2026-11-23",
    totals: { credits_granted: 120.5, credits_used: 0, credits_refunded: 0 },
    days: [
      { date: "2026-11-21", credits_granted: 100, credits_used: 0, credits_refunded: 0 },
      { date: "2026-11-23", credits_granted: 20.5, credits_used: 0, credits_refunded: 0 },
    ],
  });
});

test("only the days asked for are told, both ends included", async () => {
  const { world, account, liveKey, later } = await given({ balance: 1 });
  for (let day = 0; day < 3; day++) {
    later(DAY_MS);
    await grantCredits(world, account, credits(1));
  }
  const query = { from: "2026-11-22", to: "2026-11-23" };

  const { data } = await send(world, "GET /v1/account/usage", { key: liveKey, query });

  expect(data.days.map((day: any) => day.date)).toEqual(["2026-11-22", "2026-11-23"]);
  expect(data.totals.credits_granted).toBe(2);
});

test("a test key has used nothing", async () => {
  const { world, testKey } = await given({ balance: 100 });

  const { data } = await send(world, "GET /v1/account/usage", { key: testKey });

  expect(data.days).toEqual([]);
});

test.each([
  ["no calendar day", { from: "2026-02-30" }, "from: must be a date such as 2026-11-21"],
  ["no date at all", { to: "yesterday" }, "to: must be a date such as 2026-11-21"],
  [
    "a range that ends before it starts",
    { from: "2026-11-02", to: "2026-11-01" },
    "from: must not be after 2026-11-01",
  ],
  [
    "more than 366 days",
    { from: "2025-11-20", to: "2026-11-21" },
    "from: must be within 366 days of 2026-11-21",
  ],
])("%s is 400 and names the field", async (_, query, message) => {
  const { world, liveKey } = await given();

  const refused = await send(world, "GET /v1/account/usage", { key: liveKey, query });

  expect(refused).toMatchObject({ statusCode: 400, error: { code: "INVALID_REQUEST" } });
  expect(refused.error.message).toContain(message);
});

test("no key is 401, a key without account:read is 403", async () => {
  const { world, account } = await given();
  const key = await givenKey(world, account, { scopes: ["webhooks:read"] });

  expect((await send(world, "GET /v1/account/usage")).statusCode).toBe(401);
  expect((await send(world, "GET /v1/account/usage", { key })).statusCode).toBe(403);
});
