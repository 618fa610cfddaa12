import { endpoints } from "@mailproof/api/endpoints";
import type { Endpoint } from "@mailproof/api/http/endpoint";
import { SCOPES, type Scope } from "@mailproof/core/accounts/scopes";
import { describe, expect, test } from "vitest";
import { whenReconciled, whenWorked } from "../app/drain-queues.ts";
import { given, givenKey } from "../app/given.ts";
import { listMoves, listStoredItems, readCredits } from "../app/ledger.ts";
import { send } from "../app/send.ts";
import { denyAll, recordUses } from "./port-uses.ts";
import { createBody } from "./requests.ts";
import type { TestContext } from "./used-account.ts";
import { createUnknownKey } from "./used-account.ts";

// Goal: a key opens what it is for. Whatever else it is tried on is refused before any work is done, and before a
// word of the body is read.
// The same for access tokens is in test/story/access-tokens.test.ts.

// The write stores when the key was last used.
const LOOKED_AT = ["table.get", "table.get", "rateLimit", "table.write"];

const toRoute = ({ route }: Endpoint): string => route.replaceAll(/\{\w+\}/g, "x");

const tryRoute = async (endpoint: Endpoint, scopes: readonly Scope[], mode: "live" | "test") => {
  const ctx = await given({ balance: 10 });
  const key = await givenKey(ctx.world, ctx.account, { scopes, mode });
  const { world, uses } = recordUses(ctx.world);
  let isRead = false;
  const response = await send(world, toRoute(endpoint), {
    key,
    readBody: async () => {
      isRead = true;
      return {};
    },
  });
  return { ...response, isRead, ports: uses.map(({ port }) => port) };
};

const closed = endpoints.filter(({ access }) => access !== "public");

test("only the health, the receipts' keys, the prices and the listing look-up need no key", () => {
  expect(
    endpoints.filter((one) => !closed.includes(one)).map(({ route }) => route),
    "what anyone may call without a key is listed here",
  ).toEqual([
    "GET /health",
    "GET /.well-known/jwks.json",
    "GET /v1/catalog",
    "GET /v1/listings/{domain}",
  ]);
});

describe.each(closed)("$route", (endpoint) => {
  const { access } = endpoint;

  test.each(SCOPES.filter((scope) => scope !== access))(
    "the route refuses a key for %s",
    async (scope) => {
      for (const mode of ["live", "test"] as const) {
        const response = await tryRoute(endpoint, [scope], mode);

        expect(response).toMatchObject({ statusCode: 403, isRead: false, ports: LOOKED_AT });
      }
    },
  );

  test("the route refuses a key without scopes", async () => {
    expect(await tryRoute(endpoint, [], "live")).toMatchObject({
      statusCode: 403,
      isRead: false,
      ports: LOOKED_AT,
    });
  });

  test("the route accepts a key with its scope alone, or requires an unrestricted key", async () => {
    const scopes = access === "unrestricted" ? SCOPES : [access as Scope];

    const { statusCode } = await tryRoute(endpoint, scopes, "live");

    expect([401, 403].includes(statusCode)).toBe(access === "unrestricted");
  });
});

const account = "GET /v1/account";

test("a revoked key receives the same response by the same port uses as an unknown key", async () => {
  const ctx = await given();
  await send(ctx.world, "DELETE /v1/api-keys/key_1", { key: ctx.liveKey });

  const [revoked, never] = await Promise.all(
    [ctx.liveKey, createUnknownKey(ctx.world)].map(async (key) => {
      const { world, uses } = recordUses({ ...ctx.world, newId: () => "req_1" });
      return {
        response: await send(world, account, { key }),
        ports: uses.map(({ port }) => port),
      };
    }),
  );

  expect(revoked?.response.statusCode).toBe(401);
  expect(revoked).toEqual(never);
});

test("a revoked key opens no route", async () => {
  const ctx = await given();
  await send(ctx.world, "DELETE /v1/api-keys/key_1", { key: ctx.liveKey });

  for (const endpoint of closed)
    expect((await send(ctx.world, toRoute(endpoint), { key: ctx.liveKey })).statusCode).toBe(401);
});

test("the service looks up a key only by its hash", async () => {
  const { world, liveKey } = await given();
  const { world: watched, uses } = recordUses(world);
  await send(watched, account, { key: liveKey });

  const usedArgs = uses.map(({ args }) => args).join(" ");
  expect(usedArgs).toContain("KEY#");
  expect(usedArgs).not.toContain(liveKey.slice("mp_live_".length, -6));
});

// Goal: a test key moves no credits, and its requests reach no other server.
// Method: each route with a price, in a world without a way out, until everything that was begun is at its end.
// The responses to test keys are in test/story/test-keys.test.ts.

/** What costs credits day by day, and what the examples do not ask for. */
const MORE = [
  ["POST /v1/verify", { email: "ann@example.com", include_activity: true }],
  ["POST /v1/verify/batch", { emails: ["ann@example.com", "slow@example.com"] }],
  [
    "POST /v1/deliverability/check",
    { domain: "example.com", sending_ip: "192.0.2.1", refresh: true },
  ],
  ["POST /v1/deliverability/monitors", { domain: "example.com" }],
] as const;

const EXAMPLE = "as its example";
const paid = endpoints.filter(({ price }) => price !== null).map(({ route }) => route);
const asked = [...paid.map((route) => [route, EXAMPLE] as const), ...MORE];

/** A job that has ended, with an address that is invalid. */
const givenTestJob = async (ctx: TestContext): Promise<string> => {
  const request = { key: ctx.testKey, body: { emails: ["invalid@example.com"] } };
  const { data } = await send(ctx.world, "POST /v1/verify/batch", request);
  await whenWorked(ctx);
  return data.job_id;
};

test.each(asked)(
  "the route %s %j with a test key moves no credit and asks no other server",
  async (route, more) => {
    const ctx = await given({ balance: 100 });
    const { world, attempted: tried } = denyAll(ctx.world);
    const target = route.replace("{id}", await givenTestJob(ctx));
    const before = await readCredits(ctx);
    const body = more === EXAMPLE ? await createBody(route, ctx, ctx.testKey) : more;

    const { statusCode, text } = await send(world, target, { key: ctx.testKey, body });
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

test("the route requests with a live key ask other servers and cost credits", async () => {
  const ctx = await given({ balance: 100 });
  const { world, attempted: tried } = denyAll(ctx.world);

  await send(world, "POST /v1/deliverability/check", {
    key: ctx.liveKey,
    body: { domain: "example.com" },
  });

  expect(tried).toContain("names.dns");
  expect(listMoves(ctx)).not.toEqual([]);
});
