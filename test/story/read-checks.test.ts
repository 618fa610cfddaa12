import type { AppWorld } from "@mailproof/core/app-world";
import { createCheckWrites } from "@mailproof/core/deliverability/items";
import { expect, test } from "vitest";
import { withDnsLookups } from "../app/dns-lookups.ts";
import { given } from "../app/given.ts";
import { send, whenChecked } from "../app/send.ts";

const whenListed = (world: AppWorld, key: string, query: Readonly<Record<string, string>> = {}) =>
  send(world, "GET /v1/deliverability/checks", { key, query });

/** So many checks, a second apart. */
const givenChecks = async (count: number) => {
  const ctx = await given();
  for (let n = 0; n < count; n++) {
    const [check] = createCheckWrites(
      {
        id: `check-${n}`,
        owner: ctx.account,
        domain: `x${n}.com`,
        sendingIp: null,
        score: 90,
        grade: "A",
        confidence: "high",
        checkedAt: new Date(Date.UTC(2026, 10, 20, 0, 0, n)).toISOString(),
        expiresAt: ctx.world.now().getTime() / 1000 + 3_600,
      },
      {} as never,
    );
    if (check) await ctx.table.write(check);
  }
  return ctx;
};

test("the list of checks shows checks newest first, twenty by default, with their number", async () => {
  const { world, liveKey } = await givenChecks(25);

  const { statusCode, data } = await whenListed(world, liveKey);

  expect(statusCode).toBe(200);
  expect(data).toMatchObject({ count: 20, total: 25, truncated: false });
  expect(data.checks).toHaveLength(20);
  expect(data.checks[0]).toEqual({
    check_id: "check-24",
    domain: "x24.com",
    domain_unicode: "x24.com",
    sending_ip: null,
    score: 90,
    grade: "A",
    confidence: "high",
    checked_at: "2026-11-20T00:00:24.000Z",
  });
});

test.each([
  ["1", 1],
  ["100", 100],
  ["101", 100],
  ["9999999", 100],
])("the list of checks with a limit of %s shows %i checks", async (limit, count) => {
  const { world, liveKey } = await givenChecks(105);

  expect((await whenListed(world, liveKey, { limit })).data).toMatchObject({ count, total: 105 });
});

test("a filter finds a domain's check behind a page of other checks", async () => {
  const { world, liveKey } = await givenChecks(250);

  const { data } = await whenListed(world, liveKey, { domain: "x0.com", limit: "1" });

  expect(data).toMatchObject({ count: 1, total: 1 });
});

test("the list of checks shows nothing for a domain without checks, and answers 400 for a malformed domain", async () => {
  const { world, liveKey } = await givenChecks(1);

  expect((await whenListed(world, liveKey, { domain: "y.com" })).data).toMatchObject({
    checks: [],
    total: 0,
  });
  expect(await whenListed(world, liveKey, { domain: "no domain" })).toMatchObject({
    statusCode: 400,
    error: { code: "INVALID_REQUEST", details: [{ field: "domain" }] },
  });
});

test("the list of checks reads at most twenty pages and states when more exist", async () => {
  const fullHistory = await givenChecks(2_000);
  const more = await givenChecks(2_001);

  expect((await whenListed(fullHistory.world, fullHistory.liveKey)).data).toMatchObject({
    total: 2_000,
    truncated: false,
  });
  const { data } = await whenListed(more.world, more.liveKey);
  expect(data).toMatchObject({ total: 2_000, truncated: true });
  expect(data.checks[0].check_id).toBe("check-2000");
});

test("the list of checks omits a cached result and a refunded check", async () => {
  const { world, liveKey } = await given({ balance: 30 });
  await whenChecked(world, liveKey);
  await whenChecked(world, liveKey);
  await whenChecked(world, liveKey, { domain: "error.com" });

  expect((await whenListed(world, liveKey)).data).toMatchObject({ count: 1, total: 1 });
});

const DAY_MS = 86_400_000;

const whenRead = (world: AppWorld, key: string, id: string) =>
  send(world, `GET /v1/deliverability/checks/${id}`, { key });

