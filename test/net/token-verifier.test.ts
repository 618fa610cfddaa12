import { createSecretKey } from "node:crypto";
import { createTokenVerifier } from "@mailproof/net/token-verifier";
import { type JWTPayload, SignJWT, UnsecuredJWT } from "jose";
import { expect, test } from "vitest";
import { START } from "../app/given.ts";
import { givenIssuer } from "../app/issuer.ts";
import { createVirtualTime } from "../app/virtual-time.ts";

const AUDIENCE = "https://api.example.com/mcp";
const NOW = START.getTime() / 1000;
const inForce = { aud: AUDIENCE, sub: "ann", exp: NOW + 300 };

const givenTokens = async (of: Parameters<typeof givenIssuer>[0] = {}, audience = AUDIENCE) => {
  const issuer = await givenIssuer(of);
  const { now, later } = createVirtualTime(START);
  const tokens = createTokenVerifier({ issuer: issuer.issuer, audience }, now);
  return { ...issuer, ...tokens, later };
};

test.each<[string, JWTPayload, boolean]>([
  ["in force", inForce, true],
  ["over for less than a minute", { ...inForce, exp: NOW - 59 }, true],
  ["over for a minute", { ...inForce, exp: NOW - 60 }, false],
  ["good from within a minute", { ...inForce, nbf: NOW + 60 }, true],
  ["good only later", { ...inForce, nbf: NOW + 61 }, false],
  ["given out within a minute", { ...inForce, iat: NOW + 60 }, true],
  ["given out only later", { ...inForce, iat: NOW + 61 }, false],
  ["without an end", { aud: AUDIENCE, sub: "ann" }, false],
  ["for us among others", { ...inForce, aud: ["https://b.example", AUDIENCE] }, true],
  ["for us with a slash", { ...inForce, aud: `${AUDIENCE}/` }, true],
  ["for another service", { ...inForce, aud: "https://api.example.com" }, false],
  ["for no service", { exp: NOW + 300 }, false],
  ["of another issuer", { ...inForce, iss: "https://issuer.example.com" }, false],
  ["of no issuer", { ...inForce, iss: "" }, false],
])("the verifier judges the claims of a token %s", async (_which, claims, isGood) => {
  const { sign, verify } = await givenTokens();

  const found = await verify(await sign(claims));

  expect(found !== undefined).toBe(isGood);
});

test.each(["JWT", "at+jwt", "AT+JWT", "application/at+jwt"])(
  "the verifier accepts an access token of the type %s",
  async (typ) => {
    const { sign, verify } = await givenTokens();

    expect(await verify(await sign(inForce, { header: { typ } }))).toBeDefined();
  },
);

test.each(["logout+jwt", "secevent+jwt", "dpop+jwt", "application/token-introspection+jwt", ""])(
  "the verifier refuses a token of the type %s that its issuer signed",
  async (typ) => {
    const { sign, verify } = await givenTokens();

    expect(await verify(await sign(inForce, { header: { typ } }))).toBeUndefined();
  },
);

test.each(["RS256", "PS256", "ES256", "EdDSA"])(
  "the verifier accepts a token signed by %s",
  async (alg) => {
    const { sign, verify, addKey } = await givenTokens();
    await addKey("another", alg);

    expect(await verify(await sign(inForce))).toMatchObject({ sub: "ann" });
  },
);

test.each(["RS512", "ES384"])(
  "the verifier refuses a token signed by %s, which is not on the list",
  async (alg) => {
    const { sign, verify, addKey } = await givenTokens();
    await addKey("another", alg);

    expect(await verify(await sign(inForce))).toBeUndefined();
  },
);

test("the verifier refuses a token without a signature", async () => {
  const { issuer, verify, asked: requestedPaths } = await givenTokens();
  const token = new UnsecuredJWT({ ...inForce, iss: issuer }).encode();

  expect(await verify(token)).toBeUndefined();
  expect(await verify(`${token}AAAA`)).toBeUndefined();
  expect(requestedPaths).toEqual([]);
});

