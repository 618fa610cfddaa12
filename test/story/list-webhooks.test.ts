import { openAccount } from "@mailproof/core/accounts/accounts";
import { credits } from "@mailproof/core/money/credits";
import { expect, test } from "vitest";
import { given, givenKey } from "../given.ts";
import { send } from "../send.ts";
import { HOOK, whenSubscribed } from "../webhooks.ts";

const ROUTE = "GET /v1/webhooks";

test("the webhooks are 200, oldest first, without their secrets", async () => {
  const ctx = await given();
  const { world, liveKey, later } = ctx;
  const first = await whenSubscribed(ctx, { events: ["job.completed"] });
  later(1_000);
  await whenSubscribed(ctx, { url: "https://b.example.com/" });

  const { statusCode, data, text } = await send(world, ROUTE, { key: liveKey });

  expect(statusCode).toBe(200);
  expect(data.webhooks.map(({ id }: any) => id)).toEqual(["whk_1", "whk_2"]);
  expect(data.webhooks[0]).toEqual({
    id: "whk_1",
    url: HOOK,
    events: ["job.completed"],
    status: "active",
    created_at: "2026-11-21T00:00:00.000Z",
  });
  expect(text).not.toContain(first.data.secret);
  expect(text).not.toContain("whsec_");
});

test("another account's webhooks are never listed, and live and test keys have webhooks of their own", async () => {
  const ctx = await given();
  const { world, liveKey, testKey } = ctx;
  const other = await openAccount(world, { name: "Bo", plan: "free", opening: credits(0) });
  await whenSubscribed(ctx);
  await whenSubscribed(ctx, { key: other.liveKey });
  await whenSubscribed(ctx, { key: testKey });

  const idsFor = async (key: string) =>
    (await send(world, ROUTE, { key })).data.webhooks.map(({ id }: any) => id);

  expect(await idsFor(liveKey)).toEqual(["whk_1"]);
  expect(await idsFor(other.liveKey)).toEqual(["whk_2"]);
  expect(await idsFor(testKey)).toEqual(["whk_3"]);
});

test("no key is 401, a key for something else is 403, an unknown parameter is 400", async () => {
  const { world, account, liveKey } = await given();
  const writer = await givenKey(world, account, { scopes: ["webhooks:write"] });
  const reader = await givenKey(world, account, { scopes: ["webhooks:read"] });

  expect((await send(world, ROUTE)).statusCode).toBe(401);
  expect((await send(world, ROUTE, { key: writer })).statusCode).toBe(403);
  expect((await send(world, ROUTE, { key: reader })).statusCode).toBe(200);
  const query = { page: "2" };
  expect((await send(world, ROUTE, { key: liveKey, query })).statusCode).toBe(400);
});
