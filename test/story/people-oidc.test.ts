import {
  createHmac,
  createPublicKey,
  generateKeyPairSync,
  type JsonWebKey,
  sign,
} from "node:crypto";
import { openAccount } from "@mailproof/core/accounts/accounts";
import type { AppWorld } from "@mailproof/core/app-world";
import { credits } from "@mailproof/core/money/credits";
import { invite } from "@mailproof/core/people/invitations";
import { describe, expect, test } from "vitest";
import { BO, finishIn, givenProvider, setProvider, signIn, startIn, visit } from "../app/oidc.ts";
import { createBrowser, givenOwner } from "../app/people.ts";
import { BASE_URL } from "../app/send.ts";

const ROUTE = "POST /v1/sign-in/oidc";
const MINUTE_MS = 60_000;
/** The first error is that of a connection which was kept open. */
const DOWN = /failed: (?:ECONNREFUSED|ECONNRESET|other side closed)/;

/** Ada owns the account and has no identity; the provider knows Bo. */
const givenOidc = async () => {
  const owner = await givenOwner();
  const provider = await givenProvider(owner.world);
  setProvider(owner.world, provider.url);
  return { ...owner, ada: owner.accepted.data.signed_in.person_id as string, provider };
};

const createInvitation = async (world: AppWorld, fields: object = {}): Promise<string> => {
  const member = { kind: "member", account: "acc_1", role: "member", invitedBy: null } as const;
  return (await invite(world, { ...member, ...fields })).token;
};

/** Bo has joined the account with his identity. */
const givenBo = async () => {
  const app = await givenOidc();
  const browser = createBrowser(app.world);
  const invitation = await createInvitation(app.world, { email: BO.email });
  const joined = await signIn(browser, { invitation });
  return { ...app, browser, joined, bo: joined.data.person_id as string };
};

/** A response that begins no session and charges nothing. */
const refusal = (statusCode: number, why: RegExp) => ({
  statusCode,
  headers: expect.not.objectContaining({ "set-cookie": expect.anything() }),
  error: {
    money: "nothing_charged",
    message: expect.stringMatching(new RegExp(`${why.source}.* Nothing was charged\\.$`)),
  },
});

