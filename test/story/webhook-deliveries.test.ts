import { getItemKey } from "@mailproof/core/ports/writes";
import { EventPayload, WEBHOOK_EVENT_TYPES } from "@mailproof/core/webhooks/payloads";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { whenQuiet, whenWorked } from "../app/drain-queues.ts";
import { withTable } from "../app/faulty-worlds.ts";
import { given } from "../app/given.ts";
import { send, whenVerified } from "../app/send.ts";
import type { TestContext } from "../things/jobs.ts";
import {
  givenHook,
  HOOK,
  parseEvents,
  readDeliveries,
  verifyCall,
  whenEventEmitted,
  whenScheduledWorkRuns,
  whenSubscribed,
} from "../things/webhooks.ts";

const ROUTE = "GET /v1/webhooks/whk_1/deliveries";

/** Something happened, and was sent. */
const whenDelivered = async (ctx: TestContext, owner = ctx.account): Promise<void> => {
  await whenEventEmitted(ctx, owner);
  ctx.later(31_000);
  await whenScheduledWorkRuns(ctx);
};

test("the delivery log lists deliveries newest first with their outcomes", async () => {
  const ctx = await given();
  await whenSubscribed(ctx);
  await whenDelivered(ctx);
  ctx.servers.answer(503);
  await whenDelivered(ctx);

  const { statusCode, data } = await send(ctx.world, ROUTE, { key: ctx.liveKey });

  expect(statusCode).toBe(200);
  expect(data.deliveries).toEqual([
    {
      id: "dlv_2",
      event_id: "evt_2",
      event: "credits.low",
      status: "pending",
      attempts: 1,
      response_status: 503,
      payload: {
        id: "evt_2",
        type: "credits.low",
        created_at: "2026-11-21T00:00:31.000Z",
        data: { account_id: ctx.account, available: 5, threshold: 10 },
      },
      response_body: null,
      latency_ms: 0,
      error: "status",
      created_at: "2026-11-21T00:01:02.000Z",
      last_attempt_at: "2026-11-21T00:01:02.000Z",
      next_attempt_at: expect.stringMatching(/^2026-11-21T00:01:/),
    },
    {
      id: "dlv_1",
      event_id: "evt_1",
      event: "credits.low",
      status: "delivered",
      attempts: 1,
      response_status: 200,
      payload: expect.objectContaining({ id: "evt_1", type: "credits.low" }),
      response_body: null,
      latency_ms: 0,
      error: null,
      created_at: "2026-11-21T00:00:31.000Z",
      last_attempt_at: "2026-11-21T00:00:31.000Z",
      next_attempt_at: null,
    },
  ]);
});

test("the delivery log contains the payload and the start of the response, without a secret in the response", async () => {
  const ctx = await given();
  const { data } = await whenSubscribed(ctx);
  ctx.servers.answer(({ headers }) => ({
    status: 500,
    body: `${data.secret} ${headers["webhook-signature"]} ${"x".repeat(1_000)}`,
  }));
  await whenDelivered(ctx);

  const [delivery] = await readDeliveries(ctx);

  expect(delivery.payload).toMatchObject({ type: "credits.low", data: { available: 5 } });
  expect(delivery.response_body).toHaveLength(500);
  expect(delivery.response_body).toMatch(/^\[removed\] \[removed\] x+$/);
});

test("the delivery log lists the last hundred deliveries, each at the webhooks of its own mode", async () => {
  const ctx = await given();
  await whenSubscribed(ctx);
  await whenSubscribed(ctx, { key: ctx.testKey });
  for (let n = 0; n < 101; n++) await whenDelivered(ctx);
  await whenDelivered(ctx, `${ctx.account}~test`);

  const shown = await readDeliveries(ctx);

  expect(shown).toHaveLength(100);
  expect(shown[0].event_id).toBe("evt_101");
  expect(shown.at(-1).event_id).toBe("evt_2");
  expect(await readDeliveries(ctx, "whk_2", ctx.testKey)).toMatchObject([{ event_id: "evt_102" }]);
});

