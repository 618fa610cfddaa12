import { describe, expect, test } from "vitest";
import { send } from "../../send.ts";
import {
  DAY_MS,
  givenHook,
  HOOK,
  HOUR_MS,
  readDeliveries,
  verifyCall,
  whenEventEmitted,
  whenPassed,
  whenScheduledWorkRuns,
} from "../../webhooks.ts";

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
