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
