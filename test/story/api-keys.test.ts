import { programEndpoints } from "@mailproof/api/endpoints";
import { KEYS_MAX } from "@mailproof/core/accounts/api-key-items";
import { SCOPES, type Scope } from "@mailproof/core/accounts/scopes";
import { createTokenVerifier } from "@mailproof/net/token-verifier";
import type { JWTPayload } from "jose";
import { describe, expect, test } from "vitest";
import { type Given, given, givenKey, START } from "../app/given.ts";
import { givenIssuer } from "../app/issuer.ts";
import { readCredits } from "../app/ledger.ts";
import { send } from "../app/send.ts";
import { asRows } from "../runner/as-rows.ts";

const whenCreated = (world: any, key: string, body: unknown = { name: "CI", mode: "live" }) =>
  send(world, "POST /v1/api-keys", { key, body });

test("creating a key answers 201, shows the key once, and the key opens the routes of its scopes", async () => {
  const { world, liveKey } = await given({ balance: 7 });

  const created = await whenCreated(world, liveKey, { name: "  CI  ", mode: "live" });

  expect(created).toMatchObject({
    statusCode: 201,
    data: { key_id: "key_3", name: "CI", mode: "live", scopes: null },
  });
  expect(created.data.key).toMatch(/^mp_live_[0-9A-Za-z]{28}$/);
  const seen = await send(world, "GET /v1/account", { key: created.data.key });
  expect(seen.data.credits.available).toBe(7);
});

test("a key with scopes opens the routes of those scopes and no other", async () => {
  const { world, liveKey } = await given();
  const scopes = ["account:read", "account:read", "webhooks:read"];

  const { data } = await whenCreated(world, liveKey, { name: "Read", mode: "live", scopes });

  expect(data.scopes).toEqual(["account:read", "webhooks:read"]);
  expect((await send(world, "GET /v1/account", { key: data.key })).statusCode).toBe(200);
  expect((await whenCreated(world, data.key)).statusCode).toBe(403);
});

test("a new key accepts an expiry time and a list of networks", async () => {
  const { world, liveKey } = await given();
  const limits = {
    expires_at: "2026-12-01T00:00:00+01:00",
    networks: ["192.0.2.0/24", "2001:db8::1", "192.0.2.0/24"],
  };

  const { statusCode, data } = await whenCreated(world, liveKey, {
    name: "Office",
    mode: "live",
    ...limits,
  });

  expect(statusCode).toBe(201);
  expect(data).toMatchObject({
    expires_at: "2026-11-30T23:00:00.000Z",
    networks: ["192.0.2.0/24", "2001:db8::1"],
  });
});

test("a test key creates test keys, and a request of one for a live key answers 403", async () => {
  const { world, testKey } = await given();

  expect((await whenCreated(world, testKey, { name: "T", mode: "test" })).statusCode).toBe(201);
  expect(await whenCreated(world, testKey)).toMatchObject({
    statusCode: 403,
    error: { message: "A test key manages test keys only. Nothing was charged." },
  });
});

test.each(asRows<[string, unknown, string]>`
  no body | ${undefined} | body: is required
  a list as body | [] | body: must be a JSON object
  no name | ${{ mode: "live" }} | name: is required
  a name of blanks | ${{ name: "  ", mode: "live" }} | name: must not be empty
  a name over 64 characters | ${{ name: "x".repeat(65), mode: "live" }} | name: must have at most 64 characters
  a name that is a number | ${{ name: 5, mode: "live" }} | name: must be string
  an unknown mode | ${{ name: "x", mode: "prod" }} | mode: must be live or test
  an unknown scope | ${{ name: "x", mode: "live", scopes: ["admin"] }} | scopes.0: must be one of verification:read
  an empty list of scopes | ${{ name: "x", mode: "live", scopes: [] }} | scopes: must name at least one scope
  an expiry that has passed | ${{ name: "x", mode: "live", expires_at: "2026-11-21T00:00:00Z" }} | expires_at: must be in the future
  an expiry without an offset | ${{ name: "x", mode: "live", expires_at: "2027-01-01" }} | expires_at: must be a timestamp
  a malformed network | ${{ name: "x", mode: "live", networks: ["192.0.2.0/33"] }} | networks.0: must be an address block
  an empty list of networks | ${{ name: "x", mode: "live", networks: [] }} | networks: must name at least one block
  more networks than fifty | ${{ name: "x", mode: "live", networks: Array.from({ length: 51 }, () => "192.0.2.1") }} | networks: must have at most 50 entries
  an unknown field | ${{ name: "x", mode: "live", scope: "a" }} | scope: is not a known field
`)(
  "creating a key with %s answers 400, states the field, and stores no key",
  async (_, body, words) => {
    const { world, liveKey } = await given();

    const refused = await whenCreated(world, liveKey, body ?? null);

    expect(refused).toMatchObject({ statusCode: 400, error: { code: "INVALID_REQUEST" } });
    expect(refused.error.message).toContain(body === undefined ? "body: must be" : words);
    const { data } = await send(world, "GET /v1/api-keys", { key: liveKey });
    expect(data.api_keys).toHaveLength(2);
  },
);