describe("a sign-in with the identity provider", () => {
  test("makes an invited person a member, with a session, a name and a verified address", async () => {
    const { browser, joined, bo } = await givenBo();

    expect(joined).toMatchObject({
      statusCode: 200,
      data: { person_id: bo, account_id: "acc_1", next: "/app/" },
    });
    expect(joined.headers["set-cookie"]).toMatch(/^__Host-mailproof=[\w-]{43}; .*HttpOnly/);
    expect((await browser.send("GET /v1/person")).data).toMatchObject({
      person_id: bo,
      name: BO.name,
      email: BO.email,
      accounts: [{ account_id: "acc_1", role: "member" }],
      identities: [{ label: BO.email }],
    });
  });

  test("asks with S256, state, nonce and the exact redirect URI, and reveals no verifier", async () => {
    const { world } = await givenOidc();

    const { data } = await startIn(createBrowser(world));

    const random = expect.stringMatching(/^[\w-]{43}$/);
    expect(Object.fromEntries(new URL(data.url).searchParams)).toEqual({
      client_id: "mailproof",
      response_type: "code",
      redirect_uri: `${BASE_URL}/app/sign-in`,
      scope: "openid email profile",
      state: random,
      nonce: random,
      code_challenge: random,
      code_challenge_method: "S256",
    });
  });

  test("finds a person again by issuer and subject, whatever the address is now", async () => {
    const { world, provider, bo } = await givenBo();
    provider.claim({ email: "other@shop.example", email_verified: false });

    const again = await signIn(createBrowser(world));

    expect(again.data).toEqual({ person_id: bo, next: "/app/" });
  });

  test("reads the address at the userinfo endpoint when the ID token has none", async () => {
    const { world, provider } = await givenOidc();
    provider.claim({ email: undefined, email_verified: undefined });
    provider.changeUserinfo((info) => Object.assign(info, BO));
    const invitation = await createInvitation(world, { email: "BO@shop.example" });

    const joined = await signIn(createBrowser(world), { invitation });

    expect(joined.statusCode).toBe(200);
  });

  test("ends the session that the browser had", async () => {
    const { world, browser } = await givenBo();
    const cookie = browser.getCookie() ?? "";

    expect((await signIn(browser)).statusCode).toBe(200);

    expect(browser.getCookie()).not.toBe(cookie);
    const earlier = await createBrowser(world).send("GET /v1/person", { headers: { cookie } });
    expect(earlier.statusCode).toBe(401);
  });

  test("joins another account by an invitation as the person of the identity", async () => {
    const { world, bo } = await givenBo();
    const { account } = await openAccount(world, { name: "B", plan: "pro", opening: credits(0) });
    const invitation = await createInvitation(world, { account, role: "viewer" });

    const joined = await signIn(createBrowser(world), { invitation });

    expect(joined.data).toMatchObject({ person_id: bo, account_id: account });
  });

  test("connects an unknown identity to the person who has just signed in here", async () => {
    const { world, browser, provider, ada } = await givenOidc();
    const { data } = await startIn(browser);
    expect(new URL(data.url).searchParams.get("max_age")).toBe("300");

    expect((await signIn(browser)).data.person_id).toBe(ada);

    expect((await browser.send("GET /v1/person")).data).toMatchObject({
      name: "Ada",
      email: BO.email,
      identities: [{ issuer: provider.url }],
    });
    expect((await signIn(createBrowser(world))).data.person_id).toBe(ada);
  });

  test("joins another account as the person who has just signed in here", async () => {
    const { world, browser, ada } = await givenOidc();
    const { account } = await openAccount(world, { name: "B", plan: "pro", opening: credits(0) });
    const invitation = await createInvitation(world, { account, email: BO.email });

    const joined = await signIn(browser, { invitation });

    expect(joined.data).toMatchObject({ person_id: ada, account_id: account });
    expect((await signIn(createBrowser(world))).data.person_id).toBe(ada);
  });

  test("lets a locked-out person in by a return link and connects the identity", async () => {
    const { world, ada } = await givenOidc();
    const lost = { kind: "return", account: null, person: ada };
    const invitation = await createInvitation(world, lost);

    const returned = await signIn(createBrowser(world), { invitation });

    expect(returned.data).toEqual({ person_id: ada, next: "/app/" });
    expect((await signIn(createBrowser(world))).data.person_id).toBe(ada);
  });

  test.each([
    ["/app/jobs?state=open#top", "/app/jobs?state=open#top"],
    ["jobs", "/app/jobs"],
    [`${BASE_URL}/app/jobs`, "/app/jobs"],
    ["https://evil.example/app/", "/app/"],
    ["//evil.example/app/", "/app/"],
    ["/\\evil.example/app/", "/app/"],
    ["/app/../v1/account", "/app/"],
    ["/application", "/app/"],
    ["javascript:alert(1)//app/", "/app/"],
    ["https://[", "/app/"],
  ])("leads from next %s to %s", async (next, page) => {
    const { world } = await givenBo();

    expect((await signIn(createBrowser(world), { next })).data.next).toBe(page);
  });
});

const setError = (response: URLSearchParams, error: string): void => {
  response.delete("code");
  response.set("error", error);
};

const withHeader = (token: string, header: object): string =>
  `${Buffer.from(JSON.stringify(header)).toString("base64url")}.${token.split(".")[1]}`;