test("reading a stored check returns the original one without its fields about money", async () => {
  const { world, liveKey } = await given({ balance: 10 });
  const { data: response } = await whenChecked(world, liveKey, { domain: "weak.com" });
  const {
    credits_used: _used,
    credits_remaining: _remaining,
    cached: _cached,
    ...check
  } = response;

  const { statusCode, data } = await whenRead(world, liveKey, response.check_id);

  expect(statusCode).toBe(200);
  expect(data).toEqual({ ...check, credits_used: 0, cached: false });
});

test("the service keeps a check for the plan's days and at least as long as its Idempotency-Key", async () => {
  const free = await given({ balance: 10, plan: "free" });
  const scale = await given({ balance: 10, plan: "scale" });
  const ids = await Promise.all(
    [free, scale].map(async ({ world, liveKey }) => {
      const { data } = await whenChecked(world, liveKey);
      return String(data.check_id);
    }),
  );
  const read = (ctx: typeof free, at: number) => whenRead(ctx.world, ctx.liveKey, ids[at] ?? "");

  free.later(31 * DAY_MS - 1_000);
  scale.later(90 * DAY_MS - 1_000);
  expect([(await read(free, 0)).statusCode, (await read(scale, 1)).statusCode]).toEqual([200, 200]);
  free.later(1_000);
  scale.later(1_000);
  expect([(await read(free, 0)).statusCode, (await read(scale, 1)).statusCode]).toEqual([404, 404]);
});

/** Includes one service by its blocks and one by a host. */
const givenIncludes = async () => {
  const ctx = await given({ balance: 10 });
  const world = withDnsLookups(ctx.world, {
    "example.com": {
      MX: ["10 mx.example.com"],
      TXT: ["v=spf1 include:blocks.test include:host.test -all"],
    },
    "mx.example.com": { A: ["8.8.8.8"] },
    "blocks.test": { TXT: ["v=spf1 ip4:9.9.9.0/28 ip4:9.9.8.0/28 ~all"] },
    "host.test": { TXT: ["v=spf1 a ~all"], A: ["9.9.9.9"] },
    "_dmarc.example.com": { TXT: ["v=DMARC1; p=reject; np=reject; rua=mailto:d@example.com"] },
  });
  const { data } = await whenChecked(world, ctx.liveKey);
  const whenFlattened = (flatten: string) =>
    send(world, `GET /v1/deliverability/checks/${data.check_id}`, {
      key: ctx.liveKey,
      query: { flatten },
    });
  return { data, whenFlattened };
};

test("a check with flatten replaces the given includes and states the cost", async () => {
  const { data, whenFlattened } = await givenIncludes();

  const flattened = await whenFlattened(" BLOCKS.test ");

  expect(flattened).toMatchObject({
    statusCode: 200,
    data: { check_id: data.check_id, credits_used: 0 },
  });
  expect(flattened.data.flattened_spf).toEqual({
    record: {
      name: "example.com",
      type: "TXT",
      value: "v=spf1 ip4:9.9.9.0/28 ip4:9.9.8.0/28 include:host.test -all",
    },
    replaces: [{ name: "example.com", type: "TXT", value: data.authentication.spf.record }],
    includes: [{ include: "blocks.test", address_blocks: 2 }],
    lookups: 2,
    bytes: 59,
  });
  expect(data.authentication.spf.tree).toMatchObject([
    { depth: 0, domain: "example.com", lookups: 3, own_lookups: 0 },
    { depth: 1, term: "include:blocks.test", lookups: 1, address_blocks: 2 },
    { depth: 1, term: "include:host.test", lookups: 2, own_lookups: 1 },
  ]);
});

test.each([
  ["host.test", "stands for more than address blocks"],
  ["other.test", "the SPF record does not include it"],
  ["no domain", "must be domain names with commas between them"],
  [Array(11).fill("blocks.test").join(","), "must have at most 10 names"],
])("a check with flatten=%s answers 400 with the reason", async (flatten, reason) => {
  const { whenFlattened } = await givenIncludes();

  const { statusCode, error } = await whenFlattened(flatten);

  expect(statusCode).toBe(400);
  expect(error.details).toMatchObject([
    { field: "flatten", message: expect.stringContaining(reason) },
  ]);
});
