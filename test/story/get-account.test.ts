import { expect, test } from "vitest";
import { given, givenKey } from "../given.ts";
import { send } from "../send.ts";

test("a live key sees the account's plan and credits: 200", async () => {
  const { world, account, liveKey } = await given({ balance: 25.5, plan: "pro" });

  expect(await send(world, "GET /v1/account", { key: liveKey })).toMatchObject({
    statusCode: 200,
    data: {
      account_id: account,
      name: "Ann's Shop",
      created_at: "2026-11-21T00:00:00.000Z",
      plan: {
        id: "pro",
        max_addresses_per_job: 100_000,
        requests_per_minute: 600,
        account_requests_per_minute: 1_800,
        retention_days: 30,
      },
      credits: { available: 25.5, held: 0, used: 0, spent: 0, refunded: 0, granted: 25.5 },
      key: { key_id: "key_1", mode: "live", scopes: null },
    },
  });
});

test("a test key sees made-up credits, whatever the account has", async () => {
  const { world, testKey } = await given({ balance: 3 });

  const { data } = await send(world, "GET /v1/account", { key: testKey });

  expect(data.key.mode).toBe("test");
  expect(data.credits).toMatchObject({ available: 1_000, granted: 1_000 });
});

test("a key that holds account:read is let in and shows its scopes", async () => {
  const { world, account } = await given();
  const key = await givenKey(world, account, { scopes: ["account:read", "webhooks:read"] });

  const { statusCode, data } = await send(world, "GET /v1/account", { key });

  expect(statusCode).toBe(200);
  expect(data.key.scopes).toEqual(["account:read", "webhooks:read"]);
});

test("no key, a made-up one and a mistyped one are 401, in the same words", async () => {
  const { world, liveKey } = await given();
  const swapped = liveKey.slice(0, -2) + liveKey.slice(-1) + liveKey.slice(-2, -1);
  const answers = await Promise.all(
    [undefined, "mp_live_0000000000000000000000000000", swapped, "x".repeat(5_000)].map((key) =>
      send(world, "GET /v1/account", key === undefined ? {} : { key }),
    ),
  );

  expect(answers.map(({ statusCode }) => statusCode)).toEqual([401, 401, 401, 401]);
  expect(new Set(answers.map(({ error }) => JSON.stringify(error))).size).toBe(1);
  expect(answers[0]?.headers).toHaveProperty("www-authenticate");
});

test("more requests than the plan has in a minute are 429 until the next one starts", async () => {
  const { world, liveKey, later } = await given({ plan: "free" });
  const ask = () => send(world, "GET /v1/account", { key: liveKey });
  later(45_000);
  for (let sent = 0; sent < 59; sent++) await ask();
  expect((await ask()).headers).toMatchObject({
    "x-ratelimit-limit": "60",
    "x-ratelimit-remaining": "0",
    "x-ratelimit-reset": String(Date.UTC(2026, 10, 21, 0, 1) / 1000),
  });

  const refused = await ask();

  expect(refused).toMatchObject({
    statusCode: 429,
    headers: { "retry-after": "15", "x-ratelimit-remaining": "0" },
    error: { code: "RATE_LIMITED", retryable: true },
  });
  later(15_000);
  expect((await ask()).statusCode).toBe(200);
});