describe("no session begins", () => {
  test.each<[what: string, change: (it: URLSearchParams) => void, status: number, why: RegExp]>([
    ["another state", (it) => it.set("state", "x".repeat(43)), 403, /another sign-in/],
    ["no state", (it) => it.delete("state"), 403, /another sign-in/],
    ["two states", (it) => it.append("state", "x"), 403, /"state"/],
    ["the issuer of a mix-up", (it) => it.set("iss", "https://evil.example"), 403, /"iss"/],
    ["a token in the query", (it) => it.set("id_token", "x.y.z"), 403, /not supported/],
    ["a denied access", (it) => setError(it, "access_denied"), 403, /by its rules: access_denied/],
    ["the provider's own fault", (it) => setError(it, "server_error"), 503, /server_error/],
  ])("by a response with %s", async (_, change, status, why) => {
    const { world } = await givenBo();
    const browser = createBrowser(world);
    const { data } = await startIn(browser);
    const response = new URLSearchParams(await visit(data.url));
    change(response);

    expect(await finishIn(browser, data.flow, response.toString())).toMatchObject(
      refusal(status, why),
    );
  });

  test("by a response without the issuer of a provider that always names it", async () => {
    const { world, provider } = await givenBo();
    provider.changeMetadata((it) => (it["authorization_response_iss_parameter_supported"] = true));
    setProvider(world, provider.url);

    expect(await signIn(createBrowser(world))).toMatchObject(refusal(403, /"iss"/));
  });

  test.each<[what: string, claims: Record<string, unknown>, why: RegExp]>([
    ["another nonce", { nonce: "another" }, /"nonce"/],
    ["no nonce", { nonce: undefined }, /"nonce"/],
    ["another issuer", { iss: "https://evil.example" }, /"iss"/],
    ["another client as its audience", { aud: "another" }, /"aud"/],
    ["a second audience", { aud: ["mailproof", "another"] }, /"aud"/],
    ["another authorised party", { aud: ["mailproof", "b"], azp: "b" }, /"azp"/],
    ["no subject", { sub: undefined }, /"sub"/],
    ["an expiry in the past", { exp: 1_700_000_000 }, /"exp"/],
    ["no expiry", { exp: undefined }, /"exp"/],
    ["a time of issue in the future", { iat: 9_000_000_000, exp: 9_000_000_300 }, /future/],
  ])("by an ID token with %s", async (_, claims, why) => {
    const { world, provider } = await givenBo();
    provider.claim(claims);

    expect(await signIn(createBrowser(world))).toMatchObject(refusal(403, why));
  });

  test.each<[what: string, why: RegExp, forge: (token: string, key: JsonWebKey) => string]>([
    ["no signature", /"alg"/, (token) => `${withHeader(token, { alg: "none" })}.`],
    [
      "the public key as the secret of HMAC",
      /"alg"/,
      (token, key) => {
        const text = withHeader(token, { alg: "HS256" });
        const publicKey = createPublicKey({ key, format: "jwk" });
        const secret = publicKey.export({ type: "spki", format: "pem" });
        return `${text}.${createHmac("sha256", secret).update(text).digest("base64url")}`;
      },
    ],
    [
      "the signature of another key",
      /signature/,
      (token) => {
        const text = token.split(".").slice(0, 2).join(".");
        const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
        return `${text}.${sign("sha256", Buffer.from(text), privateKey).toString("base64url")}`;
      },
    ],
    [
      "a key that the provider does not publish",
      /keys? found/,
      (token) => `${withHeader(token, { alg: "RS256", kid: "another" })}.${token.split(".")[2]}`,
    ],
  ])("by an ID token with %s", async (_, why, forge) => {
    const { world, provider } = await givenBo();
    provider.changeMetadata((it) => {
      it["id_token_signing_alg_values_supported"] = ["RS256", "HS256", "none"];
    });
    provider.changeTokens((body) => {
      body["id_token"] = forge(body["id_token"] as string, provider.key as JsonWebKey);
    });
    setProvider(world, provider.url);

    expect(await signIn(createBrowser(world))).toMatchObject(refusal(403, why));
  });

  test("for the owner of an address: a foreign identity with it stays unknown", async () => {
    const { world, provider } = await givenBo();
    provider.claim({ sub: "eve" });

    const why = /No person of this service has this identity. Ask for an invitation/;
    expect(await signIn(createBrowser(world))).toMatchObject(refusal(403, why));
  });

  test.each([
    ["another address", { email: "eve@shop.example" }, /for bo@shop.example, and you signed in/],
    ["an unverified address", { email_verified: false }, /has not verified/],
    ["an address verified in words", { email_verified: "true" }, /has not verified/],
    ["no address", { email: undefined }, /with no address/],
  ])("by an invitation and %s, and the invitation stays usable", async (_, claims, why) => {
    const { world, provider } = await givenOidc();
    provider.changeUserinfo((info) => Object.assign(info, { sub: BO.sub }));
    const invitation = await createInvitation(world, { email: BO.email });
    provider.claim(claims);
    expect(await signIn(createBrowser(world), { invitation })).toMatchObject(refusal(403, why));

    provider.claim({});
    expect((await signIn(createBrowser(world), { invitation })).statusCode).toBe(200);
  });

  test("by an invitation that was used, from its start on", async () => {
    const { world } = await givenOidc();
    const invitation = await createInvitation(world);
    expect((await signIn(createBrowser(world), { invitation })).statusCode).toBe(200);

    expect(await signIn(createBrowser(world), { invitation })).toMatchObject(
      refusal(404, /was used/),
    );
  });

  test("by a flow that was used, even with a new code", async () => {
    const { world } = await givenBo();
    const browser = createBrowser(world);
    const { data } = await startIn(browser);
    const [first, second] = [await visit(data.url), await visit(data.url)];
    expect((await finishIn(browser, data.flow, first)).statusCode).toBe(200);

    expect(await finishIn(browser, data.flow, second)).toMatchObject(refusal(403, /was used/));
  });

  test("twice by two concurrent responses with one flow", async () => {
    const { world } = await givenBo();
    const { data } = await startIn(createBrowser(world));
    const codes = [await visit(data.url), await visit(data.url)];

    const all = await Promise.all(
      codes.map((response) => finishIn(createBrowser(world), data.flow, response)),
    );

    expect(all.map(({ statusCode }) => statusCode)).toEqual(expect.arrayContaining([200, 403]));
  });

  test("in the browser of a victim who is sent the response of another browser", async () => {
    const { world } = await givenBo();
    const [victim, eve] = [createBrowser(world), createBrowser(world)];
    const own = await startIn(victim);
    const sent = await visit((await startIn(eve)).data.url);

    expect(await finishIn(victim, own.data.flow, sent)).toMatchObject(
      refusal(403, /another sign-in/),
    );
  });

  test("with a flow that is not ours, or was changed", async () => {
    const { world } = await givenBo();
    const browser = createBrowser(world);
    const { data } = await startIn(browser);
    const response = await visit(data.url);

    for (const flow of ["", "x", `A${data.flow.slice(1)}`])
      expect(await finishIn(browser, flow, response)).toMatchObject(
        refusal(403, /was not started here/),
      );
  });

  test("10 minutes after the start", async () => {
    const { world, later } = await givenBo();
    const browser = createBrowser(world);
    const { data } = await startIn(browser);
    later(10 * MINUTE_MS);

    const late = await finishIn(browser, data.flow, await visit(data.url));

    expect(late).toMatchObject(refusal(403, /longer than 10 minutes/));
  });

  test("for a request of another page", async () => {
    const { world } = await givenBo();
    const headers = { "sec-fetch-site": "cross-site" };

    const refused = await createBrowser(world).send(ROUTE, { headers, body: { action: "start" } });

    expect(refused).toMatchObject(refusal(403, /for the dashboard/));
  });

  test("at a service without a provider", async () => {
    const { browser } = await givenOwner();

    expect(await startIn(browser)).toMatchObject(refusal(501, /OIDC_ISSUER/));
  });
});

