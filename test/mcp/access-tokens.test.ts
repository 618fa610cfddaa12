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

test("a client with the address alone finds the issuer, gets a token and calls", async () => {
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

test("a call without a credential is 401 with the address of the metadata", async () => {
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

test("a call whose scope the token lacks is 403 in HTTP", async () => {
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

test("a call whose scope the token lacks takes one from the minute", async () => {
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
  ["a scope it lacks", 403],
  ["a full minute", 429],
])(
  "a repeat under its idempotency_key that is refused for %s does not say that nothing was charged",
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

test("a call that no token may make is refused in words", async () => {
  const { url, sign, claims } = await givenTrust();
  const headers = createBearer(await sign(claims({ scope: "account:read" })));

  const { call } = await connectClient(url, { headers });

  expect(await call("list_api_keys")).toMatchObject({
    isError: true,
    text: expect.stringContaining("reserved for unrestricted keys"),
  });
});

test("a token for another service is 401", async () => {
  const { url, sign, claims } = await givenTrust();
  const token = await sign(claims({ aud: "https://other.example/mcp", scope: "account:read" }));

  const refused = await post(url, token);

  expect(refused.status).toBe(401);
  expect(extractWWWAuthenticateParams(refused).error).toBe("invalid_token");
});

test("a call is 503 and retryable while the issuer is away", async () => {
  const { url, sign, claims, goDown } = await givenTrust();
  const token = await sign(claims({ scope: "verification:write" }));
  goDown();

  const refused = await post(url, token);

  expect(refused.status).toBe(503);
  expect(await refused.text()).toContain("Retry with the same Idempotency-Key");
});

const ROOT = "/.well-known/oauth-protected-resource";
const PATHS = [ROOT, `${ROOT}/mcp`];
const TRUST = { issuer: "https://login.example.com", audience: "https://api.example.com/mcp" };

test.each(PATHS)(
  "%s names the token issuer without a key, on one machine and on AWS",
  async (path) => {
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
  },
);

test.each(PATHS)("the address %s is 404 when no issuer is trusted", async (path) => {
  const { world } = givenWorld();

  expect((await fetch((await serveMcp(world)) + path)).status).toBe(404);
  const there = await createFallbackHandler(world, null)(
    toEvent({ method: "GET", url: path }),
    createContext(),
  );
  expect(there.statusCode).toBe(404);
});
