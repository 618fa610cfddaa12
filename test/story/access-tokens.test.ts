import { endpoints } from "@mailproof/api/endpoints";
import { SCOPES, type Scope } from "@mailproof/core/accounts/scopes";
import { createTokenVerifier } from "@mailproof/net/token-verifier";
import type { JWTPayload } from "jose";
import { describe, expect, test } from "vitest";
import { type Given, given, START } from "../app/given.ts";
import { givenIssuer } from "../app/issuer.ts";
import { readCredits } from "../app/ledger.ts";
import { send } from "../app/send.ts";

const AUDIENCE = "https://api.example.com/mcp";
const METADATA = "https://api.example.com/.well-known/oauth-protected-resource";

/** An account, and the issuer that its operator trusts. */
const givenTrust = async (wanted: Given = {}) => {
  const ctx = await given(wanted);
  const issuer = await givenIssuer();
  const world = {
    ...ctx.world,
    accessTokens: createTokenVerifier({ issuer: issuer.issuer, audience: AUDIENCE }, ctx.world.now),
  };
  const sign = (claims: JWTPayload) =>
    issuer.sign({
      aud: AUDIENCE,
      exp: START.getTime() / 1000 + 3_600,
      mailproof_account: ctx.account,
      scope: "account:read",
      ...claims,
    });
  const ask = async (claims: JWTPayload, what = "GET /v1/account", body?: unknown) =>
    send(world, what, { headers: { authorization: `Bearer ${await sign(claims)}` }, body });
  return { ...ctx, ...issuer, world, sign, ask };
};

test("an access token opens the routes of its scope for its own account", async () => {
  const { ask, account } = await givenTrust({ balance: 7 });

  expect(await ask({})).toMatchObject({
    statusCode: 200,
    data: {
      account_id: account,
      credits: { available: 7 },
      key: { key_id: `oauth_${account}`, mode: "live", scopes: ["account:read"] },
    },
  });
});

test.each<[string, JWTPayload, readonly Scope[]]>([
  ["scope", { scope: "account:read verification:read" }, ["verification:read", "account:read"]],
  ["scp as a list", { scope: "", scp: ["account:read"] }, ["account:read"]],
  [
    "scp as a text",
    { scope: "", scp: "account:read webhooks:read" },
    ["webhooks:read", "account:read"],
  ],
  ["both claims", { scp: ["verification:read"] }, ["verification:read", "account:read"]],
  ["unknown scopes beside a known one", { scope: "openid account:read admin *" }, ["account:read"]],
])("the service reads a token's scopes from %s", async (_where, claims, scopes) => {
  const { ask } = await givenTrust();

  expect((await ask(claims)).data.key.scopes).toEqual(scopes);
});

describe.each(endpoints.filter(({ access }) => access !== "public"))("$route", (endpoint) => {
  const { route, access } = endpoint;
  const what = route.replaceAll(/\{\w+\}/g, "x");

  test("the route accepts a token with its scope and refuses every other scope", async () => {
    const { ask } = await givenTrust();
    const others = SCOPES.filter((scope) => scope !== access);

    expect((await ask({ scope: others.join(" ") }, what)).statusCode).toBe(403);
    expect((await ask({ scope: "" }, what)).statusCode).toBe(403);
    const status = (await ask({ scope: SCOPES.join(" ") }, what)).statusCode;
    expect(status === 403).toBe(access === "unrestricted");
    expect(status).not.toBe(401);
  });
});

test("a request whose token lacks the scope answers 403 with a challenge that states the scope", async () => {
  const { ask } = await givenTrust();

  const response = await ask({}, "GET /v1/jobs");

  expect(response).toMatchObject({
    statusCode: 403,
    error: {
      code: "FORBIDDEN",
      message: "This token does not hold the scope verification:read. Nothing was charged.",
      details: { required_scope: "verification:read" },
    },
  });
  expect(response.headers["www-authenticate"]).toBe(
    `Bearer realm="mailproof", error="insufficient_scope", scope="verification:read", resource_metadata="${METADATA}"`,
  );
});

