import { endpoints } from "@mailproof/api/endpoints";
import { tooSlow } from "@mailproof/api/http/body";
import { EXAMPLES } from "@mailproof/api/openapi/examples";
import { expect, test } from "vitest";
import { given } from "../app/given.ts";
import { listStoredItems } from "../app/ledger.ts";
import { send, whenVerified } from "../app/send.ts";

const paid = endpoints.filter(({ price }) => price !== null).map(({ route }) => route);

test("the list of paid operations includes single verifications and batches", () => {
  expect(paid).toEqual(expect.arrayContaining(["POST /v1/verify", "POST /v1/verify/batch"]));
});

test.each(paid)("a malformed %s answers 400 at any load", async (route) => {
  const ctx = await given({ balance: 10 });
  const world = { ...ctx.world, pressure: () => "event_loop_late" as const };

  const refused = await send(world, route, { key: ctx.liveKey, body: 1, query: { x: "1" } });

  expect(refused).toMatchObject({ statusCode: 400, error: { money: "nothing_charged" } });
});

const REQUESTS = EXAMPLES.filter(
  ({ route, status }) => new Set<string>(paid).has(route) && status < 300,
);

test.each(REQUESTS)(
  "the route $route refuses a request under pressure before its work: $title",
  async ({ route, path, query, request: body }) => {
    const ctx = await given({ balance: 10 });
    const world = { ...ctx.world, pressure: () => "event_loop_late" as const };
    const sent = route.replaceAll(/\{(\w+)\}/g, (_, name: string) => path[name] ?? "");
    const before = listStoredItems(ctx);

    const refused = await send(world, sent, { key: ctx.liveKey, query, body });

    expect(refused.statusCode).toBe(503);
    expect(refused.headers["retry-after"]).toBe("5");
    expect(refused.error).toMatchObject({
      code: "UNAVAILABLE",
      money: "nothing_charged",
      retryable: true,
    });
    expect(listStoredItems(ctx)).toEqual(before);
    // It would be one line for each of thousands: the log says when pressure begins and when it ends.
    expect(ctx.logged).toEqual([]);
  },
);

test.each(["GET /health", "GET /v1/account", "GET /v1/jobs"])(
  "the service answers %s under pressure",
  async (route) => {
    const { world, liveKey } = await given({ balance: 10 });
    const pressedWorld = { ...world, pressure: () => "memory_short" as const };

    expect((await send(pressedWorld, route, { key: liveKey })).statusCode).toBe(200);
  },
);

test("a request refused under pressure succeeds afterwards with its Idempotency-Key", async () => {
  const { world, liveKey } = await given({ balance: 10 });
  const body = { email: "ann@example.com" };
  const pressedWorld = { ...world, pressure: () => "event_loop_late" as const };
  const relaxedWorld = { ...world, pressure: () => null };

  const refused = await whenVerified(pressedWorld, liveKey, body, "key-1");
  const done = await whenVerified(relaxedWorld, liveKey, body, "key-1");

  expect(refused.statusCode).toBe(503);
  expect(refused.error).toMatchObject({ money: "retry_same_key", retryable: true });
  expect(done.statusCode).toBe(200);
  expect(done.data).toMatchObject({ credits_used: 1 });
});

/** No repeat can have been charged: the route is free, it takes no such key, or the key is none. */
test.each([
  ["GET /v1/account", "k"],
  ["POST /v1/find", "k"],
  ["POST /v1/verify", undefined],
  ["POST /v1/verify", "a b"],
])(
  "the request %s with the Idempotency-Key %s is refused under pressure without a charge",
  async (route, key) => {
    const { world, liveKey } = await given({ balance: 10 });
    const full = async () =>
      ({ allowed: false, by: "key", limit: 1, remaining: 0, resetAt: 1_795_219_260 }) as const;
    const headers: Record<string, string> = key === undefined ? {} : { "idempotency-key": key };

    const refused = await send({ ...world, rateLimit: full }, route, { key: liveKey, headers });

    expect(refused.error).toMatchObject({ code: "RATE_LIMITED", money: "nothing_charged" });
    expect(refused.error.message).toMatch(/ Nothing was charged\.$/);
  },
);

test("a repeated verification over the rate limit keeps its message, its headers and its outcome for the money", async () => {
  const { world, liveKey: key } = await setupLimited();

  const refused = await whenVerified(world, key, { email: "ann@x.com" }, "k");

  expect(refused.statusCode).toBe(429);
  expect(refused.headers["retry-after"]).toBe("60");
  expect(refused.error.retryable).toBe(true);
  expect(refused.error.message).toBe(
    "Too many requests with this key; the next minute starts in 60 s. Retry with the same Idempotency-Key; it will not be charged twice.",
  );
});

test("a repeated verification whose body arrives too slowly states nothing about the first request", async () => {
  const { world, liveKey: key } = await given({ balance: 10 });
  const trickling = (idempotencyKey?: string) =>
    send(world, "POST /v1/verify", {
      key,
      headers: idempotencyKey ? { "idempotency-key": idempotencyKey } : {},
      readBody: () => Promise.reject(tooSlow(5_000)),
    });

  expect((await trickling("k")).error).toMatchObject({ money: "retry_same_key", retryable: true });
  expect((await trickling()).error).toMatchObject({ money: "nothing_charged", retryable: true });
});

/** The plan allows so many requests in a minute; all of them are made. */
const setupLimited = async () => {
  const ctx = await given({ plan: "free" });
  const { world, liveKey: key } = ctx;
  const { headers } = await send(world, "GET /v1/account", { key });
  const left = Number(headers["x-ratelimit-remaining"]);
  for (let n = 0; n <= left; n++) await send(world, "GET /v1/account", { key });
  return ctx;
};

test("the rate limit does not lock a caller out when the clock is set back", async () => {
  const { world, liveKey: key, jump } = await setupLimited();

  jump(-3_600_000);

  expect((await send(world, "GET /v1/account", { key })).statusCode).toBe(200);
});
