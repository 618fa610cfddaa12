import { endpoints, programEndpoints } from "@mailproof/api/endpoints";
import { getAccount as getAccountEndpoint } from "@mailproof/api/endpoints/get-account";
import type { Endpoint } from "@mailproof/api/http/endpoint";
import { createKey } from "@mailproof/core/accounts/api-keys";
import { SCOPES, type Scope } from "@mailproof/core/accounts/scopes";
import { lambda } from "@mailproof/functions/lambda";
import { createMcpLambda } from "@mailproof/functions/mcp";
import { readEnvironment } from "@mailproof/local/environment";
import { CONNECTION_LIMITS } from "@mailproof/local/server/connections";
import { createApiServer } from "@mailproof/local/server/server";
import { createSite, getClientIp } from "@mailproof/local/server/site";
import { describe, expect, onTestFinished, test } from "vitest";
import { toEvent } from "../../infra/gateway-event.ts";
import { whenReconciled, whenWorked } from "../app/drain-queues.ts";
import { given, givenKey } from "../app/given.ts";
import { listMoves, listStoredItems, readCredits } from "../app/ledger.ts";
import { send } from "../app/send.ts";
import { createContext } from "../aws/events.ts";
import { denyAll, recordUses } from "./port-uses.ts";
import { createBody, createUnknownKey, type TestContext } from "./used-account.ts";

// Goal: a key opens what it is for. Whatever else it is tried on is refused before any work is done, and before a
// word of the body is read.
// The same for access tokens is in test/story/api-keys.test.ts.

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

/** What a browser sends with a request of the dashboard. */
const OWN_PAGE = { "sec-fetch-site": "same-origin" };

const closed = programEndpoints.filter(({ access }) => access !== "public");

test("only the health, the receipts' keys, the prices, the listing look-up, the sign-in and a mail's link need no key", () => {
  expect(
    endpoints.filter(({ access }) => access === "public").map(({ route }) => route),
    "what anyone may call without a key is listed here",
  ).toEqual([
    "GET /health",
    "GET /.well-known/jwks.json",
    "GET /v1/catalog",
    "GET /v1/listings/{domain}",
    "GET /v1/sign-in",
    "POST /v1/sign-in/link",
    "POST /v1/sign-in/oidc",
    "POST /v1/sign-in/passkey",
    "POST /v1/mail/unsubscribe",
  ]);
});

test.each(endpoints.filter(({ fromOwnPage }) => fromOwnPage))(
  "$route refuses programs and the pages of other sites before it reads the body",
  async ({ route }) => {
    const { world } = await given();
    const pages = ["cross-site", "same-site", "none"].map((site) => ({ "sec-fetch-site": site }));
    const readBody = () => Promise.reject(new Error("the body was read"));

    for (const headers of [...pages, { origin: "https://evil.example" }, {}])
      expect((await send(world, route, { headers, readBody })).statusCode).toBe(403);
    expect((await send(world, route, { headers: OWN_PAGE, body: {} })).statusCode).toBe(400);
  },
);

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

// Goal: a key that is limited to networks is worth nothing elsewhere, whatever the caller writes into headers, on every
// way to an operation.

const givenLimitedKey = async (networks: readonly string[]) => {
  const ctx = await given({ balance: 5 });
  const request = { account: ctx.account, name: "K", mode: "live", scopes: null } as const;
  const { secret } = await createKey(ctx.world, { ...request, networks: [...networks] });
  return { ...ctx, secret };
};

const serve = async (networks: readonly string[], settings: Record<string, string> = {}) => {
  const { world, secret } = await givenLimitedKey(networks);
  const site = createSite(readEnvironment(settings));
  const server = createApiServer(world, () => undefined, endpoints, CONNECTION_LIMITS, { site });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as { port: number };
  const base = `http://127.0.0.1:${port}`;
  const ask = (headers: Record<string, string> = {}) =>
    fetch(`${base}/v1/account`, { headers: { "x-api-key": secret, ...headers } });
  const callTool = (headers: Record<string, string> = {}) =>
    fetch(`${base}/mcp`, {
      method: "POST",
      headers: {
        "x-api-key": secret,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        ...headers,
      },
      body: JSON.stringify(TOOL_CALL),
    });
  return { ask, callTool };
};

