import { emitEvent } from "@mailproof/core/webhooks/items";
import { expect, test } from "vitest";
import { whenReconciled, whenWorked } from "../drain-queues.ts";
import { given } from "../given.ts";
import type { TestContext } from "../jobs.ts";
import { send } from "../send.ts";
import { readDeliveries, whenSubscribed } from "../webhooks.ts";

const ROUTE = "GET /v1/webhooks/whk_1/deliveries";

/** Something happened, in this world and no other. */
const whenEventEmitted = async (ctx: TestContext, owner = ctx.account): Promise<void> => {
  const data = { account_id: ctx.account, available: 5, threshold: 10 };
  const written = await ctx.table.transact([emitEvent(ctx.world, owner, "credits.low", data)]);
  expect(written.outcome).toBe("committed");
  ctx.later(31_000);
  await whenReconciled(ctx);
  await whenWorked(ctx);
};

test("what became of each delivery is 200, newest first", async () => {
  const ctx = await given();
  await whenSubscribed(ctx);
  await whenEventEmitted(ctx);
  ctx.servers.answer(503);
  await whenEventEmitted(ctx);

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

test("the log has the payload and the beginning of the response, and no secret that a server repeats", async () => {
  const ctx = await given();
  const { data } = await whenSubscribed(ctx);
  ctx.servers.answer(({ headers }) => ({
    status: 500,
    body: `${data.secret} ${headers["webhook-signature"]} ${"x".repeat(1_000)}`,
  }));
  await whenEventEmitted(ctx);

  const [delivery] = await readDeliveries(ctx);

  expect(delivery.payload).toMatchObject({ type: "credits.low", data: { available: 5 } });
  expect(delivery.response_body).toHaveLength(500);
  expect(delivery.response_body).toMatch(/^\[removed\] \[removed\] x+$/);
});

test("the last hundred are shown, and what happened to test keys goes to their webhooks alone", async () => {
  const ctx = await given();
  await whenSubscribed(ctx);
  await whenSubscribed(ctx, { key: ctx.testKey });
  for (let n = 0; n < 101; n++) await whenEventEmitted(ctx);
  await whenEventEmitted(ctx, `${ctx.account}~test`);

  const shown = await readDeliveries(ctx);

  expect(shown).toHaveLength(100);
  expect(shown[0].event_id).toBe("evt_101");
  expect(shown.at(-1).event_id).toBe("evt_2");
  expect(await readDeliveries(ctx, "whk_2", ctx.testKey)).toMatchObject([{ event_id: "evt_102" }]);
});
