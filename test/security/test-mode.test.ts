import { endpoints } from "@mailproof/api/endpoints";
import { expect, test } from "vitest";
import { whenReconciled, whenWorked } from "../drain-queues.ts";
import { given } from "../given.ts";
import { createProcessRequest, formatCsv, givenUpload } from "../jobs.ts";
import { listMoves, listStoredItems, readCredits } from "../ledger.ts";
import { send } from "../send.ts";
import { denyAll } from "./port-uses.ts";

// Goal: a test key moves no credits, and its requests reach no other server.
// Method: each route with a price, in a world without a way out, until everything that was begun is at its end.
// The responses to test keys are in test/story/test-keys.test.ts.

type TestContext = Awaited<ReturnType<typeof given>>;

/** A good request for each route that costs something, now or day by day. A new one is red here until it has its own. */
const PAID: Readonly<Record<string, (ctx: TestContext) => Promise<unknown>>> = {
  "POST /v1/verify": async () => ({ email: "ann@example.com", include_activity: true }),
  "POST /v1/verify/batch": async () => ({ emails: ["ann@example.com", "slow@example.com"] }),
  "POST /v1/verify/file": async (ctx) =>
    createProcessRequest(
      await givenUpload(ctx, ctx.testKey, formatCsv(["ann@example.com", "bo@x.com"])),
    ),
  "POST /v1/find": async () => ({ first_name: "Ann", last_name: "Lee", domain: "example.com" }),
  "POST /v1/deliverability/check": async () => ({
    domain: "example.com",
    sending_ip: "192.0.2.1",
    refresh: true,
  }),
  "POST /v1/deliverability/tests": async () => undefined,
  "POST /v1/deliverability/monitors": async () => ({ domain: "example.com" }),
};

test("every route with a price is tried here", () => {
  const paid = endpoints.filter(({ price }) => price !== null).map(({ route }) => route);

  expect(Object.keys(PAID)).toEqual(expect.arrayContaining(paid));
});

test.each(Object.keys(PAID))(
  "%s with a test key moves no credit and asks no other server",
  async (route) => {
    const ctx = await given({ balance: 100 });
    const { world, attempted: tried } = denyAll(ctx.world);
    const before = await readCredits(ctx);
    const body = await PAID[route]?.(ctx);

    const { statusCode, text } = await send(world, route, { key: ctx.testKey, body });
    for (let hour = 0; hour < 26; hour++) {
      await whenWorked({ ...ctx, world });
      ctx.later(3_600_000);
      await whenReconciled({ world });
    }

    expect(statusCode, `${text}`).toBeLessThan(300);
    expect(tried).toEqual([]);
    expect(listMoves(ctx)).toEqual([]);
    expect(await readCredits(ctx)).toEqual(before);
    expect(listStoredItems(ctx).filter(({ pk }) => pk.startsWith("OPERATION#"))).toEqual([]);
  },
);

test("the same with a live key does ask, and does cost: the world without a way out is one", async () => {
  const ctx = await given({ balance: 100 });
  const { world, attempted: tried } = denyAll(ctx.world);

  await send(world, "POST /v1/deliverability/check", {
    key: ctx.liveKey,
    body: { domain: "example.com" },
  });

  expect(tried).toContain("names.dns");
  expect(listMoves(ctx)).not.toEqual([]);
});
