import { EventPayload, WEBHOOK_EVENT_TYPES } from "@mailproof/core/webhooks/payloads";
import * as v from "valibot";
import { expect, test } from "vitest";
import { whenQuiet } from "../drain-queues.ts";
import { send } from "../send.ts";
import { givenHook, HOOK, readDeliveries, verifyCall } from "../webhooks.ts";

const ROUTE = "POST /v1/webhooks/whk_1/test";

test("a test event is sent at once, signed like any other, and its result is 200", async () => {
  const ctx = await givenHook(["job.completed"]);
  const { world, liveKey: key, servers, secret } = ctx;
  servers.answer(204);

  const { statusCode, data } = await send(world, ROUTE, { key });

  expect(statusCode).toBe(200);
  expect(data).toMatchObject({
    delivered: true,
    delivery: { event: "webhook.test", status: "delivered", attempts: 1, response_status: 204 },
  });
  const [received] = servers.received;
  expect(received).toMatchObject({ method: "POST", url: HOOK });
  const event = received && verifyCall(secret, received);
  expect(event).toMatchObject({ type: "webhook.test", data: { webhook_id: "whk_1" } });
  expect(v.is(EventPayload, event)).toBe(true);
  expect(await readDeliveries(ctx)).toEqual([data.delivery]);
});

test.each([
  [500, { status: "failed", response_status: 500, error: "status" }],
  [302, { status: "failed", response_status: 302, error: "status" }],
  ["tls_failed", { status: "failed", response_status: null, error: "tls_failed" }],
] as const)(
  "one that fails (%s) says so, is 200, and is not tried again",
  async (how, delivery) => {
    const ctx = await givenHook(["job.completed"]);
    ctx.servers.answer(() => how);

    const { statusCode, data } = await send(ctx.world, ROUTE, { key: ctx.liveKey });
    await whenQuiet(ctx);

    expect(statusCode).toBe(200);
    expect(data).toMatchObject({ delivered: false, delivery });
    expect(ctx.servers.received).toHaveLength(1);
  },
);

test("a disabled webhook can be tried, too, and stays disabled", async () => {
  const ctx = await givenHook(["job.completed"]);
  const { world, liveKey: key } = ctx;
  await send(world, "PUT /v1/webhooks/whk_1", { key, body: { status: "disabled" } });

  expect((await send(world, ROUTE, { key })).data.delivered).toBe(true);

  const { data } = await send(world, "GET /v1/webhooks", { key });
  expect(data.webhooks[0].status).toBe("disabled");
});

test.each(WEBHOOK_EVENT_TYPES)(
  "a sample of %s is sent, too, as the manual describes that event, whatever the webhook subscribes to",
  async (type) => {
    const ctx = await givenHook(["job.failed"]);
    const { world, liveKey: key, servers, secret } = ctx;

    const { statusCode, data } = await send(world, ROUTE, { key, query: { event: type } });

    expect([statusCode, data.delivery.event, data.delivered]).toEqual([200, type, true]);
    const [received] = servers.received;
    const event = received && verifyCall(secret, received);
    expect(event.type).toBe(type);
    expect(v.safeParse(EventPayload, event).issues).toBe(undefined);
  },
);

test("a sample of an event that does not exist is 400", async () => {
  const { world, liveKey: key } = await givenHook();

  expect((await send(world, ROUTE, { key, query: { event: "job.begun" } })).statusCode).toBe(400);
});
