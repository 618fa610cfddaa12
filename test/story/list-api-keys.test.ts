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
