import { expect, test } from "vitest";
import { whenQuiet, whenWorked } from "../drain-queues.ts";
import { given } from "../given.ts";
import type { TestContext } from "../jobs.ts";
import { send } from "../send.ts";
import {
  parseEvents,
  readDeliveries,
  whenEventEmitted,
  whenScheduledWorkRuns,
  whenSubscribed,
} from "../webhooks.ts";

const ROUTE = "POST /v1/webhooks/whk_1/replay";

const whenEmitted = async (ctx: TestContext, times: number): Promise<void> => {
  for (let n = 0; n < times; n++) {
    await whenEventEmitted(ctx);
    ctx.later(31_000);
    await whenScheduledWorkRuns(ctx);
  }
};

/** One delivery that arrived, and some that failed for a day while the receiver was down. */
const givenFailed = async (failed: number) => {
  const ctx = await given();
  await whenSubscribed(ctx);
  await whenEmitted(ctx, 1);
  const since = ctx.world.now().toISOString();
  ctx.servers.answer(500);
  await whenEmitted(ctx, failed);
  for (let day = 0; day < 6; day++) await whenQuiet(ctx).catch(() => undefined);
  ctx.servers.answer(200);
  return { ...ctx, since };
};

test("what failed since a time is sent again, and is 202; what arrived is not", async () => {
  const ctx = await givenFailed(3);
  const { world, liveKey: key, servers, since } = ctx;
  const before = servers.received.length;
  const statuses = (await readDeliveries(ctx)).map(({ status }) => status);
  expect(statuses).toEqual(["failed", "failed", "failed", "delivered"]);

  const { statusCode, data } = await send(world, ROUTE, { key, query: { since } });
  await whenWorked(ctx);
  const again = await send(world, ROUTE, { key, query: { since } });

  expect({ statusCode, data }).toEqual({
    statusCode: 202,
    data: { replayed: 3, next_since: null },
  });
  const sent = parseEvents(servers.received.slice(before));
  expect(new Set(sent.map(({ id }) => id))).toEqual(new Set(["evt_2", "evt_3", "evt_4"]));
  expect(sent).toHaveLength(3);
  expect((await readDeliveries(ctx)).map(({ status }) => status)).toEqual(
    Array.from({ length: 4 }, () => "delivered"),
  );
  // What is sent again has not failed.
  expect(again.data).toEqual({ replayed: 0, next_since: null });
});

test("what failed before that time stays as it is, and a time may have any offset", async () => {
  const ctx = await givenFailed(2);
  const { world, liveKey: key } = ctx;
  const [newest] = await readDeliveries(ctx);
  const since = newest.created_at.replace("Z", "+00:00");

  const { data } = await send(world, ROUTE, { key, query: { since } });

  expect(data).toEqual({ replayed: 1, next_since: null });
});

test("at a disabled webhook it is 409", async () => {
  const { world, liveKey: key, since } = await givenFailed(1);
  await send(world, "PUT /v1/webhooks/whk_1", { key, body: { status: "disabled" } });

  expect((await send(world, ROUTE, { key, query: { since } })).statusCode).toBe(409);
});

test("without a time, or with one that is none, it is 400", async () => {
  const ctx = await given();
  const { world, liveKey: key } = ctx;
  await whenSubscribed(ctx);

  expect((await send(world, ROUTE, { key })).statusCode).toBe(400);
  expect((await send(world, ROUTE, { key, query: { since: "yesterday" } })).statusCode).toBe(400);
});
