import { createHash } from "node:crypto";
import { type ControlFault, checkControl } from "@mailproof/core/control/check-control";
import { createIssuers } from "@mailproof/core/control/issuers";
import { toPublicJwk } from "@mailproof/lab/issuer";
import { createSigningKey, type TokenChanges } from "@mailproof/lab/issuer-tokens";
import { readAddress } from "@mailproof/mail/address-cell";
import type { FetchedDocument } from "@mailproof/mail/hints/fetched-document";
import { exportJWK, generateKeyPair } from "jose";
import { expect, test } from "vitest";
import { givenWorld, START } from "../../app/given.ts";
import { createZoneDns } from "../../app/zone.ts";
import { asRows } from "../../runner/as-rows.ts";
import {
  EMAIL,
  givenIssuer,
  ISSUER,
  KEYS_URL,
  METADATA,
  METADATA_URL,
  NONCE,
  ORIGIN,
} from "../../things/control.ts";

type Ctx = Awaited<ReturnType<typeof givenIssuer>>;
type Asked = { readonly nonce?: string; readonly origin?: string; readonly email?: string };

const given = (options?: Parameters<typeof givenIssuer>[1]) =>
  givenIssuer(givenWorld().world, options);

const ask = ({ world }: Ctx, token: string, { nonce, origin, email = EMAIL }: Asked = {}) =>
  checkControl(world, {
    token,
    nonce: nonce ?? NONCE,
    origin: origin ?? ORIGIN,
    address: readAddress(email).address,
    mode: "live",
    waitMs: 10_000,
  });

const seconds = (fromNow: number) => START.getTime() / 1_000 + fromNow;
const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");

const CONTROLLED = { status: "controlled", issuer: ISSUER, profile: "draft-02" };

test("the check of a good token asks only the issuer that DNS names", async () => {
  const ctx = await given();

  expect(await ask(ctx, await ctx.present())).toEqual(CONTROLLED);
  expect(ctx.asked.names).toEqual(["_email-verification.example.com"]);
  expect(ctx.asked.urls).toEqual([METADATA_URL, KEYS_URL]);
});