describe("an unknown identity is not connected", () => {
  test("six minutes after the sign-in, and the response asks for a new one", async () => {
    const { world, browser, later } = await givenOidc();
    const invitation = await createInvitation(world);
    later(6 * MINUTE_MS);

    for (const fields of [{}, { invitation }]) {
      const refused = await signIn(browser, fields);
      expect(refused).toMatchObject(refusal(403, /Ada is signed in here without this identity/));
      expect(refused.error.details).toEqual({ sign_in_again: true });
    }
    expect((await signIn(createBrowser(world), { invitation })).statusCode).toBe(200);
  });

  test("to a person whose session began after the flow", async () => {
    const { world, browser } = await givenOidc();
    const { data } = await startIn(createBrowser(world));

    const refused = await finishIn(browser, data.flow, await visit(data.url));

    expect(refused).toMatchObject(refusal(403, /No person of this service/));
  });

  test("to a second person: it signs in the first", async () => {
    const { world, bo, browser, ada } = await givenBo();
    const link = { kind: "return", account: null, person: ada };

    const invitation = await createInvitation(world, link);
    expect(await signIn(browser, { invitation })).toMatchObject(
      refusal(403, /another person than the link/),
    );
    expect((await signIn(browser)).data.person_id).toBe(bo);
  });
});

