import { WEBHOOKS_MAX } from "@mailproof/core/webhooks/items";
import { WEBHOOK_EVENT_TYPES } from "@mailproof/core/webhooks/payloads";
import { describe, expect, test } from "vitest";
import { whenQuiet, whenWorked } from "../app/drain-queues.ts";
import { rejectDown, withTable } from "../app/faulty-worlds.ts";
import { given } from "../app/given.ts";
import { send, whenVerified } from "../app/send.ts";
import { asRows } from "../runner/as-rows.ts";
import {
  createEmails,
  createProcessRequest,
  formatCsv,
  givenUpload,
  type TestContext,
  whenBatched,
  whenFiled,
} from "../things/jobs.ts";
import {
  givenHook,
  HOOK,
  readDeliveries,
  whenScheduledWorkRuns,
  whenSubscribed,
} from "../things/webhooks.ts";

const ROUTE = "POST /v1/webhooks";

test("creating a webhook answers 201 with a secret that is shown once", async () => {
  const ctx = await given();

  const { statusCode, data } = await whenSubscribed(ctx, {
    events: ["job.failed", "job.completed", "job.failed"],
  });

  expect(statusCode).toBe(201);
  expect(data).toEqual({
    id: "whk_1",
    url: HOOK,
    events: ["job.failed", "job.completed"],
    status: "active",
    created_at: "2026-11-21T00:00:00.000Z",
    secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{32}$/),
  });
});

test("the service stores and logs no secret in plain text", async () => {
  const ctx = await given();

  const { data } = await whenSubscribed(ctx);

  const stored = JSON.stringify(ctx.table.items());
  expect(stored).not.toContain(data.secret);
  expect(stored).not.toContain(data.secret.slice("whsec_".length));
  expect(JSON.stringify(ctx.logged)).not.toContain(data.secret);
});

test.each(asRows<[string, unknown, string]>`
  no body | ${undefined} | body: is required
  no url | ${{ events: ["job.failed"] }} | url: is required
  no events | ${{ url: HOOK }} | events: is required
  an empty list | ${{ url: HOOK, events: [] }} | events: must name at least one event
  an unknown event | ${{ url: HOOK, events: ["job.completed", "job.done"] }} | ${`events.1: must be one of ${WEBHOOK_EVENT_TYPES.join(", ")}`}
  the test event | ${{ url: HOOK, events: ["webhook.test"] }} | events.0: must be one of
  a star as event | ${{ url: HOOK, events: ["*"] }} | events.0: must be one of
  an http url | ${{ url: "http://a.example/", events: ["job.failed"] }} | url: must be an https address
  credentials in the url | ${{ url: "https://a:b@c.example/", events: ["job.failed"] }} | without credentials
  no host | ${{ url: "https:///x", events: ["job.failed"] }} | url: must be an https address
  a host without slashes | ${{ url: "https:example.com", events: ["job.failed"] }} | url: must be an https address
  a url with one slash | ${{ url: "https:/a.example/x", events: ["job.failed"] }} | url: must be an https
  a host of one label | ${{ url: "https://intranet/x", events: ["job.failed"] }} | url: must have a host name with a dot, such as example.com.
  a host of one label and a dot | ${{ url: "https://intranet./x", events: ["job.failed"] }} | url: must have a host name with a dot
  no URL | ${{ url: "hooks", events: ["job.failed"] }} | url: must be an https address
  a url over 2,000 characters | ${{ url: `${HOOK}/${"x".repeat(2_000)}`, events: ["job.failed"] }} | url: must have at most 2000 characters
  a read-only field | ${{ url: HOOK, events: ["job.failed"], secret: "x" }} | is not a known field
`)("creating a webhook with %s answers 400", async (_what, body, message) => {
  const { world, liveKey: key, table } = await given();
  const before = table.items().length;

  const { statusCode, error } = await send(world, ROUTE, { key, body });

  expect(statusCode).toBe(400);
  expect(error.message).toContain(message);
  // The request was counted, and it is among those that the account reads.
  expect(table.items()).toHaveLength(before + 2);
});

test.each([
  [
    "private_address",
    "url: must not resolve to a private address, unless OUTBOUND_ALLOW_PRIVATE permits it. Nothing was charged.",
  ],
  ["port_not_allowed", "url: must use port 443. Nothing was charged."],
] as const)(
  "creating a webhook with a forbidden address (%s) answers 400",
  async (fault, message) => {
    const ctx = await given();
    ctx.servers.refuse(() => fault);

    expect(await whenSubscribed(ctx)).toMatchObject({ statusCode: 400, error: { message } });
  },
);

test.each(["name_not_found", "dns_failed"] as const)(
  "creating a webhook answers 201 when its host name cannot be resolved now (%s)",
  async (fault) => {
    const ctx = await given();
    ctx.servers.refuse(() => fault);

    expect((await whenSubscribed(ctx)).statusCode).toBe(201);
  },
);