test.each(asRows<[string, Parameters<typeof givenIssuer>[1]]>`
  with EdDSA and keys without an id, as Gmail issues it | ${{ algorithm: "EdDSA", kid: null }}
  with ES256 | ${{ algorithm: "ES256" }}
  when the record states the issuer as an origin | ${{ zone: { "_email-verification.example.com": { TXT: [`iss=https://${ISSUER}`] } } }}
`)("a good token proves control %s", async (_, options) => {
  const ctx = await given(options);

  expect(await ask(ctx, await ctx.present())).toMatchObject({ status: "controlled" });
});

test.each(asRows<[string, TokenChanges, string]>`
  a token whose issuer is only a host | ${{ issuedClaims: { iss: ISSUER } }} | chrome-2026-10
  a token without the id of a key | ${{ issuedHeader: { kid: undefined } }} | chrome-2026-10
  a token with claims of its own | ${{ issuedClaims: { is_private_email: true } }} | draft-02
  a token of the greatest allowed age | ${{ issuedClaims: { iat: seconds(-359) } }} | draft-02
  a token whose browser's clock is a minute ahead | ${{ boundClaims: { iat: seconds(60) } }} | draft-02
`)("%s proves control", async (_, changes, profile) => {
  const ctx = await given();

  expect(await ask(ctx, await ctx.present(changes))).toEqual({ ...CONTROLLED, profile });
});

test("the check compares an address without regard to case, and its domain in A-labels or U-labels", async () => {
  const ctx = await given({
    zone: { "_email-verification.xn--bcher-kva.example": { TXT: [`iss=${ISSUER}`] } },
  });
  const token = await ctx.present({}, { email: "Ann@BÜCHER.example" });

  expect(await ask(ctx, token, { email: "aNN@xn--bcher-kva.example" })).toEqual(CONTROLLED);
});

const holder = async () =>
  exportJWK((await generateKeyPair("ES256", { extractable: true })).privateKey);

test.each(asRows<[ControlFault, string, TokenChanges | (() => Promise<TokenChanges>), Asked?]>`
  type_wrong | another typ | ${{ issuedHeader: { typ: "jwt" } }}
  type_wrong | another typ of the browser's part | ${{ boundHeader: { typ: "jwt" } }}
  type_wrong | no typ | ${{ issuedHeader: { typ: undefined } }}
  malformed | an extension | ${{ issuedHeader: { crit: ["b64"], b64: true } }}
  malformed | no issuer | ${{ issuedClaims: { iss: undefined } }}
  malformed | an issuer with a path | ${{ issuedClaims: { iss: `https://${ISSUER}/a` } }}
  malformed | an IP address as issuer | ${{ issuedClaims: { iss: "https://127.0.0.1" } }}
  malformed | an issuer in capitals | ${{ issuedClaims: { iss: "https://Issuer.example" } }}
  malformed | no iat | ${{ issuedClaims: { iat: undefined } }}
  malformed | an iat that is a text | ${{ boundClaims: { iat: "1" } }}
  malformed | no email | ${{ issuedClaims: { email: undefined } }}
  malformed | no cnf | ${{ issuedClaims: { cnf: undefined } }}
  malformed | no nonce | ${{ boundClaims: { nonce: undefined } }}
  malformed | several audiences | ${{ boundClaims: { aud: [ORIGIN] } }}
  email_unverified | an address that is not verified | ${{ issuedClaims: { email_verified: false } }}
  email_unverified | a text for true | ${{ issuedClaims: { email_verified: "true" } }}
  browser_key_invalid | no key | ${{ issuedClaims: { cnf: { jwk: {} } } }}
  browser_key_invalid | a key with its private part | ${async () => ({ issuedClaims: { cnf: { jwk: await holder() } } })}
  browser_key_invalid | a key of another algorithm | ${async () => ({ issuedClaims: { cnf: { jwk: toPublicJwk(await createSigningKey("Ed25519")) } } })}
  expired | an old token | ${{ issuedClaims: { iat: seconds(-360) } }}
  expired | an old browser's part | ${{ boundClaims: { iat: seconds(-360) } }}
  expired | a token whose exp is past | ${{ issuedClaims: { exp: seconds(-61) } }}
  not_yet_valid | a token from the future | ${{ issuedClaims: { iat: seconds(61) } }}
  not_yet_valid | a browser's part from the future | ${{ boundClaims: { iat: seconds(61) } }}
  hash_mismatch | another token's hash | ${{ boundClaims: { sd_hash: "AA" } }}
  nonce_mismatch | another nonce | ${{}} | ${{ nonce: "another" }}
  nonce_mismatch | an empty nonce | ${{ boundClaims: { nonce: "" } }} | ${{ nonce: "" }}
  origin_mismatch | another page | ${{}} | ${{ origin: "https://shop.example:8443" }}
  address_mismatch | another address | ${{}} | ${{ email: "bob@example.com" }}
  address_mismatch | an address of another domain | ${{}} | ${{ email: "ann@example.org" }}
  address_mismatch | no address | ${{}} | ${{ email: "ann" }}
  address_mismatch | an address literal | ${{ issuedClaims: { email: "ann@[192.0.2.1]" } }} | ${{ email: "ann@[192.0.2.1]" }}
`)("the check answers %s for %s without a request", async (status, _, changes, asked) => {
  const ctx = await given();
  const token = await ctx.present(typeof changes === "function" ? await changes() : changes);

  expect(await ask(ctx, token, asked)).toEqual({ status });
  expect(ctx.asked).toEqual({ names: [], urls: [] });
});

test.each(["none", "None", "HS256", "RS256", "Ed448", "ES384", 7, undefined])(
  "the check answers algorithm_unsupported when either part states the algorithm %s",
  async (alg) => {
    const ctx = await given();
    const [issued = "", bound = ""] = (await ctx.present()).split("~");
    const rewrite = (part: string, typ: string) =>
      part.replace(/^[\w-]+/, encode({ alg, typ, kid: "k1" }));

    const status = "algorithm_unsupported";
    expect(await ask(ctx, `${rewrite(issued, "evt+jwt")}~${bound}`)).toEqual({ status });
    expect(await ask(ctx, `${issued}~${rewrite(bound, "kb+jwt")}`)).toEqual({ status });
    expect(ctx.asked.names).toEqual([]);
  },
);

test("the check answers malformed for a text that is no token", async () => {
  const ctx = await given();
  const token = await ctx.present();
  const [issued = "", bound = ""] = token.split("~");
  const empty = encode({});
  const texts = [
    "",
    "~",
    issued,
    `${issued}~`,
    `~${bound}`,
    `${issued}~d~${bound}`,
    `${issued}~~${bound}`,
    `${token}~`,
    `${token}=`,
    `${encode(null)}.${empty}.AA~${bound}`,
    `${encode([])}.${empty}.AA~${bound}`,
    `${encode({ typ: "evt+jwt" })}.${encode([1])}.AA~${bound}`,
    `AA.AA.AA~${bound}`,
    `${"A".repeat(17_000)}.AA.AA~${bound}`,
  ];
  const results = await Promise.all(texts.map((text) => ask(ctx, text)));

  expect(results.map(({ status }) => status)).toEqual(texts.map(() => "malformed"));
  expect(ctx.asked).toEqual({ names: [], urls: [] });
});

test.each<[ControlFault, string, string[] | "SERVFAIL" | "TIMEOUT"]>([
  ["dns_failed", "that cannot be looked up", "SERVFAIL"],
  ["dns_failed", "that is not answered", "TIMEOUT"],
  ["not_delegated", "that is missing", []],
  ["delegation_invalid", "with two records", [`iss=${ISSUER}`, "iss=other.example"]],
  ["delegation_invalid", "beside another text", [`iss=${ISSUER}`, "v=spf1 -all"]],
  ["delegation_invalid", "of another form", ["issuer.example"]],
  ["delegation_invalid", "to an IP address", ["iss=127.0.0.1"]],
  ["delegation_invalid", "to an IPv6 address", ["iss=https://[::1]"]],
  ["delegation_invalid", "to a name of one label", ["iss=localhost"]],
  ["delegation_invalid", "with a port", [`iss=https://${ISSUER}:8443`]],
  ["delegation_invalid", "with a user", [`iss=https://a@${ISSUER}`]],
  ["delegation_invalid", "over http", [`iss=http://${ISSUER}`]],
  ["issuer_mismatch", "to another issuer", ["iss=other.example"]],
])("the check answers %s for a delegation %s", async (status, _, TXT) => {
  const ctx = await given({ zone: { "_email-verification.example.com": { TXT } } });

  expect(await ask(ctx, await ctx.present())).toEqual({ status });
  expect(ctx.asked.urls).toEqual([]);
});

