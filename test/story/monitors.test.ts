import type { AppWorld } from "@mailproof/core/app-world";
import { describe, expect, test } from "vitest";
import { withDnsLookups } from "../app/dns-lookups.ts";
import { whenReconciled, whenWorked } from "../app/drain-queues.ts";
import { createStoppingWorld, runTurn } from "../app/faulty-worlds.ts";
import { given } from "../app/given.ts";
import {
  listMoves,
  listOutboxEvents,
  listStoredItems,
  readCredits,
  thenConsistent,
} from "../app/ledger.ts";
import { send, whenChecked } from "../app/send.ts";
import { whenScheduledWorkRuns } from "../things/webhooks.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const ROUTE = "POST /v1/deliverability/monitors";
const site = { domain: "example.com" };

const whenAdded = (world: AppWorld, key: string, body: unknown = site) =>
  send(world, ROUTE, { key, body });

const getMonitors = async (world: AppWorld, key: string) =>
  (await send(world, "GET /v1/deliverability/monitors", { key })).data.monitors;

test("creating a monitor answers 201, and the monitor runs once a day by default", async () => {
  const { world, liveKey } = await given({ balance: 10 });

  const { statusCode, data } = await whenAdded(world, liveKey);

  expect(statusCode).toBe(201);
  expect(data).toEqual({
    monitor_id: expect.stringMatching(/^mon_/),
    domain: "example.com",
    domain_unicode: "example.com",
    sending_ip: null,
    interval_hours: 24,
    created_at: "2026-11-21T00:00:00.000Z",
    next_check_at: "2026-11-21T00:00:00.000Z",
    last_check: null,
    last_problem: null,
  });
});

test("a monitor runs at once for the first time and pays, stores and caches its check", async () => {
  const ctx = await given({ balance: 10 });
  const { world, liveKey } = ctx;
  await whenAdded(world, liveKey);
  await whenWorked(ctx);

  const [monitor] = await getMonitors(world, liveKey);
  const cached = await whenChecked(world, liveKey);

  expect(listMoves(ctx)).toEqual(["hold 10", "settle 10"]);
  expect(monitor).toMatchObject({
    next_check_at: "2026-11-22T00:00:00.000Z",
    last_check: { score: 100, grade: "A", check_id: cached.data.check_id },
    last_problem: null,
  });
  expect(cached.data).toMatchObject({ cached: true, credits_used: 0 });
});

test("a monitor checks its domain once in each interval", async () => {
  const ctx = await given({ balance: 50 });
  await whenAdded(ctx.world, ctx.liveKey, { ...site, interval_hours: 48 });
  await whenWorked(ctx);
  ctx.later(48 * HOUR_MS - 1);
  await whenScheduledWorkRuns(ctx);
  const early = listMoves(ctx).length;
  ctx.later(1);
  await whenScheduledWorkRuns(ctx);
  await whenScheduledWorkRuns(ctx);

  expect(early).toBe(2);
  expect(listMoves(ctx)).toEqual(["hold 10", "settle 10", "hold 10", "settle 10"]);
});

test("a monitor does not buy a check that a request paid for within the day", async () => {
  const ctx = await given({ balance: 50 });
  await whenChecked(ctx.world, ctx.liveKey);
  await whenAdded(ctx.world, ctx.liveKey);
  await whenWorked(ctx);

  expect(listMoves(ctx)).toEqual(["hold 10", "settle 10"]);
});

test("creating a monitor of the same domain and address answers 200 and changes its interval", async () => {
  const { world, liveKey } = await given({ balance: 10 });
  const first = await whenAdded(world, liveKey);

  const again = await whenAdded(world, liveKey, { ...site, interval_hours: 72 });

  expect(again).toMatchObject({
    statusCode: 200,
    data: { monitor_id: first.data.monitor_id, interval_hours: 72 },
  });
  expect(await getMonitors(world, liveKey)).toHaveLength(1);
});