test("a name that is cut at its greatest length stays whole text", async () => {
  const { world, provider } = await givenOidc();
  provider.claim({ name: `${"x".repeat(99)}😀` });
  const browser = createBrowser(world);
  await signIn(browser, { invitation: await createInvitation(world) });

  expect((await browser.send("GET /v1/person")).data.name).toBe("x".repeat(99));
});

test("a person has at most twenty identities", async () => {
  const { world, browser, provider } = await givenBo();
  for (let n = 2; n <= 20; n++) {
    provider.claim({ sub: `bo ${n}` });
    expect((await signIn(browser)).statusCode).toBe(200);
  }

  provider.claim({ sub: "bo 21" });
  expect(await signIn(browser)).toMatchObject(refusal(403, /20 identities, the maximum/));
  provider.claim({ sub: "bo 20" });
  expect((await signIn(createBrowser(world))).statusCode).toBe(200);
});

test("a person begins at most 60 sessions an hour, so that nobody fills the table with them", async () => {
  const { world, later } = await givenBo();
  for (let n = 1; n <= 60; n++)
    expect((await signIn(createBrowser(world))).statusCode, `sign-in ${n}`).toBe(200);

  expect(await signIn(createBrowser(world))).toMatchObject(refusal(403, /60 times/));
  later(60 * MINUTE_MS);
  expect((await signIn(createBrowser(world))).statusCode).toBe(200);
});

describe("the answer is 503 and names the fault when", () => {
  test("the provider is down", async () => {
    const { world, provider } = await givenBo();
    const browser = createBrowser(world);
    const { data } = await startIn(browser);
    const response = await visit(data.url);
    await provider.stop();

    expect(await finishIn(browser, data.flow, response)).toMatchObject(refusal(503, DOWN));
    setProvider(world, provider.url);
    expect(await startIn(browser)).toMatchObject(refusal(503, DOWN));
  });

  test.each<[what: string, why: RegExp, change: (body: any, response: any) => void]>([
    ["the metadata is of another issuer", /expected issuer/, (it) => (it.issuer = "https://a.b")],
    [
      "its page is not behind https",
      /not behind https/,
      (it) => (it.authorization_endpoint = "http://a.b/"),
    ],
    ["the metadata is missing", /status code: 404/, (_, it) => (it.statusCode = 404)],
    ["the metadata is too long", /over 256000 bytes/, (it) => (it.long = "x".repeat(300_000))],
  ])("%s", async (_, why, change) => {
    const { world, provider } = await givenOidc();
    provider.changeMetadata(change);

    expect(await startIn(createBrowser(world))).toMatchObject(refusal(503, why));
  });

  test("the token endpoint is not behind https", async () => {
    const { world, provider } = await givenOidc();
    provider.changeMetadata((it) => (it["token_endpoint"] = "http://a.example/token"));

    expect(await signIn(createBrowser(world))).toMatchObject(refusal(503, /not behind https/));
  });

  test.each([
    ["the client", 400, { error: "invalid_client" }, /answered invalid_client/],
    ["more than the client may know", 500, { error: "<b>" }, /failed/],
  ])("the provider refuses %s", async (_, status, body, why) => {
    const { world, provider, logged } = await givenOidc();
    provider.changeTokens((_tokens, response) =>
      Object.assign(response, { statusCode: status, body }),
    );

    const refused = await signIn(createBrowser(world));

    expect(refused).toMatchObject(refusal(503, why));
    expect(JSON.stringify([refused.error, logged])).not.toMatch(/<b>|a secret of the client/);
  });
});