const answer = (status: number) => (ctx: Ctx, url: string) => ctx.serve(url, "", { status });
const failure = (why: Parameters<Ctx["fail"]>[1]) => (ctx: Ctx, url: string) => ctx.fail(url, why);

test.each<[ControlFault | "missing", string, (ctx: Ctx, url: string) => void]>([
  ["issuer_not_public", "at a private address", failure("private_address")],
  ["missing", "at a host that does not exist", failure("name_not_found")],
  ["missing", "at a port that may not be called", failure("port_not_allowed")],
  ["issuer_unreachable", "that time out", failure("timeout")],
  ["issuer_unreachable", "of a host that refuses", failure("connect_refused")],
  ["issuer_unreachable", "without a certificate", failure("tls_failed")],
  ["issuer_unreachable", "that our own fault hides", failure("internal")],
  ["missing", "behind a redirect", answer(302)],
  ["missing", "that answer 410", answer(410)],
  ["issuer_unreachable", "of a busy host", answer(429)],
  ["issuer_unreachable", "of a broken host", answer(503)],
  ["missing", "that are cut", (ctx, url) => ctx.serve(url, "{", { isComplete: false })],
  ["missing", "that are no JSON", (ctx, url) => ctx.serve(url, "<html>")],
  ["missing", "that are a list", (ctx, url) => ctx.serve(url, [])],
])("the check answers %s for documents %s", async (status, _, change) => {
  for (const [url, missing] of [
    [METADATA_URL, "issuer_invalid"],
    [KEYS_URL, "keys_invalid"],
  ] as const) {
    const ctx = await given();
    change(ctx, url);

    expect(await ask(ctx, await ctx.present())).toEqual({
      status: status === "missing" ? missing : status,
    });
  }
});

