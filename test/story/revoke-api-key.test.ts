import { openAccount } from "@mailproof/core/accounts/accounts";
import { credits } from "@mailproof/core/money/credits";
import { expect, test } from "vitest";
import { given, givenKey } from "../given.ts";
import { send } from "../send.ts";

test("a revoked key is 200 and opens nothing from then on", async () => {
  const { world, account, liveKey } = await given();
  const leaked = await givenKey(world, account, { scopes: ["account:read"] });
  expect((await send(world, "GET /v1/account", { key: leaked })).statusCode).toBe(200);

  const revoked = await send(world, "DELETE /v1/api-keys/key_3", { key: liveKey });

  expect(revoked).toMatchObject({ statusCode: 200, data: { key_id: "key_3", revoked: true } });
  expect((await send(world, "GET /v1/account", { key: leaked })).statusCode).toBe(401);
  const { data } = await send(world, "GET /v1/api-keys", { key: liveKey });
  expect(data.api_keys.map((key: any) => key.key_id)).not.toContain("key_3");
});

test("revoking it again is 404", async () => {
  const { world, liveKey } = await given();
  await send(world, "DELETE /v1/api-keys/key_2", { key: liveKey });

  expect(await send(world, "DELETE /v1/api-keys/key_2", { key: liveKey })).toMatchObject({
    statusCode: 404,
    error: { code: "NOT_FOUND" },
  });
});

test("another account's key is 404, as if there were none, and stays in force", async () => {
  const { world, liveKey } = await given();
  const other = await openAccount(world, { name: "Bo", plan: "free", opening: credits(0) });

  const theirs = await send(world, "DELETE /v1/api-keys/key_3", { key: liveKey });
  const foreign = await send(world, "DELETE /v1/api-keys/key_99", { key: liveKey });

  expect(theirs.statusCode).toBe(404);
  expect(theirs.error).toEqual(foreign.error);
  expect((await send(world, "GET /v1/account", { key: other.liveKey })).statusCode).toBe(200);
});

test("a test key does not see a live one, and so cannot revoke it: 404", async () => {
  const { world, testKey } = await given();

  expect((await send(world, "DELETE /v1/api-keys/key_1", { key: testKey })).statusCode).toBe(404);
  expect((await send(world, "DELETE /v1/api-keys/key_2", { key: testKey })).statusCode).toBe(200);
});

test("no key is 401, a scoped key is 403, an unknown parameter is 400", async () => {
  const { world, account, liveKey } = await given();
  const key = await givenKey(world, account, { scopes: ["account:read"] });
  const route = "DELETE /v1/api-keys/key_1";

  expect((await send(world, route)).statusCode).toBe(401);
  expect((await send(world, route, { key })).statusCode).toBe(403);
  expect((await send(world, route, { key: liveKey, query: { force: "1" } })).statusCode).toBe(400);
});
