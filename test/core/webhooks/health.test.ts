import { describe, expect, test } from "vitest";
import { whenQuiet } from "../../drain-queues.ts";
import type { TestContext } from "../../jobs.ts";
import { send } from "../../send.ts";
import {
  givenHook,
  HOUR_MS,
  readDeliveries,
  readWebhook,
  whenEventEmitted,
  whenPassed,
  whenScheduledWorkRuns,
} from "../../webhooks.ts";

describe("a webhook", () => {
  test("whose receiver responds 410 is disabled at once, and its owner sees why", async () => {
    const ctx = await givenHook();
    ctx.servers.answer(410);
    await whenEventEmitted(ctx);
    ctx.later(30_000);
    await whenScheduledWorkRuns(ctx);

    expect(await readWebhook(ctx)).toMatchObject({ status: "disabled", disabled_because: "gone" });
    expect(await readDeliveries(ctx)).toMatchObject([
      {
        event: "webhook.disabled",
        status: "noted",
        attempts: 0,
        error: expect.stringContaining("410"),
      },
      { event: "credits.low", status: "failed", response_status: 410 },
    ]);
    expect(ctx.logged).toContainEqual(expect.objectContaining({ event: "webhook_disabled" }));
    await whenEventEmitted(ctx);
    await whenQuiet(ctx);
    expect(ctx.servers.received).toHaveLength(1);
  });

  /** An event every six hours. */
  const whenDaysElapse = async (ctx: TestContext, days: number): Promise<void> => {
    for (let quarter = 0; quarter < days * 4; quarter++) {
      await whenEventEmitted(ctx);
      await whenPassed(ctx, 6 * HOUR_MS);
    }
  };

  test("whose deliveries all fail is disabled after five days, not before, with an entry in its log", async () => {
    const ctx = await givenHook();
    ctx.servers.answer(500);

    await whenDaysElapse(ctx, 4.75);
    expect(await readWebhook(ctx)).toMatchObject({
      status: "active",
      failing_since: "2026-11-21T00:01:00.000Z",
    });

    await whenDaysElapse(ctx, 1);
    expect(await readWebhook(ctx)).toMatchObject({
      status: "disabled",
      disabled_because: "failing",
    });
    const notes = (await readDeliveries(ctx)).filter(({ status }) => status === "noted");
    expect(notes).toMatchObject([
      { event: "webhook.disabled", error: expect.stringContaining("five days") },
    ]);
    await whenPassed(ctx, HOUR_MS);
    const calls = ctx.servers.received.length;
    await whenDaysElapse(ctx, 1);
    expect(ctx.servers.received).toHaveLength(calls);
    expect(ctx.table.hasScheduledWork()).toBe(false);
  }, 60_000);

  test("with an occasional successful delivery is never disabled", async () => {
    const ctx = await givenHook();
    ctx.servers.answer(500);
    await whenDaysElapse(ctx, 3);
    ctx.servers.answer(200);
    await whenPassed(ctx, 6 * HOUR_MS);
    expect(await readWebhook(ctx)).not.toHaveProperty("failing_since");
    ctx.servers.answer(500);

    await whenDaysElapse(ctx, 4);

    expect(await readWebhook(ctx)).toMatchObject({ status: "active" });
  }, 60_000);

  test("that is enabled again has five days again", async () => {
    const ctx = await givenHook();
    ctx.servers.answer(410);
    await whenEventEmitted(ctx);
    await whenQuiet(ctx);
    const body = { status: "active" };
    await send(ctx.world, "PUT /v1/webhooks/whk_1", { key: ctx.liveKey, body });
    ctx.servers.answer(200);
    await whenEventEmitted(ctx);

    await whenQuiet(ctx);

    expect(await readDeliveries(ctx)).toMatchObject([{ status: "delivered" }, {}, {}]);
  });
});
