import { createFallbackHandler } from "@mailproof/functions/fallback-route";
import { createTokenVerifier } from "@mailproof/net/token-verifier";
import {
  ClientCredentialsProvider,
  discoverOAuthProtectedResourceMetadata,
  extractWWWAuthenticateParams,
} from "@modelcontextprotocol/client";
import type { JWTPayload } from "jose";
import { expect, test } from "vitest";
import { toBytes, toEvent } from "../../infra/gateway-event.ts";
import { given, givenWorld, START } from "../app/given.ts";
import { givenIssuer } from "../app/issuer.ts";
import { createContext } from "../aws/events.ts";
import { connectClient, createBearer, serveMcp } from "./client.ts";

/** A server whose operator trusts an issuer, both on loopback. */
const givenTrust = async () => {
  const ctx = await given({ balance: 5 });
  const issuer = await givenIssuer();
  const world = { ...ctx.world };
  const base = await serveMcp(world);
  const url = `${base}/mcp`;
  world.accessTokens = createTokenVerifier({ issuer: issuer.issuer, audience: url }, world.now);
  const claims = (also: JWTPayload): JWTPayload => ({
    aud: url,
    exp: START.getTime() / 1000 + 300,
    mailproof_account: ctx.account,
    ...also,
  });
  return { ...ctx, ...issuer, world, base, url, claims };
};

const CALL = {
  jsonrpc: "2.0",
  id: 1,
  method: "tools/call",
  params: { name: "verify_email", arguments: { email: "ann@x.com" } },
};

const post = (url: string, token: string | undefined, message: unknown = CALL) =>
  fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...(token !== undefined && createBearer(token)),
    },
    body: JSON.stringify(message),
  });

const denyRateLimit = async () =>
  ({ allowed: false, by: "key", limit: 600, remaining: 0, resetAt: 0 }) as const;

test("an MCP client with the address alone finds the issuer, receives a token and calls a tool", async () => {
  const { url, issuer, grants, claims, asked: requestedPaths } = await givenTrust();
  grants(claims({ scope: "verification:write account:read" }));
  const authProvider = new ClientCredentialsProvider({
    clientId: "agent",
    clientSecret: "secret",
    expectedIssuer: issuer,
  });

  const { call } = await connectClient(url, { authProvider });

  expect(requestedPaths).toContain("/token");
  expect((await call("verify_email", { email: "ann@x.com" })).data).toMatchObject({
    credits_used: 1,
  });
  expect((await call("get_account")).data.credits.available).toBe(4);
});

test("a tool call without a credential answers 401 with the metadata's address", async () => {
  const { url, base, issuer } = await givenTrust();

  const refused = await post(url, undefined);

  expect(refused.status).toBe(401);
  const { resourceMetadataUrl } = extractWWWAuthenticateParams(refused);
  expect(resourceMetadataUrl?.href).toBe(`${base}/.well-known/oauth-protected-resource`);
  expect(await discoverOAuthProtectedResourceMetadata(url)).toMatchObject({
    resource: url,
    authorization_servers: [issuer],
  });
});

test("a tool call answers 403 in HTTP when the token lacks its scope", async () => {
  const { url, sign, claims } = await givenTrust();
  const token = await sign(claims({ scope: "account:read" }));

  const refused = await post(url, token);

  expect(refused.status).toBe(403);
  expect(extractWWWAuthenticateParams(refused)).toMatchObject({
    scope: "verification:write",
    error: "insufficient_scope",
  });
  expect((await post(url, token, { ...CALL, method: "tools/list", params: {} })).status).toBe(200);
});

test("a tool call counts towards the rate limit when the token lacks its scope", async () => {
  const { url, sign, claims, world } = await givenTrust();
  const token = await sign(claims({ scope: "account:read" }));

  const first = await post(url, token);
  world.rateLimit = denyRateLimit;
  const last = await post(url, token);

  expect(first.headers.get("x-ratelimit-remaining")).toBe("599");
  expect(last.status).toBe(429);
  expect(last.headers.get("retry-after")).toBe("1");
});

test.each([
  ["a missing scope", 403],
  ["a full minute", 429],
])(
  "a repeated tool call refused for %s does not report that nothing was charged",
  async (_why, status) => {
    const { url, sign, claims, world } = await givenTrust();
    const token = await sign(claims({ scope: "account:read" }));
    if (status === 429) world.rateLimit = denyRateLimit;
    const repeat = {
      ...CALL,
      params: { ...CALL.params, arguments: { ...CALL.params.arguments, idempotency_key: "k" } },
    };

    const refused = await post(url, token, repeat);
    const withoutKey = await post(url, token);

    expect([refused.status, withoutKey.status]).toEqual([status, status]);
    expect(await refused.json()).toMatchObject({ error: { money: "retry_same_key" } });
    expect(await withoutKey.json()).toMatchObject({ error: { money: "nothing_charged" } });
  },
);

test("a tool call reserved for unrestricted keys is refused with a sentence when it uses a token", async () => {
  const { url, sign, claims } = await givenTrust();
  const headers = createBearer(await sign(claims({ scope: "account:read" })));

  const { call } = await connectClient(url, { headers });

  expect(await call("list_api_keys")).toMatchObject({
    isError: true,
    text: expect.stringContaining("reserved for unrestricted keys"),
  });
});

const ROOT = "/.well-known/oauth-protected-resource";
const PATHS = [ROOT, `${ROOT}/mcp`];
const TRUST = { issuer: "https://login.example.com", audience: "https://api.example.com/mcp" };

test.each(PATHS)("both runtimes return the token issuer at %s without a key", async (path) => {
  const { world } = givenWorld();
  const withTokens = { ...world, accessTokens: createTokenVerifier(TRUST, world.now) };

  const here = await fetch((await serveMcp(withTokens)) + path);
  const there = await createFallbackHandler(world, TRUST)(
    toEvent({ method: "GET", url: path }),
    createContext(),
  );

  expect([here.status, there.statusCode]).toEqual([200, 200]);
  // Bare, as RFC 9728 wants it.
  const response = (await here.json()) as unknown;
  expect(response).toMatchObject({
    resource: "https://api.example.com/mcp",
    authorization_servers: ["https://login.example.com"],
    bearer_methods_supported: ["header"],
    scopes_supported: expect.arrayContaining(["verification:write", "account:read"]),
  });
  expect(JSON.parse(toBytes(there).toString())).toEqual(response);
});

test.each(PATHS)("the address %s answers 404 when no issuer is trusted", async (path) => {
  const { world } = givenWorld();

  expect((await fetch((await serveMcp(world)) + path)).status).toBe(404);
  const there = await createFallbackHandler(world, null)(
    toEvent({ method: "GET", url: path }),
    createContext(),
  );
  expect(there.statusCode).toBe(404);
});
