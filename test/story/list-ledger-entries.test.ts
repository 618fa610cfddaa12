import { grantCredits } from "@mailproof/core/accounts/accounts";
import { credits } from "@mailproof/core/money/credits";
import { expect, test } from "vitest";
import { whenQuiet, whenWorked } from "../app/drain-queues.ts";
import { given } from "../app/given.ts";
import { send, whenVerified } from "../app/send.ts";
import { createEmails, givenChunked, whenBatched, whenProcessed } from "../things/jobs.ts";

const ROUTE = "GET /v1/account/ledger";
const DAY_MS = 86_400_000;

type TestContext = Awaited<ReturnType<typeof given>>;
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