test("creating a monitor with another sending address adds a monitor", async () => {
  const { world, liveKey } = await given({ balance: 10 });
  await whenAdded(world, liveKey);

  const other = await whenAdded(world, liveKey, { ...site, sending_ip: "192.0.2.9" });

  expect(other.statusCode).toBe(201);
  expect(await getMonitors(world, liveKey)).toHaveLength(2);
});

test.each([
  ["no domain", {}, "domain"],
  ["a URL without a host", { domain: "https:///example.com" }, "domain"],
  ["a private sending_ip", { domain: "example.com", sending_ip: "10.0.0.1" }, "sending_ip"],
  ["an IPv6 sending_ip", { ...site, sending_ip: "2001:db8::1" }, "sending_ip"],
  ["an interval below a day", { ...site, interval_hours: 23 }, "interval_hours"],
  ["an interval above a month", { ...site, interval_hours: 721 }, "interval_hours"],
  ["an interval with half an hour", { ...site, interval_hours: 24.5 }, "interval_hours"],
  ["an interval that is text", { ...site, interval_hours: "24" }, "interval_hours"],
  ["an unknown field", { ...site, every: "day" }, "every"],
])("creating a monitor with %s answers 400 and states the field", async (_, body, field) => {
  const ctx = await given({ balance: 10 });
  const before = listStoredItems(ctx);

  const refused = await whenAdded(ctx.world, ctx.liveKey, body);

  expect(refused).toMatchObject({ statusCode: 400, error: { details: [{ field }] } });
  expect(listStoredItems(ctx)).toEqual(before);
});

test("creating a monitor beyond a hundred answers 409 until one is deleted", async () => {
  const { world, liveKey: key } = await given({ balance: 10 });
  for (let n = 0; n < 100; n++) await whenAdded(world, key, { domain: `x${n}.com` });

  const refused = await whenAdded(world, key);
  const [{ monitor_id: id }] = await getMonitors(world, key);
  await send(world, `DELETE /v1/deliverability/monitors/${id}`, { key });

  expect(refused).toMatchObject({ statusCode: 409, error: { code: "LIMIT_REACHED" } });
  expect((await whenAdded(world, key)).statusCode).toBe(201);
});

test("a monitor without credits reports the problem, charges nothing and retries within the hour", async () => {
  const ctx = await given({ balance: 5 });
  const { world, liveKey } = ctx;
  await whenAdded(world, liveKey);
  await whenWorked(ctx);

  const [monitor] = await getMonitors(world, liveKey);

  expect(monitor).toMatchObject({
    last_check: null,
    last_problem: "insufficient_credits",
    next_check_at: "2026-11-21T01:00:00.000Z",
  });
  expect(listMoves(ctx)).toEqual([]);
});

test.each([
  ["dnsfail.com", "no_verdict"],
  ["error.com", "failed"],
])("a monitor of %s reports its last run as %s and charges nothing", async (domain, problem) => {
  const ctx = await given({ balance: 10 });
  await whenAdded(ctx.world, ctx.liveKey, { domain });
  await whenWorked(ctx);

  const [monitor] = await getMonitors(ctx.world, ctx.liveKey);

  expect(monitor).toMatchObject({ last_problem: problem });
  expect(await readCredits(ctx)).toMatchObject({ available: 10, held: 0 });
});

test("the service completes a monitor's run once after a crash, without another charge", async () => {
  const ctx = await given({ balance: 50 });
  await whenAdded(ctx.world, ctx.liveKey);
  const { world } = createStoppingWorld(ctx, 1);
  void whenWorked({ ...ctx, world });
  await runTurn();
  await runTurn();
  ctx.later(10 * 60_000);
  await whenScheduledWorkRuns(ctx);
  ctx.later(10 * 60_000);
  await whenScheduledWorkRuns(ctx);

  const [monitor] = await getMonitors(ctx.world, ctx.liveKey);

  expect(listMoves(ctx)).toEqual(["hold 10", "settle 10"]);
  expect(monitor.last_check).toMatchObject({ score: 100 });
  await thenConsistent(ctx);
});

