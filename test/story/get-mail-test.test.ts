import { expect, test } from "vitest";
import { whenWorked } from "../drain-queues.ts";
import { withUnreadable } from "../faulty-worlds.ts";
import { given, givenKey } from "../given.ts";
import { readTest, TESTS, whenMailArrives, whenTestCreated } from "../mail-tests.ts";
import { send } from "../send.ts";

test("200: a test that waits has no report; one whose mail was assessed has one", async () => {
  const ctx = await given({ balance: 10 });
  const { data: waiting } = await whenTestCreated(ctx.world, ctx.liveKey);
  const { data: received } = await whenTestCreated(ctx.world, ctx.liveKey);
  await whenMailArrives(ctx.world, received.address);
  await whenWorked(ctx);

  const { statusCode, data } = await readTest(ctx.world, ctx.liveKey, waiting.test_id);
  expect([statusCode, data.test_id, data.status]).toEqual([200, waiting.test_id, "waiting"]);
  expect(data).not.toHaveProperty("report");
  expect((await readTest(ctx.world, ctx.liveKey, received.test_id)).data).toHaveProperty("report");
});

test("404: another account's test, and what a test key made, are not there", async () => {
  const { world, liveKey, testKey } = await given({ balance: 10 });
  const { data } = await whenTestCreated(world, testKey);

  expect(await readTest(world, liveKey, data.test_id)).toMatchObject({
    statusCode: 404,
    error: { code: "NOT_FOUND" },
  });
  expect((await readTest(world, liveKey, "mlt_0")).statusCode).toBe(404);
});

test("400, 401, 403 and 500: an unknown parameter, no key, a wrong scope, a test that cannot be read", async () => {
  const ctx = await given({ balance: 10 });
  const { world, account, liveKey: key } = ctx;
  const { data } = await whenTestCreated(world, key);
  const route = `GET ${TESTS}/${data.test_id}`;
  const other = await givenKey(world, account, { scopes: ["account:read"] });

  expect((await send(world, route, { key, query: { x: "1" } })).statusCode).toBe(400);
  expect((await send(world, route)).statusCode).toBe(401);
  expect((await send(world, route, { key: other })).statusCode).toBe(403);
  expect((await send(withUnreadable(ctx, "MAILTEST#"), route, { key })).statusCode).toBe(500);
});

test("429: one request too many", async () => {
  const { world, liveKey } = await given({ plan: "free" });
  for (let n = 0; n < 60; n++) await readTest(world, liveKey, "mlt_0");

  expect((await readTest(world, liveKey, "mlt_0")).statusCode).toBe(429);
});
