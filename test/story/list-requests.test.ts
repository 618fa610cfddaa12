import { createRequestLog } from "@mailproof/core/requests/request-log";
import { expect, test } from "vitest";
import { rejectDown } from "../app/faulty-worlds.ts";
import { given } from "../app/given.ts";
import { send, whenVerified } from "../app/send.ts";

const ROUTE = "GET /v1/requests";

type TestContext = Awaited<ReturnType<typeof given>>;
type Query = Readonly<Record<string, string>>;

const list = ({ world, liveKey }: TestContext, query: Query = {}, key = liveKey) =>
  send(world, ROUTE, { key, query });

/** A paid request, one that is refused, a read, and one with an unknown job. */
const givenRequests = async () => {
  const ctx = await given({ balance: 10 });
  await whenVerified(ctx.world, ctx.liveKey, { email: "ann@x.com" });
  ctx.later(1_000);
  await whenVerified(ctx.world, ctx.liveKey, { email: 5 });
  ctx.later(1_000);
  await send(ctx.world, "GET /v1/account", { key: ctx.liveKey });
  ctx.later(1_000);
  await send(ctx.world, "GET /v1/jobs/job_none", { key: ctx.liveKey });
  return ctx;
};

const summarize = ({ requests }: { requests: any[] }) =>
  requests.map(({ method, route, status }) => `${method} ${route} ${status}`);

test("the request log lists the account's requests newest first and omits successful reads", async () => {
  const ctx = await givenRequests();

  const { statusCode, data } = await list(ctx);

  expect(statusCode).toBe(200);
  expect(summarize(data)).toEqual([
    "GET /v1/jobs/{id} 404",
    "POST /v1/verify 400",
    "POST /v1/verify 200",
  ]);
  expect(data.requests[1]).toEqual({
    request_id: expect.any(String),
    at: "2026-11-21T00:00:01.000Z",
    method: "POST",
    route: "/v1/verify",
    status: 400,
    duration_ms: 0,
    key_id: "key_1",
    error_code: "INVALID_REQUEST",
  });
  expect(data.requests[2]).toMatchObject({ error_code: null });
  expect(data.has_more).toBe(false);
  expect(data.next_offset).toBeUndefined();
});

test("the request log finds a request by the id of its response", async () => {
  const ctx = await given();
  const { request_id: id } = await whenVerified(ctx.world, ctx.liveKey, { email: "ann@x.com" });

  await whenVerified(ctx.world, ctx.liveKey, { email: "bo@x.com" });

  const { data } = await list(ctx, { q: id });

  expect(data.requests).toMatchObject([
    { request_id: id, status: 402, error_code: "INSUFFICIENT_CREDITS" },
  ]);
});

test.each<[Query, string[]]>([
  [{ status: "2xx" }, ["POST /v1/verify 200"]],
  [{ status: "4xx" }, ["GET /v1/jobs/{id} 404", "POST /v1/verify 400"]],
  [{ status: "5xx" }, []],
  [{ route: "POST /v1/verify" }, ["POST /v1/verify 400", "POST /v1/verify 200"]],
  [{ route: "POST /v1/verify", status: "2xx" }, ["POST /v1/verify 200"]],
  [{ route: "POST /v1/nothing" }, []],
  [{ q: "/v1/JOBS" }, ["GET /v1/jobs/{id} 404"]],
  [{ q: "post /v1/v" }, ["POST /v1/verify 400", "POST /v1/verify 200"]],
  [{ q: "invalid_req" }, ["POST /v1/verify 400"]],
  [{ q: "verify", status: "2xx" }, ["POST /v1/verify 200"]],
  [{ q: "ann@x.com" }, []],
  [{ key_id: "key_2" }, []],
  [{ key_id: "key_1", q: "jobs" }, ["GET /v1/jobs/{id} 404"]],
])("the request log with %j lists only the matching requests", async (query, expected) => {
  expect(summarize((await list(await givenRequests(), query)).data)).toEqual(expected);
});

test.each([1, 2, 3])("pages of %i in the request log list every request once", async (limit) => {
  const ctx = await givenRequests();
  const found: string[] = [];
  let offset: string | undefined;
  do {
    const query = { limit: String(limit), ...(offset !== undefined && { offset }) };
    const { data } = await list(ctx, query);
    found.push(...summarize(data));
    offset = data.next_offset;
    expect(data.has_more).toBe(offset !== undefined);
  } while (offset !== undefined);

  expect(found).toEqual(["GET /v1/jobs/{id} 404", "POST /v1/verify 400", "POST /v1/verify 200"]);
});

test("the request log stores no address, path or body of a request", async () => {
  const ctx = await given({ balance: 10 });
  await whenVerified(ctx.world, ctx.liveKey, { email: "ann.private@x.com" });
  await send(ctx.world, "GET /v1/activity/ann.private@x.com%00", { key: ctx.liveKey });

  const stored = ctx.table.items().filter(({ pk }) => pk.startsWith("REQUESTS#"));

  expect(stored.length).toBeGreaterThan(0);
  expect(JSON.stringify(stored)).not.toContain("private");
});

test("the request log omits a request after seven days", async () => {
  const ctx = await givenRequests();

  ctx.later(7 * 86_400_000);

  expect((await list(ctx)).data.requests).toEqual([]);
});

test("the service answers a request when its log entry cannot be written", async () => {
  const ctx = await given({ balance: 10 });
  const down = createRequestLog({ ...ctx.table, write: rejectDown }, ctx.world.now);

  const response = await whenVerified({ ...ctx.world, requestLog: down }, ctx.liveKey, {
    email: "ann@x.com",
  });

  expect(response.statusCode).toBe(200);
});

test.each<[Query, string]>([[{ status: "400" }, "status: must be one of 2xx, 3xx, 4xx, 5xx"]])(
  "the request log with %j answers 400 and states the field",
  async (query, words) => {
    const ctx = await given();

    const { statusCode, error } = await list(ctx, query);

    expect(statusCode).toBe(400);
    expect(error.message).toContain(words);
  },
);

test.each<[Query]>([[{ status: "4xx" }], [{ q: "verify" }], [{ key_id: "key_1" }]])(
  "the request log answers 400 for a cursor of another filter than %j",
  async (filter) => {
    const ctx = await givenRequests();
    const { data } = await list(ctx, { limit: "1" });

    const { statusCode } = await list(ctx, { offset: data.next_offset, ...filter });

    expect(statusCode).toBe(400);
  },
);