test("the service sends a monitor run's lost message again", async () => {
  const ctx = await given({ balance: 50 });
  const deaf = {
    ...ctx.world,
    queue: { ...ctx.queue, sendMany: async () => ["refused" as const] },
  };
  await whenAdded(deaf, ctx.liveKey);
  ctx.later(60_000);
  await whenScheduledWorkRuns(ctx);

  expect(listMoves(ctx)).toEqual(["hold 10", "settle 10"]);
});

const createListing = (isListed: boolean) => ({
  "example.com": {
    MX: ["10 mx.example.com"],
    NS: ["ns1.x.com", "ns2.x.com"],
    TXT: ["v=spf1 -all"],
  },
  "mx.example.com": { A: ["8.8.8.8"] },
  "_dmarc.example.com": { TXT: ["v=DMARC1; p=reject; rua=mailto:d@example.com"] },
  ...(isListed && { "8.8.8.8.bl.test": { A: ["127.0.0.2"] } }),
});

test("a monitor emits an event for a new blocklist entry, and again only after the entry was gone", async () => {
  const ctx = await given({ balance: 100 });
  await whenAdded(ctx.world, ctx.liveKey);
  const response: unknown[][] = [];
  for (const isListed of [false, true, true, false, true]) {
    await whenScheduledWorkRuns({
      ...ctx,
      world: withDnsLookups(ctx.world, createListing(isListed)),
    });
    response.push(listOutboxEvents(ctx).filter((type) => type === "blacklist.detected"));
    ctx.later(DAY_MS);
  }

  expect(response.map((events) => events.length)).toEqual([0, 1, 1, 1, 2]);
});

describe("the list of monitors", () => {
  const ROUTE = "GET /v1/deliverability/monitors";

  test("the list shows the account's own monitors newest first", async () => {
    const { world, liveKey, testKey, later } = await given({ balance: 10 });
    for (const [key, domain] of [
      [liveKey, "a.com"],
      [liveKey, "b.com"],
      [testKey, "c.com"],
    ] as const) {
      await send(world, "POST /v1/deliverability/monitors", { key, body: { domain } });
      later(1_000);
    }

    const { statusCode, data } = await send(world, ROUTE, { key: liveKey });

    expect(statusCode).toBe(200);
    expect(data.monitors.map(({ domain }: { domain: string }) => domain)).toEqual([
      "b.com",
      "a.com",
    ]);
  });
});

describe("the deletion of a monitor", () => {
  const DAY_MS = 86_400_000;

  const givenMonitor = async () => {
    const ctx = await given({ balance: 50 });
    const { world, liveKey: key } = ctx;
    const added = await send(world, "POST /v1/deliverability/monitors", {
      key,
      body: { domain: "example.com" },
    });
    return { ...ctx, id: String(added.data.monitor_id) };
  };

  test("deleting a monitor answers 200 and ends its charges", async () => {
    const ctx = await givenMonitor();
    const { world, liveKey: key, id } = ctx;
    await whenWorked(ctx);

    const removed = await send(world, `DELETE /v1/deliverability/monitors/${id}`, { key });
    ctx.later(2 * DAY_MS);
    await whenReconciled(ctx);
    await whenWorked(ctx);

    expect(removed).toMatchObject({ statusCode: 200, data: { monitor_id: id, deleted: true } });
    expect(listMoves(ctx)).toEqual(["hold 10", "settle 10"]);
  });

  test("a run does not start when its monitor is deleted before its message arrives", async () => {
    const ctx = await givenMonitor();
    const { world, liveKey: key, id } = ctx;
    await send(world, `DELETE /v1/deliverability/monitors/${id}`, { key });
    await whenWorked(ctx);

    expect(listMoves(ctx)).toEqual([]);
  });
});