test.each(asRows<[ControlFault, string, object]>`
  issuer_invalid | another issuer | ${{ issuer: "https://other.example" }}
  issuer_invalid | no place of keys | ${{ jwks_uri: undefined }}
  issuer_invalid | no place of issuance | ${{ issuance_endpoint: undefined }}
  issuer_invalid | keys over http | ${{ jwks_uri: `http://${ISSUER}/keys` }}
  issuer_invalid | keys of another host | ${{ jwks_uri: "https://other.example/keys" }}
  issuer_invalid | keys of a host that ends alike | ${{ jwks_uri: `https://not${ISSUER}/keys` }}
  issuer_invalid | keys of a host above | ${{ jwks_uri: "https://example/keys" }}
  issuer_invalid | keys at a private address | ${{ jwks_uri: "https://169.254.169.254/keys" }}
  issuer_invalid | keys at another port | ${{ jwks_uri: `https://${ISSUER}:8443/keys` }}
  issuer_invalid | keys with a password | ${{ jwks_uri: `https://a:b@${ISSUER}/keys` }}
  issuer_invalid | keys behind an @ | ${{ jwks_uri: `https://${ISSUER}@other.example/keys` }}
  issuer_invalid | issuance elsewhere | ${{ issuance_endpoint: "https://other.example/issue" }}
  algorithm_unsupported | other algorithms | ${{ signing_alg_values_supported: ["ES256"] }}
  issuer_invalid | a text in place of its algorithms | ${{ signing_alg_values_supported: "Ed25519" }}
`)("the check answers %s for a document with %s", async (status, _, change) => {
  const ctx = await given();
  ctx.serve(METADATA_URL, { ...METADATA, ...change });

  expect(await ask(ctx, await ctx.present())).toEqual({ status });
  expect(ctx.asked.urls).toEqual([METADATA_URL]);
});

test("the check accepts keys at a host below the issuer's, and a document without issuer and algorithms", async () => {
  const ctx = await given();
  const jwks_uri = `https://keys.${ISSUER}/all`;
  ctx.serve(METADATA_URL, { issuance_endpoint: METADATA.issuance_endpoint, jwks_uri });
  ctx.serve(jwks_uri, { keys: [toPublicJwk(ctx.issuerKey)] });

  expect(await ask(ctx, await ctx.present())).toEqual(CONTROLLED);
});

test("the check waits for a silent issuer as long as the caller waits", async () => {
  const ctx = await given();
  const issuers = {
    ...ctx.world.issuers,
    fetchDocument: () => new Promise<never>(() => undefined),
  };

  expect(await ask({ ...ctx, world: { ...ctx.world, issuers } }, await ctx.present())).toEqual({
    status: "issuer_unreachable",
  });
});

