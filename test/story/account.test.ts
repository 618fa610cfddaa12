import { grantCredits } from "@mailproof/core/accounts/accounts";
import { credits } from "@mailproof/core/money/credits";
import { STATUSES } from "@mailproof/core/verify/result";
import { expect, test } from "vitest";
import { whenQuiet, whenWorked } from "../app/drain-queues.ts";
import { given, givenWorld } from "../app/given.ts";
import { send, whenFound, whenVerified } from "../app/send.ts";
import { asRows } from "../runner/as-rows.ts";
import { createEmails, givenChunked, whenBatched, whenProcessed } from "../things/jobs.ts";

const DAY_MS = 86_400_000;

const NO_VERDICTS = Object.fromEntries(STATUSES.map((status) => [status, 0]));

const createUsage = (fields: object, verdicts: object = {}) => ({
  credits_granted: 0,
  credits_used: 0,
  credits_refunded: 0,
  by_operation: [],
  ...fields,
  verdicts: { ...NO_VERDICTS, ...verdicts },
  forms: [],
});

type TestContext = Awaited<ReturnType<typeof given>>;

const readUsage = async ({ world, liveKey }: TestContext, key = liveKey) =>
  (await send(world, "GET /v1/account/usage", { key })).data;

test("the usage answers 200 with each of the last thirty days that moved credits, oldest first, and their sum", async () => {
  const { world, account, liveKey, later } = await given({ balance: 100 });
  later(2 * DAY_MS);
  await grantCredits(world, account, credits(20));
  await grantCredits(world, account, credits(0.5));

  const { statusCode, data } = await send(world, "GET /v1/account/usage", { key: liveKey });

  expect(statusCode).toBe(200);
  expect(data).toEqual({
    from: "2026-10-25",
    to: "2026-11-23",
    totals: createUsage({ credits_granted: 120.5 }),
    days: [
      { date: "2026-11-21", ...createUsage({ credits_granted: 100 }) },
      { date: "2026-11-23", ...createUsage({ credits_granted: 20.5 }) },
    ],
  });
});

test("the usage lists only the requested days, including both ends", async () => {
  const { world, account, liveKey, later } = await given({ balance: 1 });
  for (let day = 0; day < 3; day++) {
    later(DAY_MS);
    await grantCredits(world, account, credits(1));
  }
  const query = { from: "2026-11-22", to: "2026-11-23" };

  const { data } = await send(world, "GET /v1/account/usage", { key: liveKey, query });

  expect(data.days.map((day: any) => day.date)).toEqual(["2026-11-22", "2026-11-23"]);
  expect(data.totals.credits_granted).toBe(2);
});

test("the usage counts credits and refunds under the operation that caused them", async () => {
  const ctx = await givenChunked();
  await whenVerified(ctx.world, ctx.liveKey, { email: "ann@x.com" });
  await whenVerified(ctx.world, ctx.liveKey, { email: "ann@x.com" });
  await whenFound(ctx.world, ctx.liveKey, {
    first_name: "Ann",
    last_name: "Lee",
    domain: "example.com",
  });
  await whenProcessed(ctx, [...createEmails(3), "error@x.com"]);
  await whenBatched(ctx.world, ctx.liveKey, { emails: createEmails(2) });
  await whenQuiet(ctx);

  const { totals } = await readUsage(ctx);

  expect(totals).toMatchObject({ credits_used: 12.5, credits_refunded: 1 });
  expect(totals.by_operation).toEqual([
    { operation: "verify", credits_used: 1.5, credits_refunded: 0 },
    { operation: "verify_batch", credits_used: 2, credits_refunded: 0 },
    { operation: "verify_file", credits_used: 4, credits_refunded: 1 },
    { operation: "find", credits_used: 5, credits_refunded: 0 },
  ]);
});

