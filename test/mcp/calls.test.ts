import type { AppWorld } from "@mailproof/core/app-world";
import { tools } from "@mailproof/mcp/tools";
import { describe, expect, test } from "vitest";
import { whenWorked } from "../app/drain-queues.ts";
import { given, givenKey } from "../app/given.ts";
import { readCredits } from "../app/ledger.ts";
import { send } from "../app/send.ts";
import { createRows, givenJobOf, verifyEmail } from "../things/export-jobs.ts";
import { createEmails } from "../things/jobs.ts";
import { connectClient, createBearer, type Era, givenTools, serveMcp } from "./client.ts";

describe.each<Era>(["2025-11-25", "2026-07-28"])("a client of protocol %s", (era) => {
  test("a tool returns its route's response as data and as text", async () => {
    const { call, client, world, liveKey } = await givenTools({ balance: 5 }, era);

    const response = await call("get_account");

    expect(client.getNegotiatedProtocolVersion()).toBe(era);
    expect(response.data).toEqual((await send(world, "GET /v1/account", { key: liveKey })).data);
    expect(JSON.parse(response.text)).toEqual(response.data);
  });

  test("a call of an unknown tool returns a protocol error", async () => {
    const { call } = await givenTools({}, era);

    await expect(call("send_mail")).rejects.toThrow('Unknown tool "send_mail".');
  });
});

test("a tool call and an HTTP request share their Idempotency-Keys", async () => {
  const { call, world, liveKey } = await givenTools({ balance: 5 });
  const body = { email: "ann@example.com" };
  await send(world, "POST /v1/verify", { key: liveKey, body, headers: { "idempotency-key": "k" } });

  expect((await call("verify_email", { ...body, idempotency_key: "k" })).data).toMatchObject({
    credits_used: 0,
    idempotent_replay: true,
  });
});

test("a tool call ignores the Idempotency-Key header of its envelope", async () => {
  const { world, liveKey } = await given({ balance: 5 });
  const headers = { ...createBearer(liveKey), "idempotency-key": "for all" };
  const { call } = await connectClient(`${await serveMcp(world)}/mcp`, { headers });

  expect((await call("verify_email", { email: "ann@x.com" })).data.credits_used).toBe(1);
  expect((await call("verify_email", { email: "ben@x.com" })).data.credits_used).toBe(1);
});

test("a failed tool call reports what happened to the credits", async () => {
  const { call } = await givenTools({ balance: 0.5 });
  const response = await call("verify_email", { email: "ann@example.com" });

  expect(response).toMatchObject({
    isError: true,
    data: { error: { code: "INSUFFICIENT_CREDITS" }, request_id: expect.stringMatching(/^req_/) },
  });
  expect(response.text).toMatch(/^INSUFFICIENT_CREDITS: .* Nothing was charged\.$/m);
});

test.each<[string, unknown, string]>([
  ["with a blank", "a b", "INVALID_IDEMPOTENCY_KEY"],
  ["that is empty", "", "INVALID_IDEMPOTENCY_KEY"],
  ["that is null", null, "INVALID_IDEMPOTENCY_KEY"],
  ["that is a number", 7, "INVALID_IDEMPOTENCY_KEY"],
  ["that is an object", {}, "INVALID_IDEMPOTENCY_KEY"],
])("a tool call refuses an idempotency key %s before any charge", async (_what, key, code) => {
  const ctx = await givenTools({ balance: 5 });

  const response = await ctx.call("verify_email", { email: "ann@x.com", idempotency_key: key });

  expect(response.data.error.code).toBe(code);
  expect((await readCredits(ctx)).available).toBe(5);
});

test("a tool call states the missing scope when the key lacks the scope", async () => {
  const { world, account } = await given();
  const key = await givenKey(world, account, { scopes: ["account:read"] });
  const { call, client } = await connectClient(`${await serveMcp(world)}/mcp`, {
    headers: createBearer(key),
  });

  expect((await client.listTools()).tools.length).toBeGreaterThan(5);
  expect((await call("get_account")).isError).toBe(false);
  expect(await call("verify_email", { email: "ann@x.com" })).toMatchObject({
    isError: true,
    text: expect.stringContaining(
      "does not hold the scope verification:write. Nothing was charged",
    ),
    data: { error: { details: { required_scope: "verification:write" } } },
  });
});