test("the check refuses a signature by a key that the issuer does not publish", async () => {
  const ctx = await given();
  const forged = { ...(await createSigningKey("Ed25519")) };
  const token = await ctx.present({ issuedHeader: { kid: "k1" } }, { issuerKey: forged });

  expect(await ask(ctx, token)).toEqual({ status: "signature_invalid" });
});

test("the check refuses a signature by a key with another id", async () => {
  const ctx = await given();

  expect(await ask(ctx, await ctx.present({ issuedHeader: { kid: "k2" } }))).toEqual({
    status: "key_not_found",
  });
});

test("the check refuses a signature of a browser that does not hold the token's key", async () => {
  const ctx = await given();
  const other = await createSigningKey("ES256");
  const token = await ctx.present({}, { browserKey: other });
  const claims = { cnf: { jwk: toPublicJwk(ctx.browserKey) } };
  const stolen = await ctx.present({ issuedClaims: claims }, { browserKey: other });

  expect(await ask(ctx, token)).toEqual(CONTROLLED);
  expect(await ask(ctx, stolen)).toEqual({ status: "browser_signature_invalid" });
});

test("the check refuses claims that were changed after signing, even with a fitting hash", async () => {
  const ctx = await given();
  const [issued = "", bound = ""] = (await ctx.present({}, { email: "bob@example.com" })).split(
    "~",
  );
  const [header, claims = "", signature] = issued.split(".");
  const changed = { ...JSON.parse(Buffer.from(claims, "base64url").toString()), email: EMAIL };
  const forged = `${header}.${encode(changed)}.${signature}`;
  const sd_hash = createHash("sha256").update(`${forged}~`).digest("base64url");
  const rebound = (await ctx.present({ boundClaims: { sd_hash } })).split("~")[1];

  expect(await ask(ctx, `${forged}~${bound}`)).toEqual({ status: "hash_mismatch" });
  expect(await ask(ctx, `${forged}~${rebound}`)).toEqual({ status: "signature_invalid" });
});

test("the check ignores a key in the token's own header", async () => {
  const ctx = await given();
  const forged = await createSigningKey("Ed25519");
  const header = { kid: "k1", jwk: toPublicJwk(forged), jku: "https://evil.example/keys" };
  const token = await ctx.present({ issuedHeader: header }, { issuerKey: forged });

  expect(await ask(ctx, token)).toEqual({ status: "signature_invalid" });
  expect(ctx.asked.urls.filter((url) => url.includes("evil"))).toEqual([]);
});

test.each<[ControlFault, string, (key: object) => unknown[]]>([
  ["keys_invalid", "no key", () => []],
  ["keys_invalid", "only the private key", (key) => [{ ...key, d: "AA" }]],
  ["keys_invalid", "only shared secrets", () => [{ kty: "oct", k: "AA" }]],
  ["key_not_found", "a key for encryption", (key) => [{ ...key, use: "enc" }]],
  ["key_not_found", "a key that only signs", (key) => [{ ...key, key_ops: ["sign"] }]],
  ["key_not_found", "a key of another algorithm", (key) => [{ ...key, alg: "ES256" }]],
  ["signature_invalid", "a key that is no point", (key) => [{ ...key, x: "AA" }]],
])("the check answers %s when the issuer publishes %s", async (status, _, toKeys) => {
  const ctx = await given();
  ctx.serve(KEYS_URL, { keys: toKeys(toPublicJwk(ctx.issuerKey)) });

  expect(await ask(ctx, await ctx.present())).toEqual({ status });
});

test("the check tries up to sixteen fitting keys for a token without a key id", async () => {
  const ctx = await given({ kid: null });
  const others = await Promise.all(
    Array.from({ length: 15 }, async () => toPublicJwk(await createSigningKey("Ed25519"))),
  );
  const own = toPublicJwk(ctx.issuerKey);
  const odd = [null, 7, { kty: "RSA", n: "AA", e: "AQAB" }, { kty: "OKP", crv: "X25519", x: "AA" }];
  ctx.serve(KEYS_URL, { keys: [...odd, ...others, own] });
  expect(await ask(ctx, await ctx.present())).toMatchObject({ status: "controlled" });

  const late = await given({ kid: null });
  late.serve(KEYS_URL, { keys: [...others, others[0], toPublicJwk(late.issuerKey)] });
  expect(await ask(late, await late.present())).toEqual({ status: "signature_invalid" });
});

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