test("the usage counts a check and a monitor's check as two operations", async () => {
  const ctx = await given({ balance: 100 });
  await send(ctx.world, "POST /v1/deliverability/check", {
    key: ctx.liveKey,
    body: { domain: "example.com" },
  });
  await send(ctx.world, "POST /v1/deliverability/monitors", {
    key: ctx.liveKey,
    body: { domain: "example.org" },
  });
  await whenWorked(ctx);

  expect((await readUsage(ctx)).totals.by_operation).toEqual([
    { operation: "deliverability_check", credits_used: 10, credits_refunded: 0 },
    { operation: "monitor", credits_used: 10, credits_refunded: 0 },
  ]);
});

test("the usage counts a cancelled job's refund for the operation that was charged", async () => {
  const ctx = await givenChunked();
  const { data } = await whenBatched(ctx.world, ctx.liveKey, { emails: createEmails(3) });
  await send(ctx.world, `POST /v1/jobs/${data.job_id}/cancel`, { key: ctx.liveKey });

  expect((await readUsage(ctx)).totals.by_operation).toEqual([
    { operation: "verify_batch", credits_used: 3, credits_refunded: 3 },
  ]);
});

test("the usage counts every result once by its status, from the cache, a job or a list", async () => {
  const ctx = await givenChunked();
  await whenVerified(ctx.world, ctx.liveKey, { email: "ann@x.com" }, "key-1");
  await whenVerified(ctx.world, ctx.liveKey, { email: "ann@x.com" }, "key-1");
  await whenVerified(ctx.world, ctx.liveKey, { email: "ann@x.com" });
  await whenVerified(ctx.world, ctx.liveKey, { email: "slow@x.com" });
  await whenVerified(ctx.world, ctx.liveKey, { email: "invalid@x.com" });
  await whenProcessed(ctx, ["ann@x.com", "catchall@x.com", "error@x.com"]);
  await whenQuiet(ctx);

  const { totals } = await readUsage(ctx);

  expect(totals.verdicts).toEqual({
    ...NO_VERDICTS,
    valid: 4,
    invalid: 1,
    catch_all: 1,
    unknown: 1,
  });
});

test("the usage counts no verdict for a verification that fails on our side", async () => {
  const ctx = await given({ balance: 10 });
  const { statusCode } = await whenVerified(ctx.world, ctx.liveKey, { email: "error@x.com" });

  expect(statusCode).toBe(500);
  expect((await readUsage(ctx)).totals.verdicts).toEqual(NO_VERDICTS);
});

test("the usage counts a verdict and its credits on the day that its job was accepted", async () => {
  const ctx = await givenChunked();
  await whenProcessed(ctx, createEmails(2));
  ctx.later(DAY_MS);
  await whenQuiet(ctx);

  const { days } = await readUsage(ctx);

  expect(days).toMatchObject([{ date: "2026-11-21", credits_used: 2, verdicts: { valid: 2 } }]);
});

test("the usage still counts a job's verdicts after the job was deleted", async () => {
  const ctx = await givenChunked();
  const { data } = await whenProcessed(ctx, createEmails(2));
  await whenQuiet(ctx);
  await send(ctx.world, `DELETE /v1/jobs/${data.job_id}`, { key: ctx.liveKey });

  expect((await readUsage(ctx)).totals.verdicts.valid).toBe(2);
});

test("the usage counts the verdicts of test keys separately and without cost", async () => {
  const ctx = await given({ balance: 10 });
  await whenVerified(ctx.world, ctx.testKey, { email: "catchall@x.com" });

  expect((await readUsage(ctx)).totals.verdicts).toEqual(NO_VERDICTS);
  expect(await readUsage(ctx, ctx.testKey)).toMatchObject({
    totals: createUsage({}, { catch_all: 1 }),
    days: [{ date: "2026-11-21", ...createUsage({}, { catch_all: 1 }) }],
  });
});