test("each tool call counts towards the key's rate limit, and listing the tools does not", async () => {
  const { call, client } = await givenTools({ plan: "free" });
  for (let nth = 0; nth < 60; nth++) await call("get_account");

  expect(await call("get_account")).toMatchObject({
    isError: true,
    text: expect.stringContaining("Retry after 60 s."),
    data: { error: { code: "RATE_LIMITED", retryable: true } },
  });
  expect((await client.listTools()).tools).not.toEqual([]);
});

test("a tool call that meets a bug returns an error without the bug's message", async () => {
  const { world, liveKey, logged } = await given();
  const faulty: AppWorld = {
    ...world,
    table: { ...world.table, query: () => Promise.reject(new Error("the disk is on fire")) },
  };
  const { call } = await connectClient(`${await serveMcp(faulty)}/mcp`, {
    headers: createBearer(liveKey),
  });

  const response = await call("list_jobs");

  expect(response.data.error.code).toBe("INTERNAL");
  expect(response.text).not.toContain("fire");
  expect(JSON.stringify(logged.map(({ fields }) => String(fields["cause"])))).toContain("fire");
});

test("an agent follows a batch to its end and reads every row once, page by page", async () => {
  const ctx = await givenTools({ balance: 200 });
  const { data: job } = await ctx.call("verify_batch", {
    emails: createEmails(130),
    idempotency_key: "march",
  });
  await whenWorked(ctx);

  const progress = await ctx.call("get_job", { id: job.job_id, include_results: false });
  expect(progress.data).toMatchObject({ status: "completed", progress: { processed: 130 } });
  expect(progress.data).not.toHaveProperty("results");

  const pages: string[][] = [];
  for (let next_key: string | undefined, isFirst = true; isFirst || next_key; isFirst = false) {
    const { data } = await ctx.call("get_job", { id: job.job_id, ...(next_key && { next_key }) });
    pages.push(data.results.map(({ email }: { email: string }) => email));
    next_key = data.next_key;
  }
  expect(pages.map(({ length }) => length)).toEqual([20, 20, 20, 20, 20, 20, 10]);
  expect(pages.flat()).toEqual(createEmails(130));
});

test.each<[unknown, number]>([
  [5, 5],
  ["5", 5],
  [50, 50],
  [51, 50],
  [1_000, 50],
])("a tool call with the limit %j returns %d rows", async (limit, rows) => {
  const ctx = await givenTools();
  const result = await verifyEmail(ctx.world, "ann@x.com");
  const id = await givenJobOf(ctx, [createRows(result, 100)]);

  expect((await ctx.call("get_job", { id, limit })).data.results).toHaveLength(rows);
});

test("a tool call for a list without a cursor returns as many entries as its route", async () => {
  const ctx = await given({ plan: "pro" });
  const { call } = await connectClient(`${await serveMcp(ctx.world)}/mcp`, {
    headers: createBearer(ctx.testKey),
  });
  const domains = Array.from({ length: 60 }, (_, number) => `shop${number}.example.com`);
  await Promise.all(domains.map((domain) => call("check_domain", { domain })));
  const found = async (limit?: number) =>
    (await call("list_checks", { ...(limit && { limit }) })).data.checks.length;

  expect([await found(), await found(55), await found(1_000)]).toEqual([20, 55, 60]);
});

test.each<unknown>([0, -1, 1.5, "many", [5], { toString: "null" }, { valueOf: 5 }])(
  "a tool call refuses the limit %j",
  async (limit) => {
    const { call } = await givenTools();

    expect((await call("list_jobs", { limit })).data.error.code).toBe("INVALID_REQUEST");
  },
);

test("a tool call treats null as an absent value in a path and in a body", async () => {
  const { call } = await givenTools({ balance: 5 });

  const listed = await call("list_jobs", { limit: null, status: null, offset: null });
  const verified = await call("verify_email", { email: "ann@x.com", options: null });
  const notFound = await call("get_job", { id: null });

  expect(listed.data).toMatchObject({ jobs: [], total: 0 });
  expect(verified.data).toMatchObject({ status: "valid" });
  expect(notFound.data.error.message).toMatch(/^id: is required/);
});

test("a tool call returns the longest page whole", async () => {
  const ctx = await givenTools();
  const result = await verifyEmail(ctx.world, "ann@x.com");
  const long = { ...result, email: `${"a".repeat(64)}@${"b".repeat(180)}.com` };
  const rows = createRows(long, 50).map((row) => ({ ...row, result: long }));
  const id = await givenJobOf(ctx, [rows]);

  const { data, text } = await ctx.call("get_job", { id, limit: 50 });

  expect(data).not.toHaveProperty("shortened");
  expect(data.results).toHaveLength(50);
  expect(text.length).toBeLessThan(100_000);
});

