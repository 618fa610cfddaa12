import { expect, test } from "vitest";
import type { TestContext } from "../jobs.ts";
import { send } from "../send.ts";
import { givenHook, HOOK } from "../webhooks.ts";

const ROUTE = "PUT /v1/webhooks/whk_1";

const whenChanged = (
  { world, liveKey: key }: Pick<TestContext, "world" | "liveKey">,
  body: unknown,
) => send(world, ROUTE, { key, body });

test.each([
  ["its address", { url: "https://b.example.com/" }],
  ["its events", { events: ["credits.low", "job.failed"] }],
  ["both", { url: "https://b.example.com/", events: ["credits.low"] }],
])("%s changed is 200, and the rest stays", async (_what, body) => {
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

test("one that is disabled says by whom, and is enabled again", async () => {
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
  ["no events at all", { events: [] }, "events: must name at least one event"],
  ["another status", { status: "paused" }, "status: must be one of active, disabled"],
  ["nothing but null", { url: null, events: null, status: null }, "body: must have url"],
  ["http", { url: "http://a.example/" }, "url: must be an https address"],
  ["a secret", { secret: "whsec_x" }, "secret: is not a known field"],
])("%s is 400", async (_what, body, message) => {
  const ctx = await givenHook(["job.completed"]);

  const { statusCode, error } = await whenChanged(ctx, body);

  expect(statusCode).toBe(400);
  expect(error.message).toContain(message);
});

test("a private address is 400 and nothing changes", async () => {
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

test("one that is deleted meanwhile is 404, and does not come back", async () => {
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