test.each(asRows`
  a date that no calendar has | ${{ from: "2026-02-30" }} | from: must be a date such as 2026-11-21
  a word instead of a date | ${{ to: "yesterday" }} | to: must be a date such as 2026-11-21
  a range that ends before it starts | ${{ from: "2026-11-02", to: "2026-11-01" }} | from: must not be after 2026-11-01
  more than 366 days | ${{ from: "2025-11-20", to: "2026-11-21" }} | from: must be within 366 days of 2026-11-21
`)("a usage request with %s answers 400 and states the field", async (_, query, message) => {
  const { world, liveKey } = await given();

  const refused = await send(world, "GET /v1/account/usage", { key: liveKey, query });

  expect(refused).toMatchObject({ statusCode: 400, error: { code: "INVALID_REQUEST" } });
  expect(refused.error.message).toContain(message);
});

test("a live key reads the account's plan and credits with 200", async () => {
  const { world, account, liveKey } = await given({ balance: 25.5, plan: "pro" });

  expect(await send(world, "GET /v1/account", { key: liveKey })).toMatchObject({
    statusCode: 200,
    data: {
      account_id: account,
      name: "Ann's Shop",
      created_at: "2026-11-21T00:00:00.000Z",
      plan: {
        id: "pro",
        max_addresses_per_job: 100_000,
        requests_per_minute: 600,
        account_requests_per_minute: 1_800,
        retention_days: 30,
      },
      credits: { available: 25.5, held: 0, used: 0, spent: 0, refunded: 0, granted: 25.5 },
      key: { key_id: "key_1", mode: "live", scopes: null },
    },
  });
});

test("a test key reads mock credits for any balance of the account", async () => {
  const { world, testKey } = await given({ balance: 3 });

  const { data } = await send(world, "GET /v1/account", { key: testKey });

  expect(data.key.mode).toBe("test");
  expect(data.credits).toMatchObject({ available: 1_000, granted: 1_000 });
});

test("requests beyond the plan's limit answer 429 until the next minute starts", async () => {
  const { world, liveKey, later } = await given({ plan: "free" });
  const ask = () => send(world, "GET /v1/account", { key: liveKey });
  later(45_000);
  for (let sent = 0; sent < 59; sent++) await ask();
  expect((await ask()).headers).toMatchObject({
    "x-ratelimit-limit": "60",
    "x-ratelimit-remaining": "0",
    "x-ratelimit-reset": String(Date.UTC(2026, 10, 21, 0, 1) / 1000),
  });

  const refused = await ask();

  expect(refused).toMatchObject({
    statusCode: 429,
    headers: { "retry-after": "15", "x-ratelimit-remaining": "0" },
    error: { code: "RATE_LIMITED", retryable: true },
  });
  later(15_000);
  expect((await ask()).statusCode).toBe(200);
});

test("the catalogue answers 200 with plans, packs and prices without a key", async () => {
  const { world } = givenWorld();

  const { statusCode, data } = await send(world, "GET /v1/catalog");

  expect(statusCode).toBe(200);
  expect(data.plans).toContainEqual({
    id: "free",
    price_cents_per_month: 0,
    max_addresses_per_job: 1_000,
    requests_per_minute: 60,
    account_requests_per_minute: 180,
    retention_days: 7,
  });
  expect(data.credits_per_operation).toMatchObject({
    verify: 1,
    verify_from_cache: 0.5,
    verify_controlled: 0.5,
    find: 5,
    deliverability_check: 10,
    mail_test: 2,
  });
});

test("a larger pack never costs more per credit", async () => {
  const { world } = givenWorld();
  const { data } = await send(world, "GET /v1/catalog");
  const prices = data.credit_packs.map((pack: any) => pack.price_cents / pack.credits);

  expect(prices).toEqual(prices.toSorted((a: number, b: number) => b - a));
});

const ROUTE = "GET /v1/account/ledger";
type Query = Readonly<Record<string, string>>;

const list = ({ world, liveKey }: TestContext, query: Query = {}, key = liveKey) =>
  send(world, ROUTE, { key, query });

const summarize = ({ entries }: { entries: any[] }): string[] =>
  entries.map(({ type, credits: amount, operation }) => `${type} ${amount} ${operation}`);