test("a key request with many mistakes returns the first few of them and their total", async () => {
  const { world, liveKey } = await given();
  const scopes = Array.from({ length: 9 }, () => "x".repeat(1_000));

  const { error } = await whenCreated(world, liveKey, { name: "x", mode: "live", scopes });

  expect(error.message).toContain("and 6 more");
  expect(error.details).toHaveLength(9);
  expect(error.message).not.toContain("xxx");
});

test("an overlong list of scopes returns one fault, even with several wrong entries", async () => {
  const { world, liveKey } = await given();
  // As many as fit in the body of this operation.
  const scopes = Array.from({ length: 50_000 }, () => 1);

  const { error } = await whenCreated(world, liveKey, { name: "x", mode: "live", scopes });

  expect(error.details).toEqual([{ field: "scopes", message: "must have at most 10 entries" }]);
});

test("the error of a key request shortens an unknown field's endless name to its beginning", async () => {
  const { world, liveKey } = await given();

  const { error } = await whenCreated(world, liveKey, {
    name: "x",
    mode: "live",
    ["y".repeat(10_000)]: 1,
  });

  expect(error.details).toEqual([
    { field: `${"y".repeat(100)}…`, message: "is not a known field" },
  ]);
});

test("a test key does not count towards the limit of live keys and does not see their number", async () => {
  const { world, liveKey, testKey } = await given({ plan: "scale" });
  const test = { name: "T", mode: "test" };
  for (let keys = 1; keys < KEYS_MAX; keys++) await whenCreated(world, testKey, test);

  expect((await whenCreated(world, testKey, test)).statusCode).toBe(409);
  expect((await whenCreated(world, liveKey)).statusCode).toBe(201);
});

test("racing requests never create more than a hundred keys", async () => {
  const { world, liveKey } = await given({ plan: "scale" });

  const answers = await Promise.all(Array.from({ length: 150 }, () => whenCreated(world, liveKey)));

  const statuses = answers.map(({ statusCode }) => statusCode);
  expect(statuses.filter((status) => status === 201)).toHaveLength(KEYS_MAX - 1);
  expect(statuses.filter((status) => status === 409)).toHaveLength(150 - KEYS_MAX + 1);
});

test("revoking a key frees its place under the limit", async () => {
  const { world, liveKey } = await given({ plan: "scale" });
  for (let keys = 1; keys < KEYS_MAX; keys++) await whenCreated(world, liveKey);
  await send(world, "DELETE /v1/api-keys/key_3", { key: liveKey });

  expect((await whenCreated(world, liveKey)).statusCode).toBe(201);
  expect((await whenCreated(world, liveKey)).statusCode).toBe(409);
});

test("the service stores a key only as a hash that includes the pepper", async () => {
  const { world, liveKey, table } = await given();
  const stored = JSON.stringify(table.items());

  expect(stored).not.toContain(liveKey);
  expect(stored).not.toContain(liveKey.slice(8, 20));
  const peppered = { ...world, settings: { ...world.settings, keyPepper: "another pepper" } };
  expect((await send(peppered, "GET /v1/account", { key: liveKey })).statusCode).toBe(401);
});

