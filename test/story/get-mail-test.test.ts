import { expect, test } from "vitest";
import { whenWorked } from "../drain-queues.ts";
import { withUnreadable } from "../faulty-worlds.ts";
import { given } from "../given.ts";
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

test("a test that cannot be read is 500", async () => {
  const ctx = await given({ balance: 10 });
  const { liveKey: key } = ctx;
  const { data } = await whenTestCreated(ctx.world, key);
  const route = `GET ${TESTS}/${data.test_id}`;

  expect((await send(withUnreadable(ctx, "MAILTEST#"), route, { key })).statusCode).toBe(500);
});
