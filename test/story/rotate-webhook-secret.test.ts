import { keyOf } from "@mailproof/core/writes";
import { expect, test } from "vitest";
import { overTable } from "../breaking.ts";
import { given, givenKey } from "../given.ts";
import { send } from "../send.ts";
import { opened, whenSubscribed } from "../webhooks.ts";

const ROUTE = "POST /v1/webhooks/whk_1/secret";

test("a new secret is 200, shown this once, and the old one signs nothing more", async () => {
  const house = await given();
  const { world, liveKey: key, servers } = house;
  const { data: old } = await whenSubscribed(house);

  const rotated = await send(world, ROUTE, { key });

  const { secret, ...facts } = rotated.data;
  expect(rotated.statusCode).toBe(200);
  expect(secret).toMatch(/^whsec_/);
  expect(secret).not.toBe(old.secret);
  expect(facts).toEqual({ ...old, secret: undefined });
  await send(world, "POST /v1/webhooks/whk_1/test", { key });
  const [heard] = servers.heard;
  expect(heard && opened(secret, heard)).toMatchObject({ type: "webhook.test" });
  expect(() => heard && opened(old.secret, heard)).toThrow("No matching signature");
  expect(JSON.stringify(house.table.items())).not.toContain(secret);
});

test("a webhook that is not there is 404", async () => {
  const { world, liveKey: key } = await given();

  expect((await send(world, ROUTE, { key })).statusCode).toBe(404);
});

test("a secret of which it is not known whether it is in force is 503, and nothing is shown", async () => {
  const house = await given();
  await whenSubscribed(house);
  const world = overTable(house, {
    write: async (write) =>
      keyOf(write).pk.startsWith("WEBHOOKS#") ? { outcome: "ambiguous" } : house.table.write(write),
  });

  const { statusCode, text } = await send(world, ROUTE, { key: house.liveKey });

  expect(statusCode).toBe(503);
  expect(text).not.toContain("whsec_");
});

test("no key is 401, a key that only reads is 403", async () => {
  const { world, account } = await given();
  const reader = await givenKey(world, account, { scopes: ["webhooks:read"] });

  expect((await send(world, ROUTE)).statusCode).toBe(401);
  expect((await send(world, ROUTE, { key: reader })).statusCode).toBe(403);
});