test.each<[string, JWTPayload]>([
  ["an unknown account", { mailproof_account: "acc_999" }],
  ["no account", { mailproof_account: undefined }],
  ["an account as a list", { mailproof_account: ["acc_1"] }],
  ["an empty account", { mailproof_account: "" }],
  ["an account of a thousand letters", { mailproof_account: "a".repeat(1_000) }],
  ["an unknown mode", { mailproof_mode: "trial" }],
  ["an expiry in the past", { exp: START.getTime() / 1000 - 61 }],
])(
  "a request whose token states %s answers 401 with the message for a wrong key",
  async (_what, claims) => {
    const { ask, world } = await givenTrust();

    const response = await ask(claims);

    expect(response.statusCode).toBe(401);
    expect(response.error).toEqual(
      (await send(world, "GET /v1/account", { key: "mp_live_x" })).error,
    );
    expect(response.headers["www-authenticate"]).toBe(
      `Bearer realm="mailproof", error="invalid_token", resource_metadata="${METADATA}"`,
    );
  },
);

test("a request without a credential receives a challenge with the metadata's address and no error", async () => {
  const { world } = await givenTrust();

  const { statusCode, headers } = await send(world, "GET /v1/account");

  expect(statusCode).toBe(401);
  expect(headers["www-authenticate"]).toBe(
    `Bearer realm="mailproof", resource_metadata="${METADATA}"`,
  );
});

test.each([
  "https://api.example.com",
  "https://api.example.com/",
  "https://api.example.com/mcp",
  "https://api.example.com/mcp/",
])(
  "the challenge links to this service's own metadata when the audience is %s",
  async (audience) => {
    const { world } = await givenTrust();
    const tokens = createTokenVerifier(
      { issuer: "https://login.example.com", audience },
      world.now,
    );

    const { headers } = await send({ ...world, accessTokens: tokens }, "GET /v1/account");

    expect(headers["www-authenticate"]).toContain(`resource_metadata="${METADATA}"`);
  },
);

test("a request with a token in X-Api-Key, or with a token beside a key, answers 401", async () => {
  const { world, sign, liveKey } = await givenTrust();
  const token = await sign({});
  const authorization = `Bearer ${token}`;
  const asWith = (headers: Record<string, string>) => send(world, "GET /v1/account", { headers });

  expect((await asWith({ "x-api-key": token })).statusCode).toBe(401);
  expect((await asWith({ "x-api-key": token, authorization })).statusCode).toBe(401);
  expect((await asWith({ "x-api-key": liveKey, authorization })).statusCode).toBe(401);
});

test("a request with a token answers 401 when the service trusts no issuer", async () => {
  const { world, sign, asked: requestedPaths } = await givenTrust();
  const headers = { authorization: `Bearer ${await sign({})}` };

  expect(
    (await send({ ...world, accessTokens: null }, "GET /v1/account", { headers })).statusCode,
  ).toBe(401);
  expect(requestedPaths).toEqual([]);
});

test("requests with tokens answer 503 while the issuer is down, and requests with keys succeed", async () => {
  const { world, ask, goDown, liveKey } = await givenTrust();
  goDown();

  expect(await ask({})).toMatchObject({
    statusCode: 503,
    error: { retryable: true, message: expect.stringContaining("Nothing was charged.") },
  });
  expect((await send(world, "GET /v1/account", { key: liveKey })).statusCode).toBe(200);
});

test("a verification with a token costs as much as with a key, and its repeat costs nothing", async () => {
  const ctx = await givenTrust({ balance: 5 });
  const { world, sign } = ctx;
  const headers = {
    authorization: `Bearer ${await sign({ scope: "verification:write" })}`,
    "idempotency-key": "k",
  };
  const verify = () =>
    send(world, "POST /v1/verify", { headers, body: { email: "ann@example.com" } });

  expect((await verify()).data).toMatchObject({ credits_used: 1 });
  expect((await verify()).data).toMatchObject({ credits_used: 0, idempotent_replay: true });
  expect((await readCredits(ctx)).available).toBe(4);
});

test("a verification by a test mode token returns a mock result and costs nothing", async () => {
  const ctx = await givenTrust({ balance: 5 });

  const response = await ctx.ask(
    { scope: "verification:write", mailproof_mode: "test" },
    "POST /v1/verify",
    { email: "ann@example.com" },
  );

  expect(response.data).toMatchObject({ credits_used: 0 });
  expect((await readCredits(ctx)).available).toBe(5);
});

test("all tokens of an account share one rate limit, apart from the limits of its keys", async () => {
  const { ask, world, liveKey } = await givenTrust({ plan: "free" });
  for (let sent = 0; sent < 60; sent++) await ask({ jti: String(sent) });

  expect((await ask({ jti: "another" })).statusCode).toBe(429);
  expect((await ask({ mailproof_mode: "test" })).statusCode).toBe(200);
  expect((await send(world, "GET /v1/account", { key: liveKey })).statusCode).toBe(200);
});