describe("the retry of a delivery", () => {
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

  test("retrying a failed delivery answers 202 and sends it at once", async () => {
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

  test("retrying an arrived delivery sends it again with the same webhook-id", async () => {
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

  test("the service attempts a failing retried delivery for another day", async () => {
    const ctx = await givenFailed();
    const before = ctx.servers.received.length;

    await send(ctx.world, ROUTE, { key: ctx.liveKey });
    await whenWorked(ctx);

    expect(ctx.servers.received).toHaveLength(before + 1);
    expect(await readDeliveries(ctx)).toMatchObject([{ status: "pending" }]);
  });

  test("retrying a delivery at a disabled webhook answers 409", async () => {
    const ctx = await givenFailed();
    const { world, liveKey: key } = ctx;
    await send(world, "PUT /v1/webhooks/whk_1", { key, body: { status: "disabled" } });

    expect(await send(world, ROUTE, { key })).toMatchObject({
      statusCode: 409,
      error: { message: "The webhook is disabled; enable it first. Nothing was charged." },
    });
  });

  test("retrying an unknown delivery or another webhook's answers 404", async () => {
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
});

describe("the replay of deliveries", () => {
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

  test("a replay answers 202 and sends the deliveries that failed since a time, and no arrived one", async () => {
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

  test("a replay skips deliveries that failed before its time, which may have any offset", async () => {
    const ctx = await givenFailed(2);
    const { world, liveKey: key } = ctx;
    const [newest] = await readDeliveries(ctx);
    const since = newest.created_at.replace("Z", "+00:00");

    const { data } = await send(world, ROUTE, { key, query: { since } });

    expect(data).toEqual({ replayed: 1, next_since: null });
  });

  test("a replay at a disabled webhook answers 409", async () => {
    const { world, liveKey: key, since } = await givenFailed(1);
    await send(world, "PUT /v1/webhooks/whk_1", { key, body: { status: "disabled" } });

    expect((await send(world, ROUTE, { key, query: { since } })).statusCode).toBe(409);
  });

  test("a replay without a time or with a malformed one answers 400", async () => {
    const ctx = await given();
    const { world, liveKey: key } = ctx;
    await whenSubscribed(ctx);

    expect((await send(world, ROUTE, { key })).statusCode).toBe(400);
    expect((await send(world, ROUTE, { key, query: { since: "yesterday" } })).statusCode).toBe(400);
  });
});

describe("the test event of a webhook", () => {
  const ROUTE = "POST /v1/webhooks/whk_1/test";

  test("a test event is sent at once with a usual signature, and the request answers 200 with its result", async () => {
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
    "a failed test event (%s) answers 200 with its failure and is not sent again",
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

  test("a test event reaches a disabled webhook, which stays disabled", async () => {
    const ctx = await givenHook(["job.completed"]);
    const { world, liveKey: key } = ctx;
    await send(world, "PUT /v1/webhooks/whk_1", { key, body: { status: "disabled" } });

    expect((await send(world, ROUTE, { key })).data.delivered).toBe(true);

    const { data } = await send(world, "GET /v1/webhooks", { key });
    expect(data.webhooks[0].status).toBe("disabled");
  });

  test.each(WEBHOOK_EVENT_TYPES)(
    "a test event of %s contains that event's documented sample, also for a webhook with other events",
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

  test("a test event of an unknown type answers 400", async () => {
    const { world, liveKey: key } = await givenHook();

    expect((await send(world, ROUTE, { key, query: { event: "job.begun" } })).statusCode).toBe(400);
  });
});

describe("the new secret of a webhook", () => {
  const ROUTE = "POST /v1/webhooks/whk_1/secret";

  test("a new secret answers 200, is shown once, and ends signatures with the old secret", async () => {
    const ctx = await given();
    const { world, liveKey: key, servers } = ctx;
    const { data: old } = await whenSubscribed(ctx);

    const rotated = await send(world, ROUTE, { key });

    const { secret, ...fields } = rotated.data;
    expect(rotated.statusCode).toBe(200);
    expect(secret).toMatch(/^whsec_/);
    expect(secret).not.toBe(old.secret);
    expect(fields).toEqual({ ...old, secret: undefined });
    await send(world, "POST /v1/webhooks/whk_1/test", { key });
    const [received] = servers.received;
    expect(received && verifyCall(secret, received)).toMatchObject({ type: "webhook.test" });
    expect(() => received && verifyCall(old.secret, received)).toThrow("No matching signature");
    expect(JSON.stringify(ctx.table.items())).not.toContain(secret);
  });

  test("a new secret answers 503 without the secret when the write has no reply", async () => {
    const ctx = await given();
    await whenSubscribed(ctx);
    const world = withTable(ctx, {
      write: async (write) =>
        getItemKey(write).pk.startsWith("WEBHOOKS#")
          ? { outcome: "ambiguous" }
          : ctx.table.write(write),
    });

    const { statusCode, text } = await send(world, ROUTE, { key: ctx.liveKey });

    expect(statusCode).toBe(503);
    expect(text).not.toContain("whsec_");
  });
});