const TOOL_CALL = {
  jsonrpc: "2.0",
  id: 1,
  method: "tools/call",
  params: { name: "get_account", arguments: {} },
};

test("a request answers 403 from another network than its key's, without that network's name", async () => {
  const outside = await serve(["192.0.2.0/24", "2001:db8::/32"]);
  const inside = await serve(["127.0.0.0/8"]);

  const refused = await outside.ask();

  expect(refused.status).toBe(403);
  const text = await refused.text();
  expect(JSON.parse(text)).toMatchObject({
    error: {
      code: "FORBIDDEN",
      message: "This key is not accepted from the network of this request. Nothing was charged.",
    },
  });
  expect(text.replace(/"doc_url":"[^"]*"/, "")).not.toMatch(/192\.0|2001:db8|127\.0/);
  expect((await inside.ask()).status).toBe(200);
});

test("a tool call obeys the key's networks, and no client header changes its address", async () => {
  const outside = await serve(["192.0.2.0/24"]);
  const inside = await serve(["127.0.0.0/8"]);
  const forged = {
    "x-forwarded-for": "192.0.2.1",
    "x-mailproof-client-ip": "192.0.2.1",
    forwarded: "for=192.0.2.1",
  };

  expect((await outside.callTool(forged)).status).toBe(403);
  expect((await outside.ask(forged)).status).toBe(403);
  const called = await inside.callTool();
  expect(called.status).toBe(200);
  expect(await called.text()).toContain("account_id");
});

test.each<[string, string, string | undefined, string]>([
  ["a client without a proxy", "203.0.113.9", "192.0.2.1", "203.0.113.9"],
  ["a proxy that states its client", "127.0.0.1", "192.0.2.1", "192.0.2.1"],
  ["a proxy whose client added a header", "127.0.0.1", "192.0.2.1, 203.0.113.9", "203.0.113.9"],
  ["two proxies", "127.0.0.1", "192.0.2.1, 203.0.113.9, ::ffff:127.0.0.2", "203.0.113.9"],
  ["a proxy without a client's address", "127.0.0.1", undefined, "127.0.0.1"],
  ["a proxy with an IPv6 client", "::1", "2001:db8::5", "2001:db8::5"],
  ["a proxy that adds a port", "127.0.0.1", "192.0.2.1:50123", "192.0.2.1"],
  ["a proxy that adds a port to an IPv6 address", "::1", "[2001:db8::5]:50123", "2001:db8::5"],
  ["a proxy that adds brackets", "::1", "[2001:db8::5]", "2001:db8::5"],
])("the server finds the client's address behind %s", (_, remoteAddress, forwarded, expected) => {
  const headers = forwarded === undefined ? {} : { "x-forwarded-for": forwarded };
  const site = createSite(readEnvironment({ TRUST_PROXY: "127.0.0.0/8, ::1" }));

  expect(getClientIp(site, { headers, socket: { remoteAddress } } as never)).toBe(expected);
});

test.each([
  [["192.0.2.0/24"], 200],
  [["198.51.100.0/24"], 403],
])(
  "a Lambda uses the client's address from API Gateway: a key for %s answers %i",
  async (networks, status) => {
    const { world, secret } = await givenLimitedKey(networks);
    const headers = [
      ["x-api-key", secret],
      ["x-forwarded-for", "198.51.100.1"],
    ] as const;
    const event = toEvent({ method: "GET", url: "/v1/account", headers });
    const toolEvent = toEvent({
      method: "POST",
      url: "/mcp",
      headers: [
        ...headers,
        ["content-type", "application/json"],
        ["accept", "application/json, text/event-stream"],
      ],
      body: JSON.stringify(TOOL_CALL),
    });

    const answer = await lambda(getAccountEndpoint, world)(event, createContext());
    const called = await createMcpLambda(world)(toolEvent, createContext());

    expect([answer.statusCode, called.statusCode]).toEqual([status, status]);
  },
);
