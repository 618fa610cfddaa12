import { expect, test } from "vitest";
import { whenQuiet, whenWorked } from "../drain-queues.ts";
import { given } from "../given.ts";
import { send, whenVerified } from "../send.ts";
import { parseEvents, readDeliveries, whenSubscribed } from "../webhooks.ts";

const ROUTE = "POST /v1/webhooks/whk_1/deliveries/dlv_1/retry";

/** One event, at a time when the receiver is down, and a day of attempts. */
const givenFailed = async () => {
  const ctx = await given({ balance: 10 });
  const { world, liveKey: key, servers } = ctx;
  await whenSubscribed(ctx);
  servers.answer(500);
  await whenVerified(world, key, { email: "slow@x.com" });
  for (let day = 0; day < 6; day++) await whenQuiet(ctx).catch(() => undefined);
  return ctx;
};

test("a delivery that failed is sent again at once, and is 202", async () => {
  const ctx = await givenFailed();
  const { world, liveKey: key, servers } = ctx;
  const [failed] = await readDeliveries(ctx);
  expect(failed).toMatchObject({ status: "failed", error: "status" });
  servers.answer(200);

  const { statusCode, data } = await send(world, ROUTE, { key });
  await whenWorked(ctx);

  expect([statusCode, data.status]).toEqual([202, "pending"]);
  const [delivered] = await readDeliveries(ctx);
  expect(delivered).toMatchObject({ status: "delivered", attempts: failed.attempts + 1 });
  expect(new Set(parseEvents(servers.received).map(({ id }) => id)).size).toBe(1);
});

test("one that arrived is sent again, too, with the same webhook-id", async () => {
  const ctx = await given({ balance: 10 });
  const { world, liveKey: key, servers } = ctx;
  await whenSubscribed(ctx);
  await whenVerified(world, key, { email: "slow@x.com" });
  await whenQuiet(ctx);

  await send(world, ROUTE, { key });
  await whenWorked(ctx);

  const ids = servers.received.map(({ headers }) => headers["webhook-id"]);
  expect(ids).toEqual(["evt_1", "evt_1"]);
});

test("one that fails again has another day", async () => {
  const ctx = await givenFailed();
  const before = ctx.servers.received.length;

  await send(ctx.world, ROUTE, { key: ctx.liveKey });
  await whenWorked(ctx);

  expect(ctx.servers.received).toHaveLength(before + 1);
  expect(await readDeliveries(ctx)).toMatchObject([{ status: "pending" }]);
});

test("at a disabled webhook it is 409", async () => {
  const ctx = await givenFailed();
  const { world, liveKey: key } = ctx;
  await send(world, "PUT /v1/webhooks/whk_1", { key, body: { status: "disabled" } });

  expect(await send(world, ROUTE, { key })).toMatchObject({
    statusCode: 409,
    error: { message: "The webhook is disabled; enable it first. Nothing was charged." },
  });
});

test("a delivery that is not there, or is another webhook's, is 404", async () => {
  const ctx = await givenFailed();
  const { world, liveKey: key, testKey } = ctx;
  await whenSubscribed(ctx);
  const retryDelivery = async (hook: string, delivery: string, as = key) =>
    (await send(world, `POST /v1/webhooks/${hook}/deliveries/${delivery}/retry`, { key: as }))
      .statusCode;

  expect(await retryDelivery("whk_1", "dlv_9")).toBe(404);
  expect(await retryDelivery("whk_2", "dlv_1")).toBe(404);
  expect(await retryDelivery("whk_9", "dlv_1")).toBe(404);
  expect(await retryDelivery("whk_1", "dlv_1", testKey)).toBe(404);
});