test("a tool call shortens a result that would fill a conversation and states that", async () => {
  const ctx = await givenTools();
  const result = await verifyEmail(ctx.world, "ann@x.com");
  const id = await givenJobOf(ctx, [createRows({ ...result, reason: "x".repeat(30_000) }, 5)]);

  const { data, text } = await ctx.call("get_job", { id });

  expect(data.shortened).toBe(true);
  expect(data.results[0].reason).toBe(`${"x".repeat(1_000)}…`);
  expect(text).toMatch(/^Shortened: .* GET \/v1\/jobs\/\{id\} returns all of it\.\n/);
  expect(text.length).toBeLessThan(20_000);
});

test("a tool call for an export returns a link to the whole file", async () => {
  const ctx = await givenTools();
  const result = await verifyEmail(ctx.world, "ann@x.com");
  const id = await givenJobOf(ctx, [createRows(result, 3)]);

  const { data } = await ctx.call("download_job", { id });

  const [, key = ""] = /^memory:get\/(.*)\?/.exec(data.download_url) ?? [];
  const object = await ctx.blobs.get(key);
  const text = Buffer.concat(await Array.fromAsync(object?.content ?? [])).toString();
  expect(text.split("\n").filter((line) => line.includes("@x.com"))).toHaveLength(3);
});

test.each(["csv", "json"])(
  "a tool waits for a large export of a worker and returns its link: %s",
  async (format) => {
    const ctx = await givenLargeExport();
    const { call, slept } = await connectSleeper(ctx, () => whenWorked(ctx));

    const { data } = await call("download_job", { id: "job_1", format });

    expect(data.download_url).toContain(`.${format}?`);
    expect(slept).toEqual([500]);
  },
);

test("a tool reports after twenty seconds of waiting that the export is being written", async () => {
  const ctx = await givenLargeExport();
  const { call, slept } = await connectSleeper(ctx, async () => {});

  const { text, isError } = await call("download_job", { id: "job_1", format: "json" });

  expect(isError).toBe(true);
  expect(text).toContain("is being made");
  expect(slept).toHaveLength(40);
});

const givenLargeExport = async () => {
  const ctx = await given();
  const result = await verifyEmail(ctx.world, "ann@x.com");
  await givenJobOf(ctx, [createRows(result, 5_100)]);
  const exportRows = { inRequest: 5_000, part: 5_000 };
  return { ...ctx, world: { ...ctx.world, settings: { ...ctx.world.settings, exportRows } } };
};

/** Something happens while the tool sleeps. */
const connectSleeper = async (
  { world, liveKey, later }: Awaited<ReturnType<typeof givenLargeExport>>,
  meanwhile: () => Promise<void>,
) => {
  const slept: number[] = [];
  const sleep = async (ms: number) => {
    if (ms === 0) return;
    slept.push(ms);
    later(ms);
    await meanwhile();
  };
  const url = `${await serveMcp({ ...world, sleep })}/mcp`;
  return { ...(await connectClient(url, { headers: createBearer(liveKey) })), slept };
};

test("a tool call reports the failure and no charge when an export's link cannot be created", async () => {
  const ctx = await given();
  const result = await verifyEmail(ctx.world, "ann@x.com");
  const id = await givenJobOf(ctx, [createRows(result, 3)]);
  const world = {
    ...ctx.world,
    blobs: { ...ctx.world.blobs, put: () => Promise.reject(new Error("full")) },
  };
  const { call } = await connectClient(`${await serveMcp(world)}/mcp`, {
    headers: createBearer(ctx.liveKey),
  });

  expect(await call("download_job", { id })).toMatchObject({
    isError: true,
    text: expect.stringContaining("Nothing was charged."),
  });
});

test("a tool call encodes an id with any letters as one path segment", async () => {
  const { call } = await givenTools();

  for (const id of ["../account", "a/b", "%2e%2e", "\u{0}", "half a \uD83D", 7])
    expect((await call("get_job", { id })).data.error.code).toBe("NOT_FOUND");
});

test.each(
  tools
    .filter(({ input }) => input.path.length > 0)
    .map(({ listed, input }) => [listed.name, input.path] as const),
)("the tool %s refuses an empty id", async (name, path) => {
  const { call } = await givenTools();

  const response = await call(name, Object.fromEntries(path.map((field) => [field, ""])));

  expect(response.text).toContain("is required. Nothing was charged.");
});
