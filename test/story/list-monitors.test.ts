import { expect, test } from "vitest";
import { given, givenKey } from "../given.ts";
import { send } from "../send.ts";

const ROUTE = "GET /v1/deliverability/monitors";

test("200: the account's own monitors, newest first", async () => {
  const { world, liveKey, testKey, later } = await given({ balance: 10 });
  for (const [key, domain] of [
    [liveKey, "a.com"],
    [liveKey, "b.com"],
    [testKey, "c.com"],
  ] as const) {
    await send(world, "POST /v1/deliverability/monitors", { key, body: { domain } });
    later(1_000);
  }

  const { statusCode, data } = await send(world, ROUTE, { key: liveKey });

  expect(statusCode).toBe(200);
  expect(data.monitors.map(({ domain }: { domain: string }) => domain)).toEqual(["b.com", "a.com"]);
});

test("a query parameter is 400", async () => {
  const { world, liveKey: key } = await given();

  expect((await send(world, ROUTE, { key, query: { limit: "1" } })).statusCode).toBe(400);
});

test("no key is 401, a key without the scope 403, and too many requests 429", async () => {
  const { world, account, liveKey } = await given();
  const writer = await givenKey(world, account, { scopes: ["deliverability:write"] });
  const full = async () =>
    ({ allowed: false, by: "key", limit: 1, remaining: 0, resetAt: 0 }) as const;

  const response = [
    await send(world, ROUTE),
    await send(world, ROUTE, { key: writer }),
    await send({ ...world, rateLimit: full }, ROUTE, { key: liveKey }),
  ];

  expect(response.map(({ statusCode }) => statusCode)).toEqual([401, 403, 429]);
});