/** A grant, a verification, and a day later a file of which one address fails on our side. */
const givenLedger = async () => {
  const ctx = await givenChunked();
  ctx.later(1_000);
  await whenVerified(ctx.world, ctx.liveKey, { email: "ann@x.com" });
  ctx.later(DAY_MS);
  await whenProcessed(ctx, [...createEmails(3), "error@x.com"]);
  await whenQuiet(ctx);
  return ctx;
};

const LEDGER = [
  "refund 1 verify_file",
  "settle 4 verify_file",
  "hold 4 verify_file",
  "settle 1 verify",
  "hold 1 verify",
  "grant 100 undefined",
];

test("the ledger lists every entry, newest first, with its operation", async () => {
  const ctx = await givenLedger();

  const { statusCode, data } = await list(ctx);

  expect(statusCode).toBe(200);
  expect(summarize(data)).toEqual(LEDGER);
  expect(data.has_more).toBe(false);
  expect(data.next_offset).toBeUndefined();
});

test("the entry of a refund contains its job, its reason and its change of the balance", async () => {
  const ctx = await givenLedger();

  const [refund, , hold] = (await list(ctx)).data.entries;

  expect(refund).toEqual({
    entry_id: expect.stringMatching(/^job_2\.lost-\d+-\d+\.refund$/),
    type: "refund",
    credits: 1,
    balance_change: 1,
    held_change: 0,
    operation: "verify_file",
    operation_id: "job_2",
    job_id: "job_2",
    reason: "failed",
    began_at: "2026-11-22T00:00:01.000Z",
    created_at: expect.any(String),
  });
  expect(hold).toMatchObject({ balance_change: -4, held_change: 4 });
  expect(hold).not.toHaveProperty("reason");
});

test("the entry of a quick verification contains no job_id, and a check's entry contains its check_id", async () => {
  const ctx = await given({ balance: 20 });
  ctx.later(1_000);
  await whenVerified(ctx.world, ctx.liveKey, { email: "ann@x.com" });
  ctx.later(1_000);
  const { data } = await send(ctx.world, "POST /v1/deliverability/check", {
    key: ctx.liveKey,
    body: { domain: "example.com" },
  });

  const [check, , verification] = (await list(ctx)).data.entries;

  expect(check).toMatchObject({ operation: "deliverability_check", check_id: data.check_id });
  expect(verification).toMatchObject({ operation_id: "job_1", operation: "verify" });
  expect(verification).not.toHaveProperty("job_id");
  expect(verification).not.toHaveProperty("check_id");
});

test.each<[string, (ctx: TestContext) => Promise<unknown>, string]>([
  ["an account's opening", async () => undefined, "opening"],
  ["a grant", ({ world, account }) => grantCredits(world, account, credits(2)), "granted"],
])("the entry of %s contains its reason", async (_case, happens, reason) => {
  const ctx = await given({ balance: 1 });
  ctx.later(1_000);
  await happens(ctx);

  expect((await list(ctx)).data.entries[0]).toMatchObject({ type: "grant", reason });
});

test("the ledger lists the refund of a cancelled job beside its charge", async () => {
  const ctx = await givenChunked();
  ctx.later(1_000);
  const { data } = await whenBatched(ctx.world, ctx.liveKey, { emails: createEmails(3) });
  await send(ctx.world, `POST /v1/jobs/${data.job_id}/cancel`, { key: ctx.liveKey });

  const ofJob = { job_id: data.job_id, operation: "verify_batch", credits: 3 };
  expect((await list(ctx)).data.entries.slice(0, 2)).toMatchObject([
    { type: "charge", ...ofJob },
    { type: "refund", reason: "cancelled", ...ofJob },
  ]);
});