test("the service accepts old keys while the old pepper is configured, and new keys after its removal", async () => {
  const { world, liveKey, account } = await given();
  const old = world.settings.keyPepper;
  const named = { keyPepper: "a new pepper", keyPepperBefore: old };
  const rotated = { ...world, settings: { ...world.settings, ...named } };
  const made = await givenKey(rotated, account, { scopes: ["account:read"] });
  const ended = {
    ...world,
    settings: { ...world.settings, keyPepper: "a new pepper", keyPepperBefore: null },
  };
  const read = (of: typeof world, key: string) => send(of, "GET /v1/account", { key });

  expect((await read(rotated, liveKey)).statusCode).toBe(200);
  expect((await read(rotated, made)).statusCode).toBe(200);
  expect((await read(ended, made)).statusCode).toBe(200);
  expect((await read(ended, liveKey)).statusCode).toBe(401);
  // Revoking finds a key of either pepper.
  const { data } = await send(rotated, "GET /v1/api-keys", { key: liveKey });
  for (const { key_id: id } of data.api_keys)
    await send(rotated, `DELETE /v1/api-keys/${id}`, { key: liveKey });
  expect((await read(rotated, liveKey)).statusCode).toBe(401);
});

test("the list of keys answers 200, newest first, without the keys themselves", async () => {
  const { world, account, liveKey, testKey, later } = await given();
  later(1_000);
  const scoped = await givenKey(world, account, { scopes: ["webhooks:read"] });

  const { statusCode, data } = await send(world, "GET /v1/api-keys", { key: liveKey });

  expect(statusCode).toBe(200);
  expect(data.api_keys[0]).toEqual({
    key_id: "key_3",
    name: "Scoped",
    mode: "live",
    scopes: ["webhooks:read"],
    hint: `mp_live_…${scoped.slice(-4)}`,
    created_at: "2026-11-21T00:00:01.000Z",
    expires_at: null,
    networks: null,
    public: null,
    last_used_at: null,
  });
  expect(data.api_keys.map((key: any) => key.mode).toSorted()).toEqual(["live", "live", "test"]);
  for (const key of [liveKey, testKey, scoped]) expect(JSON.stringify(data)).not.toContain(key);
});

test("each listed key shows its last use, rounded to the hour", async () => {
  const { world, liveKey, testKey } = await given();
  await send(world, "GET /v1/account", { key: testKey });

  const { data } = await send(world, "GET /v1/api-keys", { key: liveKey });

  const uses = data.api_keys.map((key: any) => [key.mode, key.last_used_at]);
  expect(uses.toSorted()).toEqual([
    ["live", "2026-11-21T00:00:00.000Z"],
    ["test", "2026-11-21T00:00:00.000Z"],
  ]);
});

test("revoking a key answers 200, and the key opens no route afterwards", async () => {
  const { world, account, liveKey } = await given();
  const leaked = await givenKey(world, account, { scopes: ["account:read"] });
  expect((await send(world, "GET /v1/account", { key: leaked })).statusCode).toBe(200);

  const revoked = await send(world, "DELETE /v1/api-keys/key_3", { key: liveKey });

  expect(revoked).toMatchObject({ statusCode: 200, data: { key_id: "key_3", revoked: true } });
  expect((await send(world, "GET /v1/account", { key: leaked })).statusCode).toBe(401);
  const { data } = await send(world, "GET /v1/api-keys", { key: liveKey });
  expect(data.api_keys.map((key: any) => key.key_id)).not.toContain("key_3");
});

test("revoking a revoked key answers 404", async () => {
  const { world, liveKey } = await given();
  await send(world, "DELETE /v1/api-keys/key_2", { key: liveKey });

  expect(await send(world, "DELETE /v1/api-keys/key_2", { key: liveKey })).toMatchObject({
    statusCode: 404,
    error: { code: "NOT_FOUND" },
  });
});

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

test.each(asRows<[string, JWTPayload, readonly Scope[]]>`
  scope | ${{ scope: "account:read verification:read" }} | [verification:read account:read]
  scp as a list | ${{ scope: "", scp: ["account:read"] }} | [account:read]
  scp as a text | ${{ scope: "", scp: "account:read webhooks:read" }} | [webhooks:read account:read]
  both claims | ${{ scp: ["verification:read"] }} | [verification:read account:read]
  unknown scopes beside a known one | ${{ scope: "openid account:read admin *" }} | [account:read]
`)("the service reads a token's scopes from %s", async (_where, claims, scopes) => {
  const { ask } = await givenTrust();

  expect((await ask(claims)).data.key.scopes).toEqual(scopes);
});

describe.each(programEndpoints.filter(({ access }) => access !== "public"))(
  "$route",
  (endpoint) => {
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
  },
);

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
