import { EventPayload } from "@mailproof/core/webhooks/payloads";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { whenQuiet, whenWorked } from "../../app/drain-queues.ts";
import { given } from "../../app/given.ts";
import { send, whenVerified } from "../../app/send.ts";
import {
  givenHook,
  HOOK,
  parseEvents,
  verifyCall,
  whenEventEmitted,
  whenScheduledWorkRuns,
  whenSubscribed,
} from "../../things/webhooks.ts";

describe("an event", () => {
  test("is sent as soon as its cause is written, signed, with the documented body", async () => {
    const ctx = await givenHook();
    await whenVerified(ctx.world, ctx.liveKey, { email: "slow@x.com" });

    await whenWorked(ctx);

    const [calls] = ctx.servers.received;
    expect(calls).toMatchObject({
      method: "POST",
      url: HOOK,
      headers: {
        "content-type": "application/json",
        "user-agent": "mailproof/0.0.0-test",
        "webhook-id": "evt_1",
      },
    });
    const event = calls && verifyCall(ctx.secret, calls);
    expect(event).toEqual({
      id: "evt_1",
      type: "job.completed",
      created_at: "2026-11-21T00:00:40.000Z",
      data: {
        job_id: "job_1",
        status: "completed",
        progress: { total: 1, processed: 1, valid: 1, invalid: 0, risky: 0, unknown: 0 },
      },
    });
    expect(v.is(EventPayload, event)).toBe(true);
  });

  test("whose message was lost is sent when the reconciler finds it", async () => {
    const ctx = await givenHook();
    await whenEventEmitted(ctx);
    ctx.later(30_000);

    await whenScheduledWorkRuns(ctx);

    expect(parseEvents(ctx.servers.received)).toMatchObject([{ id: "evt_1", type: "credits.low" }]);
  });

  test("goes to the webhooks that subscribed to it, each with a secret of its own, and to no other", async () => {
    const ctx = await givenHook(["credits.low"]);
    const second = await whenSubscribed(ctx, {
      url: "https://b.example/",
      events: ["credits.low"],
    });
    await whenSubscribed(ctx, { url: "https://c.example/", events: ["job.failed"] });
    await whenSubscribed(ctx, { url: "https://d.example/", key: ctx.testKey });
    await whenEventEmitted(ctx);

    await whenQuiet(ctx);

    const { received: calls } = ctx.servers;
    expect(calls.map(({ url }) => url).toSorted()).toEqual(["https://b.example/", HOOK]);
    const ours = calls.find(({ url }) => url === HOOK);
    expect(ours && verifyCall(ctx.secret, ours)).toBeDefined();
    expect(() => ours && verifyCall(second.data.secret, ours)).toThrow("No matching signature");
    expect(new Set(calls.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
  });

  test("of a test key goes to the webhooks of test keys", async () => {
    const ctx = await givenHook();
    await whenSubscribed(ctx, { url: "https://test.example/", key: ctx.testKey });
    await whenVerified(ctx.world, ctx.testKey, { email: "slow@x.com" });

    await whenQuiet(ctx);

    expect(ctx.servers.received.map(({ url }) => url)).toEqual(["https://test.example/"]);
  });

  test("without a subscriber is done without a call", async () => {
    const ctx = await given({ balance: 10 });
    await whenEventEmitted(ctx);

    await whenQuiet(ctx);

    expect(ctx.servers.received).toEqual([]);
    expect(ctx.table.items().filter(({ pk }) => pk.startsWith("DELIVERY#"))).toEqual([]);
  });

  test("for a disabled webhook is not stored for later", async () => {
    const ctx = await givenHook();
    const change = (status: string) =>
      send(ctx.world, "PUT /v1/webhooks/whk_1", { key: ctx.liveKey, body: { status } });
    await change("disabled");
    await whenEventEmitted(ctx);
    await whenQuiet(ctx);

    await change("active");
    await whenQuiet(ctx);

    expect(ctx.servers.received).toEqual([]);
  });
});