test("all entries add up to the balance and the held credits, also during an operation", async () => {
  const ctx = await givenLedger();
  await whenVerified(ctx.world, ctx.liveKey, { email: "slow@x.com" });

  const { entries } = (await list(ctx)).data;
  const { credits: balance } = (await send(ctx.world, "GET /v1/account", { key: ctx.liveKey }))
    .data;
  const sum = (field: string) => entries.reduce((total: number, one: any) => total + one[field], 0);

  expect(balance.held).toBe(1);
  expect(sum("balance_change")).toBe(balance.available);
  expect(sum("held_change")).toBe(balance.held);
  expect(balance.granted - balance.used + balance.refunded - balance.held).toBe(balance.available);
});

test("the entries of given days add up to the usage of these days", async () => {
  const ctx = await givenLedger();
  await whenWorked(ctx);
  const query = { from: "2026-11-22", to: "2026-11-22" };

  const { entries } = (await list(ctx, query)).data;
  const { totals } = (await send(ctx.world, "GET /v1/account/usage", { key: ctx.liveKey, query }))
    .data;
  const net = entries.reduce((total: number, one: any) => total + one.balance_change, 0);

  expect(net).toBe(totals.credits_granted - totals.credits_used + totals.credits_refunded);
  expect(net).toBe(-3);
});

test.each<[Query, string[]]>([
  [{ from: "2026-11-22" }, LEDGER.slice(0, 3)],
  [{ to: "2026-11-21" }, LEDGER.slice(3)],
  [{ from: "2026-11-21", to: "2026-11-21" }, LEDGER.slice(3)],
  [{ from: "2026-11-23", to: "9999-12-31" }, []],
  [{ from: "2020-01-01", to: "2020-12-31" }, []],
])("the ledger with %j lists only the entries of these days", async (query, expected) => {
  expect(summarize((await list(await givenLedger(), query)).data)).toEqual(expected);
});

test.each([1, 2, 3, 5])("pages of %i in the ledger list every entry once", async (limit) => {
  const ctx = await givenLedger();
  const found: string[] = [];
  let offset: string | undefined;
  do {
    const query = { limit: String(limit), to: "2026-11-22", ...(offset && { offset }) };
    const { data } = await list(ctx, query);
    found.push(...summarize(data));
    offset = data.next_offset;
    expect(data.entries.length).toBeLessThanOrEqual(limit);
    expect(data.has_more).toBe(offset !== undefined);
  } while (offset !== undefined);

  expect(found).toEqual(LEDGER);
});

test("a page of the ledger may end between an entry's settled and released credits", async () => {
  const ctx = await given({ balance: 10 });
  await whenVerified(ctx.world, ctx.liveKey, { email: "slow@x.com" });
  ctx.later(60_000);
  const [hold] = ctx.table.items().filter(({ pk }) => pk.startsWith("LEDGER#"));
  await ctx.table.write({
    create: {
      ...hold,
      pk: hold?.pk ?? "",
      sk: "2026-11-21T00:01:00.000Z#job_9~end",
      operation: "job_9",
      step: "end",
      moved: { settle: 2, release: 4 },
    },
  });

  const { data: first } = await list(ctx, { limit: "1" });
  const { data: second } = await list(ctx, { limit: "1", offset: first.next_offset });

  expect([...first.entries, ...second.entries].map(({ entry_id }) => entry_id)).toEqual([
    "job_9.end.settle",
    "job_9.end.release",
  ]);
});

test.each<[Query, string]>([
  [{ from: "2026-02-30" }, "from: must be a date such as 2026-11-21"],
  [{ from: "2026-11-02", to: "2026-11-01" }, "from: must not be after 2026-11-01"],
])("the ledger with %j answers 400 and states the field", async (query, words) => {
  const ctx = await given();

  const { statusCode, error } = await list(ctx, query);

  expect(statusCode).toBe(400);
  expect(error.message).toContain(words);
});

test("the ledger answers 400 for a cursor of other days", async () => {
  const ctx = await givenLedger();
  const { data } = await list(ctx, { limit: "1" });

  const { statusCode } = await list(ctx, { offset: data.next_offset, to: "2026-11-22" });

  expect(statusCode).toBe(400);
});
