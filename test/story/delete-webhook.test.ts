import { openAccount } from "@mailproof/core/accounts/accounts";
import { credits } from "@mailproof/core/money/credits";
import { expect, test } from "vitest";
import { whenQuiet, whenWorked } from "../drain-queues.ts";
import { given, givenKey } from "../given.ts";
import { send, whenVerified } from "../send.ts";
import { whenSubscribed } from "../webhooks.ts";

const ROUTE = "DELETE /v1/webhooks/whk_1";

test("a deleted webhook is 200, gets no more events, and is 404 from then on", async () => {
  const ctx = await given({ balance: 10 });
  const { world, liveKey: key, servers } = ctx;
  await whenSubscribed(ctx);

  expect(await send(world, ROUTE, { key })).toMatchObject({
    statusCode: 200,
    data: { id: "whk_1", deleted: true },
  });
  await whenVerified(world, key, { email: "slow@x.com" });
  await whenQuiet(ctx);

  expect(servers.received).toEqual([]);
  expect((await send(world, ROUTE, { key })).statusCode).toBe(404);
});

test("what still waited to be sent is dropped", async () => {
  const ctx = await given({ balance: 10 });
  const { world, liveKey: key, servers } = ctx;
  await whenSubscribed(ctx);
  servers.answer(() => "unreachable");
  await whenVerified(world, key, { email: "slow@x.com" });
  await whenWorked(ctx);
  expect(servers.received).toHaveLength(1);
  await send(world, ROUTE, { key });

  await whenQuiet(ctx);

  expect(servers.received).toHaveLength(1);
});

test("another account's webhook is 404, as if there were none, and stays", async () => {
  const ctx = await given();
  const { world, liveKey } = ctx;
  const other = await openAccount(world, { name: "Bo", plan: "free", opening: credits(0) });
  await whenSubscribed(ctx);

  const theirs = await send(world, ROUTE, { key: other.liveKey });
  const foreign = await send(world, "DELETE /v1/webhooks/whk_9", { key: liveKey });

  expect(theirs.statusCode).toBe(404);
  expect(theirs.error).toEqual(foreign.error);
  expect((await send(world, ROUTE, { key: liveKey })).statusCode).toBe(200);
});

test("no key is 401, a key that only reads is 403, an unknown parameter is 400", async () => {
  const { world, account, liveKey: key } = await given();
  const reader = await givenKey(world, account, { scopes: ["webhooks:read"] });

  expect((await send(world, ROUTE)).statusCode).toBe(401);
  expect((await send(world, ROUTE, { key: reader })).statusCode).toBe(403);
  expect((await send(world, ROUTE, { key, query: { x: "1" } })).statusCode).toBe(400);
});
