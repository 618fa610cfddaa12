import { describe, expect, test } from "vitest";
import { whenQuiet } from "../../app/drain-queues.ts";
import { send } from "../../app/send.ts";
import type { TestContext } from "../../things/jobs.ts";
import {
  DAY_MS,
  givenHook,
  HOOK,
  HOUR_MS,
  readDeliveries,
  readWebhook,
  verifyCall,
  whenEventEmitted,
  whenPassed,
  whenScheduledWorkRuns,
} from "../../things/webhooks.ts";

describe("a delivery that fails", () => {
  test("is tried again with the same id and body, a new timestamp, and a signature that fits", async () => {
    const ctx = await givenHook();
    ctx.servers.answer(500);
    await whenEventEmitted(ctx);
    await whenPassed(ctx, HOUR_MS);
    ctx.servers.answer(200);

    await whenPassed(ctx, 12 * HOUR_MS);

    const { received } = ctx.servers;
    expect(received.length).toBeGreaterThan(3);
    expect(new Set(received.map(({ body }) => body)).size).toBe(1);
    expect(new Set(received.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
    expect(new Set(received.map(({ headers }) => headers["webhook-timestamp"])).size).toBe(
      received.length,
    );
    for (const one of received) expect(verifyCall(ctx.secret, one)).toBeDefined();
    expect(await readDeliveries(ctx)).toMatchObject([
      { status: "delivered", attempts: received.length, next_attempt_at: null, error: null },
    ]);
  });

  test("is abandoned after a day, and nothing is due any more", async () => {
    const ctx = await givenHook();
    ctx.servers.answer(() => "connect_timeout");
    await whenEventEmitted(ctx);

    await whenPassed(ctx, DAY_MS + HOUR_MS);

    expect(await readDeliveries(ctx)).toMatchObject([
      { status: "failed", error: "connect_timeout", response_status: null, next_attempt_at: null },
    ]);
    expect(ctx.table.hasScheduledWork()).toBe(false);
    const [first, last] = [ctx.servers.received.at(0), ctx.servers.received.at(-1)];
    expect(Number(last?.at) - Number(first?.at)).toBeGreaterThanOrEqual(DAY_MS);
  });

  test("is signed with the current secret: a new one applies at once", async () => {
    const ctx = await givenHook();
    ctx.servers.answer(500);
    await whenEventEmitted(ctx);
    ctx.later(30_000);
    await whenScheduledWorkRuns(ctx);
    const rotated = await send(ctx.world, "POST /v1/webhooks/whk_1/secret", {
      key: ctx.liveKey,
    });

    await whenPassed(ctx, HOUR_MS);

    const last = ctx.servers.received.at(-1);
    expect(last && verifyCall(rotated.data.secret, last)).toBeDefined();
    expect(() => last && verifyCall(ctx.secret, last)).toThrow("No matching signature");
  });

  test("goes to the current address", async () => {
    const ctx = await givenHook();
    ctx.servers.answer(500);
    await whenEventEmitted(ctx);
    ctx.later(30_000);
    await whenScheduledWorkRuns(ctx);
    const body = { url: "https://new.example/" };
    await send(ctx.world, "PUT /v1/webhooks/whk_1", { key: ctx.liveKey, body });

    await whenPassed(ctx, HOUR_MS);

    expect(ctx.servers.received.at(0)?.url).toBe(HOOK);
    expect(ctx.servers.received.at(-1)?.url).toBe("https://new.example/");
  });

  test("waits as long as the receiver asked for", async () => {
    const ctx = await givenHook();
    ctx.servers.answer(() => ({ status: 429, retryAfter: "1800" }));
    await whenEventEmitted(ctx);
    ctx.later(30_000);
    await whenScheduledWorkRuns(ctx);

    await whenPassed(ctx, 29 * 60_000);
    expect(ctx.servers.received).toHaveLength(1);

    await whenPassed(ctx, 2 * 60_000);
    expect(ctx.servers.received).toHaveLength(2);
  });

  test("is not sent unsigned when its secret cannot be opened any more", async () => {
    const ctx = await givenHook();
    await whenEventEmitted(ctx);
    ctx.later(30_000);
    const settings = { ...ctx.world.settings, encryptionKey: "another key of the operator" };

    await whenScheduledWorkRuns({ ...ctx, world: { ...ctx.world, settings } });

    expect(ctx.servers.received).toEqual([]);
    expect(await readDeliveries(ctx)).toMatchObject([
      { status: "pending", error: "secret_unreadable", attempts: 1 },
    ]);
    expect(ctx.logged).toContainEqual(expect.objectContaining({ event: "secret_unreadable" }));
  });
});

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