test("creating a webhook beyond twenty answers 409, also in a race, until one is deleted", async () => {
  const ctx = await given();
  const { world, liveKey: key } = ctx;

  const requests = Array.from({ length: WEBHOOKS_MAX + 5 }, () => whenSubscribed(ctx));
  const codes = (await Promise.all(requests)).map(({ statusCode }) => statusCode);

  expect(codes.filter((code) => code === 201)).toHaveLength(20);
  expect(codes.filter((code) => code === 409)).toHaveLength(5);
  expect(await whenSubscribed(ctx)).toMatchObject({
    error: {
      code: "LIMIT_REACHED",
      message:
        "The account already has 20 webhooks, the maximum. Delete one first. Nothing was charged.",
    },
  });
  await send(world, "DELETE /v1/webhooks/whk_1", { key });
  expect((await whenSubscribed(ctx)).statusCode).toBe(201);
});

test("creating a webhook answers 503 with advice to check the list when the write has no reply", async () => {
  const ctx = await given();
  const transact = async () => ({ outcome: "ambiguous" }) as const;
  const world = withTable(ctx, {
    transact,
    get: (key) => (key.pk.startsWith("WEBHOOKS#") ? rejectDown() : ctx.table.get(key)),
  });

  expect(await whenSubscribed({ ...ctx, world })).toMatchObject({
    statusCode: 503,
    error: { message: expect.stringContaining("Check the list of webhooks. Nothing was charged.") },
  });
});

test("a webhook whose first reply was lost is created once and returned", async () => {
  const ctx = await given();
  let failures = 0;
  const world = withTable(ctx, {
    transact: async (writes) => {
      const result = await ctx.table.transact(writes);
      return failures++ === 0 ? { outcome: "ambiguous" } : result;
    },
  });

  const { statusCode, data } = await whenSubscribed({ ...ctx, world });

  expect([statusCode, data.id]).toEqual([201, "whk_1"]);
  const listed = await send(ctx.world, "GET /v1/webhooks", { key: ctx.liveKey });
  expect(listed.data.webhooks).toHaveLength(1);
});

