import { openAccount } from "@mailproof/core/accounts/accounts";
import { credits } from "@mailproof/core/money/credits";
import { expect, test } from "vitest";
import { given, givenKey } from "../given.ts";
import { send } from "../send.ts";

test("the account's keys are 200, newest first, without the keys themselves", async () => {
  const { world, account, liveKey, testKey, later } = await given();
  later(1_000);
  const scoped = await givenKey(world, account, { scopes: ["webhooks:read"] });

  const { statusCode, data } = await send(world, "GET /v1/api-keys", { key: liveKey });

  expect(statusCode).toBe(200);
  expect(data.api_keys[0]).toEqual({
    key_id: "key_3",
    name: "Scoped",
    mode: "live",
    scopes: ["webhooks:read"],
    hint: `mp_live_…${scoped.slice(-4)}`,
    created_at: "2026-11-21T00:00:01.000Z",
    expires_at: null,
    networks: null,
    last_used_at: null,
  });
  expect(data.api_keys.map((key: any) => key.mode).toSorted()).toEqual(["live", "live", "test"]);
  for (const key of [liveKey, testKey, scoped]) expect(JSON.stringify(data)).not.toContain(key);
});

test("each key shows when it was last used, to the hour", async () => {
  const { world, liveKey, testKey } = await given();
  await send(world, "GET /v1/account", { key: testKey });

  const { data } = await send(world, "GET /v1/api-keys", { key: liveKey });

  const uses = data.api_keys.map((key: any) => [key.mode, key.last_used_at]);
  expect(uses.toSorted()).toEqual([
    ["live", "2026-11-21T00:00:00.000Z"],
    ["test", "2026-11-21T00:00:00.000Z"],
  ]);
});

test("a test key sees test keys only", async () => {
  const { world, testKey } = await given();

  const { data } = await send(world, "GET /v1/api-keys", { key: testKey });

  expect(data.api_keys).toMatchObject([{ mode: "test" }]);
});

test("another account's keys are never listed", async () => {
  const { world, liveKey } = await given();
  await openAccount(world, { name: "Bo", plan: "free", opening: credits(0) });

  const { data } = await send(world, "GET /v1/api-keys", { key: liveKey });

  expect(data.api_keys).toHaveLength(2);
});

test("no key is 401, a key with any scopes is 403, an unknown parameter is 400", async () => {
  const { world, account, liveKey } = await given();
  const key = await givenKey(world, account, { scopes: ["account:read"] });

  expect((await send(world, "GET /v1/api-keys")).statusCode).toBe(401);
  expect(await send(world, "GET /v1/api-keys", { key })).toMatchObject({
    statusCode: 403,
    error: { message: "This operation is reserved for unrestricted keys. Nothing was charged." },
  });
  const query = { page: "2" };
  expect((await send(world, "GET /v1/api-keys", { key: liveKey, query })).statusCode).toBe(400);
});