const givenDocument = (document: Partial<FetchedDocument>) => {
  const { later, world } = givenWorld();
  let fetches = 0;
  const issuers = createIssuers({
    dns: createZoneDns({}),
    now: world.now,
    fetchDocument: async () => {
      fetches += 1;
      return {
        kind: "answer",
        status: 200,
        contentType: "",
        body: "{}",
        isComplete: true,
        ...document,
      } as FetchedDocument;
    },
  });
  return { issuers, later, countFetches: () => fetches };
};

test.each<[lifeMs: number, Partial<FetchedDocument>]>([
  [MINUTE_MS, {}],
  [MINUTE_MS, { cacheControl: "max-age=5" }],
  [MINUTE_MS, { cacheControl: "no-store" }],
  [MINUTE_MS, { cacheControl: "no-cache, max-age=3600" }],
  [MINUTE_MS, { cacheControl: "s-maxage=3600" }],
  [MINUTE_MS, { cacheControl: "max-age=3600", status: 503 }],
  [MINUTE_MS, { cacheControl: "max-age=3600", isComplete: false }],
  [MINUTE_MS, { kind: "failed", why: "timeout" }],
  [60 * MINUTE_MS, { cacheControl: "public, max-age=3600, must-revalidate" }],
  [60 * MINUTE_MS, { cacheControl: 'Max-Age="3600"' }],
  [DAY_MS, { cacheControl: "max-age=999999999" }],
])("the cache keeps a document for %i ms when the fetch returns %j", async (lifeMs, document) => {
  const { issuers, later, countFetches } = givenDocument(document);
  await issuers.fetchDocument("https://issuer.example/");
  later(lifeMs - 1);
  await issuers.fetchDocument("https://issuer.example/");
  expect(countFetches()).toBe(1);
  later(1);
  await issuers.fetchDocument("https://issuer.example/");
  expect(countFetches()).toBe(2);
});

test("many concurrent callers share one fetch of a document", async () => {
  const { issuers, countFetches } = givenDocument({});
  await Promise.all(
    Array.from({ length: 50 }, () => issuers.fetchDocument("https://issuer.example/")),
  );

  expect(countFetches()).toBe(1);
});

test("the cache fetches an issuer's new key although the old keys are cached, at most once a minute", async () => {
  const { world, later } = givenWorld();
  const ctx = await givenIssuer(world);
  const ask = async (token: Promise<string>) =>
    (
      await checkControl(ctx.world, {
        token: await token,
        nonce: NONCE,
        origin: ORIGIN,
        address: readAddress(EMAIL).address,
        mode: "live",
        waitMs: 10_000,
      })
    ).status;
  ctx.serve(KEYS_URL, { keys: [toPublicJwk(ctx.issuerKey)] }, { cacheControl: "max-age=86400" });
  expect(await ask(ctx.present())).toBe("controlled");

  const made = await createSigningKey("Ed25519");
  const issuerKey = { ...made, jwk: { ...made.jwk, kid: "k2" } };
  const present = () => ctx.present({}, { issuerKey });
  expect(await ask(present())).toBe("key_not_found");
  ctx.serve(KEYS_URL, { keys: [toPublicJwk(issuerKey)] }, { cacheControl: "max-age=86400" });
  later(MINUTE_MS);
  expect(await ask(present())).toBe("key_not_found");
  later(1);
  expect(await ask(present())).toBe("controlled");

  expect(ctx.asked.urls.filter((url) => url === KEYS_URL)).toHaveLength(2);
});