describe("GET /v1/webhooks", () => {
  const ROUTE = "GET /v1/webhooks";

  test("the list of webhooks answers 200, oldest first, without the webhooks' secrets", async () => {
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
});

describe("PUT /v1/webhooks/{id}", () => {
  const ROUTE = "PUT /v1/webhooks/whk_1";

  const whenChanged = (
    { world, liveKey: key }: Pick<TestContext, "world" | "liveKey">,
    body: unknown,
  ) => send(world, ROUTE, { key, body });

  test.each([
    ["its url", { url: "https://b.example.com/" }],
    ["its events", { events: ["credits.low", "job.failed"] }],
    ["both", { url: "https://b.example.com/", events: ["credits.low"] }],
  ])("changing %s of a webhook answers 200 and keeps the rest", async (_what, body) => {
    const ctx = await givenHook(["job.completed"]);

    const changed = await whenChanged(ctx, body);

    const expected = {
      id: "whk_1",
      url: HOOK,
      events: ["job.completed"],
      status: "active",
      created_at: "2026-11-21T00:00:00.000Z",
      ...body,
    };
    expect([changed.statusCode, changed.data]).toEqual([200, expected]);
    const listed = await send(ctx.world, "GET /v1/webhooks", { key: ctx.liveKey });
    expect(listed.data.webhooks).toEqual([expected]);
  });

  test("a disabled webhook states who disabled it and can be enabled again", async () => {
    const ctx = await givenHook(["job.completed"]);

    expect(await whenChanged(ctx, { status: "disabled" })).toMatchObject({
      statusCode: 200,
      data: { status: "disabled", disabled_because: "asked" },
    });
    const enabled = await whenChanged(ctx, { status: "active" });

    expect(enabled.data.status).toBe("active");
    expect(enabled.data).not.toHaveProperty("disabled_because");
  });

  test.each<[string, unknown, string]>([
    ["nothing to change", {}, "body: must have url, events or status"],
    ["no body", undefined, "body: is required"],
    ["an unknown event", { events: ["x"] }, "events.0: must be one of"],
    ["an empty list of events", { events: [] }, "events: must name at least one event"],
    ["an unknown status", { status: "paused" }, "status: must be one of active, disabled"],
    ["only null values", { url: null, events: null, status: null }, "body: must have url"],
    ["an http url", { url: "http://a.example/" }, "url: must be an https address"],
    ["a secret", { secret: "whsec_x" }, "secret: is not a known field"],
  ])("changing a webhook with %s answers 400", async (_what, body, message) => {
    const ctx = await givenHook(["job.completed"]);

    const { statusCode, error } = await whenChanged(ctx, body);

    expect(statusCode).toBe(400);
    expect(error.message).toContain(message);
  });

  test("changing a webhook to a private address answers 400 and changes nothing", async () => {
    const ctx = await givenHook(["job.completed"]);
    ctx.servers.refuse(() => "private_address");

    const { statusCode } = await whenChanged(ctx, {
      url: "https://10.0.0.1/",
      events: ["job.failed"],
    });

    expect(statusCode).toBe(400);
    const { data } = await send(ctx.world, "GET /v1/webhooks", { key: ctx.liveKey });
    expect(data.webhooks).toMatchObject([{ url: HOOK, events: ["job.completed"] }]);
  });

  test("changing a webhook answers 404 when it is deleted during the change", async () => {
    const ctx = await givenHook(["job.completed"]);
    const { world, liveKey: key, table } = ctx;
    const slow = {
      ...world,
      https: {
        ...world.https,
        check: async () => {
          await send(world, "DELETE /v1/webhooks/whk_1", { key });
          return undefined;
        },
      },
    };

    const { statusCode } = await whenChanged({ ...ctx, world: slow }, { url: HOOK });

    expect(statusCode).toBe(404);
    expect(table.items().filter(({ pk }) => pk.startsWith("WEBHOOKS#"))).toEqual([]);
  });
});

describe("DELETE /v1/webhooks/{id}", () => {
  const ROUTE = "DELETE /v1/webhooks/whk_1";

  test("deleting a webhook answers 200, ends its events, and a second deletion answers 404", async () => {
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

  test("deleting a webhook drops its waiting deliveries", async () => {
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
});

describe("GET /v1/webhooks/events", () => {
  const ROUTE = "GET /v1/webhooks/events";

  test("the list of event names answers 200 with every name", async () => {
    const { world, liveKey: key } = await given();

    expect(await send(world, ROUTE, { key })).toMatchObject({
      statusCode: 200,
      data: {
        events: [
          "job.completed",
          "job.failed",
          "credits.low",
          "credits.depleted",
          "blacklist.detected",
          "dmarc.failed",
          "dmarc.ready",
        ],
      },
    });
  });
});

const listCallbacks = ({ world, liveKey: key }: TestContext, id = "job_1") =>
  send(world, `GET /v1/jobs/${id}/callbacks`, { key });

/** A batch that is not done yet, with a webhook_url. */
const givenBatch = async (body: object = { webhook_url: HOOK }) => {
  const ctx = await given({ balance: 100 });
  await whenBatched(ctx.world, ctx.liveKey, { emails: createEmails(2), ...body });
  return ctx;
};

test("the callback log of a batch's callback lists each attempt with the server's response", async () => {
  const ctx = await givenBatch();
  ctx.servers.answer(503);
  await whenWorked(ctx);
  const failing = await listCallbacks(ctx);
  ctx.servers.answer(200);
  ctx.later(60_000);
  await whenScheduledWorkRuns(ctx);

  const { statusCode, data } = await listCallbacks(ctx);

  expect(failing.data.deliveries).toMatchObject([
    { event: "job.completed", status: "pending", attempts: 1, response_status: 503 },
  ]);
  expect(statusCode).toBe(200);
  expect(data).toMatchObject({
    webhook_url: HOOK,
    deliveries: [
      {
        id: "dlv_1",
        event_id: "evt_1",
        event: "job.completed",
        status: "delivered",
        attempts: 2,
        response_status: 200,
      },
    ],
  });
});

test("the callback log of a file's callback lists its delivery", async () => {
  const ctx = await given({ balance: 100 });
  const fileKey = await givenUpload(ctx, ctx.liveKey, formatCsv(createEmails(2)));
  await whenFiled(ctx.world, ctx.liveKey, createProcessRequest(fileKey, { webhook_url: HOOK }));
  await whenWorked(ctx);

  expect((await listCallbacks(ctx)).data).toMatchObject({
    webhook_url: HOOK,
    deliveries: [{ event: "job.completed", status: "delivered", attempts: 1 }],
  });
});

test("the callback log lists no callback before the job's end or without a webhook_url", async () => {
  const ctx = await givenBatch();
  await whenBatched(ctx.world, ctx.liveKey, { emails: createEmails(2) });

  const running = await listCallbacks(ctx);
  await whenWorked(ctx);
  const without = await listCallbacks(ctx, "job_2");

  expect(running.data).toEqual({ webhook_url: HOOK, deliveries: [] });
  expect(without.data).toEqual({ deliveries: [] });
});

test("a subscribed webhook keeps its own log, which omits the callback", async () => {
  const ctx = await givenBatch();
  await whenSubscribed(ctx);
  await whenWorked(ctx);

  const callbacks = (await listCallbacks(ctx)).data.deliveries;
  const subscribed = await readDeliveries(ctx);

  expect([callbacks.length, subscribed.length]).toEqual([1, 1]);
  expect(callbacks[0].id).not.toBe(subscribed[0].id);
  expect(callbacks[0].event_id).toBe(subscribed[0].event_id);
});
