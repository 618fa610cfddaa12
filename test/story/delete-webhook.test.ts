import { expect, test } from "vitest";
import { whenQuiet, whenWorked } from "../drain-queues.ts";
import { given } from "../given.ts";
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