test("the verifier refuses a token signed with the public key as a secret", async () => {
  const { issuer, verify, publicText } = await givenTokens();
  const secret = createSecretKey(Buffer.from(await publicText()));
  const token = await new SignJWT({ ...inForce, iss: issuer })
    .setProtectedHeader({ alg: "HS256", kid: "first" })
    .sign(secret);

  expect(await verify(token)).toBeUndefined();
});

test("the verifier refuses a token with changed claims, and half of a token", async () => {
  const { sign, verify } = await givenTokens();
  const [header, , signature] = (await sign(inForce)).split(".");
  const others = Buffer.from(JSON.stringify({ ...inForce, sub: "eve" })).toString("base64url");

  expect(await verify(`${header}.${others}.${signature}`)).toBeUndefined();
  expect(await verify(`${header}.${others}.`)).toBeUndefined();
  expect(await verify("a.b.c")).toBeUndefined();
});

test("the verifier ignores a key in the token's header, and fetches no key from the header's address", async () => {
  const { issuer, verify } = await givenTokens();
  const eve = await givenIssuer();
  const token = await eve.sign(
    { ...inForce, iss: issuer },
    { header: { jku: `${eve.issuer}/keys` } },
  );

  expect(await verify(token)).toBeUndefined();
  expect(eve.asked).toEqual([]);
});

test("the verifier refuses a token with an unknown critical header", async () => {
  const { issuer, verify, addKey } = await givenTokens();
  const { kid, alg, privateKey } = await addKey("another");
  const signed = (header: object) =>
    new SignJWT({ ...inForce, iss: issuer })
      .setProtectedHeader({ alg, kid, odd: true, ...header })
      .sign(privateKey, { crit: { odd: true } });

  expect(await verify(await signed({}))).toBeDefined();
  expect(await verify(await signed({ crit: ["odd"] }))).toBeUndefined();
  expect(await verify(await signed({ typ: 5 }))).toBeUndefined();
});

test("the verifier fetches the keys once for any number of concurrent tokens", async () => {
  const { sign, verify, asked: requestedPaths } = await givenTokens();
  const token = await sign(inForce);

  await Promise.all(Array.from({ length: 20 }, () => verify(token)));

  expect(requestedPaths).toEqual(["/.well-known/openid-configuration", "/keys"]);
});

test("the verifier finds a new key while the old ones are still fresh", async () => {
  const { sign, verify, addKey, later } = await givenTokens();
  const old = await sign(inForce);
  await verify(old);
  await addKey("second");
  later(10_000);

  expect(await verify(await sign(inForce))).toMatchObject({ sub: "ann" });
  expect(await verify(old)).toMatchObject({ sub: "ann" });
});

test("the verifier refuses a withdrawn key after ten minutes", async () => {
  const { sign, verify, addKey, forget, later } = await givenTokens();
  const old = await sign({ ...inForce, exp: NOW + 3_600 });
  await verify(old);
  await addKey("second");
  forget("first");
  later(599_999);
  expect(await verify(old)).toBeDefined();
  later(1);

  expect(await verify(old)).toBeUndefined();
});

test("a flood of tokens with unknown keys fetches the issuer's keys once in ten seconds", async () => {
  const { sign, verify, asked: requestedPaths, later } = await givenTokens();
  const flood = await Promise.all(
    Array.from({ length: 50 }, (_, number) => sign(inForce, { kid: `made-up-${number}` })),
  );
  await verify(await sign(inForce));
  requestedPaths.length = 0;

  for (const token of flood) expect(await verify(token)).toBeUndefined();
  expect(requestedPaths).toEqual([]);
  later(10_000);
  for (const token of flood) expect(await verify(token)).toBeUndefined();

  expect(requestedPaths).toEqual(["/.well-known/openid-configuration", "/keys"]);
});

test("the issuer's last keys serve for an hour while the issuer is down", async () => {
  const { sign, verify, goDown, later } = await givenTokens();
  const token = await sign({ ...inForce, exp: NOW + 7_200 });
  await verify(token);
  goDown();
  later(3_599_999);
  expect(await verify(token)).toBeDefined();
  later(1);

  await expect(verify(token)).rejects.toThrow("answered 503");
});

test("a verification with valid keys does not wait for an issuer that is down", async () => {
  let answersAfter: Promise<unknown> | undefined;
  const ctx = await givenTokens({
    say: async (path) => {
      await answersAfter;
      return ctx.documents(path);
    },
  });
  const token = await ctx.sign({ ...inForce, exp: NOW + 7_200 });
  await ctx.verify(token);
  ctx.goDown();
  ctx.later(600_000);
  await ctx.verify(token);
  ctx.comeBack();
  await ctx.addKey("second");
  ctx.later(10_000);

  answersAfter = ctx.verify(token);

  expect(await answersAfter).toBeDefined();
  // The answer was not lost: a verification that needs it waits for it.
  expect(await ctx.verify(await ctx.sign({ ...inForce, exp: NOW + 7_200 }))).toBeDefined();
});

test("the verifier neither accepts nor refuses a token under a new key while the issuer is down", async () => {
  const {
    sign,
    verify,
    addKey,
    goDown,
    comeBack: goUp,
    later,
    asked: requestedPaths,
  } = await givenTokens();
  await verify(await sign(inForce));
  await addKey("second");
  const token = await sign(inForce);
  goDown();
  later(10_000);
  await expect(verify(token)).rejects.toThrow("answered 503");
  requestedPaths.length = 0;
  await expect(verify(token)).rejects.toThrow("answered 503");
  expect(requestedPaths).toEqual([]);
  goUp();
  later(10_000);

  expect(await verify(token)).toMatchObject({ sub: "ann" });
});

test("the verifier finds the keys of an issuer with a path by either metadata document", async () => {
  const { issuer, sign, verify, asked: requestedPaths } = await givenTokens({ at: "/realms/shop" });
  expect(await verify(await sign(inForce))).toBeDefined();
  expect(requestedPaths).toEqual([
    "/realms/shop/.well-known/openid-configuration",
    "/realms/shop/keys",
  ]);

  const other = await givenTokens({
    at: "/shop",
    say: async (path) =>
      path === "/.well-known/oauth-authorization-server/shop"
        ? { issuer: other.issuer, jwks_uri: `${other.issuer}/keys` }
        : path === "/shop/keys"
          ? await other.documents(path)
          : undefined,
  });
  expect(issuer).not.toBe(other.issuer);
  expect(await other.verify(await other.sign(inForce))).toBeDefined();
});

test.each<[string, (issuer: string) => unknown, string]>([
  [
    "another issuer's",
    () => ({ issuer: "https://x.example" }),
    "is the metadata of another issuer",
  ],
  ["without an address for keys", (issuer) => ({ issuer }), "names no jwks_uri"],
  [
    "with keys behind plain http elsewhere",
    (issuer) => ({ issuer, jwks_uri: "http://192.0.2.1/keys" }),
    "names keys that are not behind https",
  ],
  ["of the wrong form", () => [], "is the metadata of another issuer"],
  ["very long", () => "x".repeat(300_000), "is over 256000 bytes"],
])("the verifier refuses metadata that is %s", async (_what, metadata, message) => {
  const ctx = await givenTokens({ say: () => metadata(ctx.issuer) });

  await expect(ctx.verify(await ctx.sign(inForce))).rejects.toThrow(message);
});

test("keys of the wrong form count as the issuer's fault, not the token's", async () => {
  const ctx = await givenTokens({
    say: (path) =>
      path === "/keys" ? { keys: "none" } : { issuer: ctx.issuer, jwks_uri: `${ctx.issuer}/keys` },
  });

  await expect(ctx.verify(await ctx.sign(inForce))).rejects.toThrow("JSON Web Key Set");
});
