import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { openAccount } from "@mailproof/core/accounts/accounts";
import { credits } from "@mailproof/core/money/credits";
import { invite } from "@mailproof/core/people/invitations";
import { createApp } from "@mailproof/local/app";
import { testSignIn } from "@mailproof/local/cli/sign-in-command";
import { readEnvironment } from "@mailproof/local/environment";
import { exportJWK, generateKeyPair } from "jose";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { BO, finishIn, startIn } from "../app/oidc.ts";
import { createBrowser } from "../app/people.ts";
import { BASE_URL } from "../app/send.ts";
import { createFolder, whenRun } from "../servers/running.ts";

// One machine, with SQLite and real time, and oidc-provider: a certified identity provider that others wrote.

const REDIRECT_URI = `${BASE_URL}/app/sign-in`;
const CLIENT = { client_id: "mailproof", client_secret: "a secret of the client" };

/** The provider prints advice for its own operators. */
beforeAll(() => {
  for (const level of ["info", "warn"] as const)
    vi.spyOn(console, level).mockImplementation(() => undefined);
});
afterAll(() => void vi.restoreAllMocks());

/** It asks nobody for a password: every visitor is Bo, or cancels. */
const givenProvider = async () => {
  // The package has no types.
  const { default: Provider } = await import("oidc-provider" as string);
  let handle: (...exchange: any[]) => void = () => undefined;
  const server = createServer((...exchange) => handle(...exchange)).listen(0, "127.0.0.1");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, "listening");
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { privateKey } = await generateKeyPair("RS256", { extractable: true });
  const provider = new Provider(issuer, {
    clients: [{ ...CLIENT, redirect_uris: [REDIRECT_URI] }],
    jwks: { keys: [{ ...(await exportJWK(privateKey)), alg: "RS256", use: "sig" }] },
    cookies: { keys: ["a key of its cookies"] },
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"] },
    findAccount: (_: unknown, accountId: string) => ({ accountId, claims: () => BO }),
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_: unknown, { uid }: { readonly uid: string }) => `/login/${uid}` },
    loadExistingGrant: async ({ oidc }: any) => {
      const grant = new oidc.provider.Grant({ clientId: CLIENT.client_id, accountId: BO.sub });
      grant.addOIDCScope("openid email profile");
      await grant.save();
      return grant;
    },
  });
  let result: object = { login: { accountId: BO.sub } };
  handle = (request, response) =>
    request.url.startsWith("/login/")
      ? provider.interactionFinished(request, response, result)
      : provider.callback()(request, response);
  return { issuer, cancel: () => void (result = { error: "access_denied" }) };
};

/** Follows the provider's redirects, with its cookies, to the query string that it sends back. */
const visit = async (url: string): Promise<string> => {
  const cookies = new Map<string, string>();
  let at = url;
  for (let step = 0; step < 10 && !at.startsWith(REDIRECT_URI); step += 1) {
    const cookie = [...cookies].map((pair) => pair.join("=")).join("; ");
    const { headers, status } = await fetch(at, { redirect: "manual", headers: { cookie } });
    for (const set of headers.getSetCookie()) {
      const [name = "", value = ""] = (set.split(";")[0] ?? "").split("=");
      cookies.set(name, value);
    }
    const location = headers.get("location");
    if (location === null) throw new Error(`${at} answered ${status}`);
    at = new URL(location, at).href;
  }
  return new URL(at).search;
};

const givenMachine = async (issuer: string, settings: Record<string, string> = {}) => {
  const environment = readEnvironment({
    MAILPROOF_DIR: createFolder(),
    OIDC_ISSUER: issuer,
    OIDC_CLIENT_ID: CLIENT.client_id,
    OIDC_CLIENT_SECRET: CLIENT.client_secret,
    ...settings,
  });
  const { world, close } = createApp(environment, () => BASE_URL, null);
  onTestFinished(close);
  const { account } = await openAccount(world, { name: "A", plan: "pro", opening: credits(0) });
  const createInvitation = async () => {
    const request = { kind: "member", role: "member", invitedBy: null, email: BO.email } as const;
    return (await invite(world, { ...request, account })).token;
  };
  return { world, account, createInvitation };
};

test("Bo joins by his identity at oidc-provider, and signs in by it again", async () => {
  const { issuer } = await givenProvider();
  const { world, account, createInvitation } = await givenMachine(issuer);
  const browser = createBrowser(world);
  const joining = await startIn(browser, { invitation: await createInvitation() });

  const joined = await finishIn(browser, joining.data.flow, await visit(joining.data.url));

  expect(joined.data).toMatchObject({ account_id: account, next: "/app/" });
  expect((await browser.send("GET /v1/person")).data).toMatchObject({
    name: BO.name,
    email: BO.email,
    accounts: [{ account_id: account, role: "member" }],
    identities: [{ issuer }],
  });
  const other = createBrowser(world);
  const again = await startIn(other);
  const signedIn = await finishIn(other, again.data.flow, await visit(again.data.url));
  expect(signedIn.data).toEqual({ person_id: joined.data.person_id, next: "/app/" });
});

/** Bo's response in a flow of this browser, before a test changes it. */
const givenFlow = async () => {
  const provider = await givenProvider();
  const machine = await givenMachine(provider.issuer);
  const invitation = await machine.createInvitation();
  const browser = createBrowser(machine.world);
  const { data } = await startIn(browser, { invitation });
  return { ...provider, ...machine, browser, invitation, ...data };
};

const CODE_REFUSED = {
  statusCode: 403,
  error: { message: expect.stringContaining("does not accept its code") },
};

test("the provider refuses a code that was used in an earlier flow", async () => {
  const { world, browser, flow, url } = await givenFlow();
  const response = await visit(url);
  expect((await finishIn(browser, flow, response)).statusCode).toBe(200);
  const other = createBrowser(world);
  const second = await startIn(other);

  const replayed = new URLSearchParams(response);
  replayed.set("state", new URL(second.data.url).searchParams.get("state") ?? "");
  const refused = await finishIn(other, second.data.flow, replayed.toString());

  expect(refused).toMatchObject(CODE_REFUSED);
  expect(other.getCookie()).toBeUndefined();
});

test("the provider refuses another person's unused code in one's own flow, by its verifier", async () => {
  const { world, browser, flow, url } = await givenFlow();
  const own = new URLSearchParams(await visit(url));
  const others = new URLSearchParams(await visit((await startIn(createBrowser(world))).data.url));
  own.set("code", others.get("code") ?? "");

  expect(await finishIn(browser, flow, own.toString())).toMatchObject(CODE_REFUSED);
});

test("the provider refuses a code for another challenge", async () => {
  const { browser, flow, url } = await givenFlow();
  const changed = new URL(url);
  changed.searchParams.set("code_challenge", "x".repeat(43));

  const refused = await finishIn(browser, flow, await visit(changed.href));

  expect(refused).toMatchObject(CODE_REFUSED);
});

test("a response without the provider's name is refused, since this provider always states it", async () => {
  const { browser, flow, url } = await givenFlow();
  const response = new URLSearchParams(await visit(url));
  response.delete("iss");

  const refused = await finishIn(browser, flow, response.toString());

  expect(refused).toMatchObject({ statusCode: 403, error: { money: "nothing_charged" } });
});

test("a person who cancels at the provider reads why no session began", async () => {
  const { browser, flow, url, cancel } = await givenFlow();
  cancel();

  const refused = await finishIn(browser, flow, await visit(url));

  expect(refused).toMatchObject({
    statusCode: 403,
    error: { message: expect.stringContaining("access_denied. Nothing was charged.") },
  });
});

test("a wrong client secret is a fault of the settings, which the response names", async () => {
  const { issuer } = await givenProvider();
  const { world } = await givenMachine(issuer, { OIDC_CLIENT_SECRET: "a mistyped secret" });
  const browser = createBrowser(world);
  const { data } = await startIn(browser);

  const failed = await finishIn(browser, data.flow, await visit(data.url));

  expect(failed).toMatchObject({
    statusCode: 503,
    error: { message: expect.stringContaining("OIDC_CLIENT_ID or OIDC_CLIENT_SECRET") },
  });
});

const toEnvironment = (issuer: string, settings: Record<string, string> = {}) => ({
  MAILPROOF_DIR: "/nowhere",
  OIDC_ISSUER: issuer,
  OIDC_CLIENT_ID: CLIENT.client_id,
  OIDC_CLIENT_SECRET: CLIENT.client_secret,
  PUBLIC_URL: BASE_URL,
  ...settings,
});

test("admin sign-in test passes a provider that is set up, and prints the redirect URI", async () => {
  const { issuer } = await givenProvider();

  const { code, out } = await whenRun(toEnvironment(issuer), "admin", "sign-in", "test", "--json");

  const { ok, checks } = JSON.parse(out);
  expect(checks.filter((one: any) => !one.ok)).toEqual([]);
  expect(checks.map(({ check }: any) => check)).toEqual(
    "Issuer,PKCE,Signature,Claims,Client,Clock,Origin,Redirect URI".split(","),
  );
  expect(checks.at(-1)).toMatchObject({ found: REDIRECT_URI });
  expect([code, ok]).toEqual([0, true]);
});

test.each<[check: string, settings: Record<string, string>, aheadMs: number]>([
  ["Client", { OIDC_CLIENT_SECRET: "mistyped" }, 0],
  ["Client", { OIDC_CLIENT_ID: "unknown" }, 0],
  ["Clock", {}, 90_000],
  ["Clock", {}, -90_000],
  ["Origin", { PUBLIC_URL: "http://mail.example.com" }, 0],
])(
  "admin sign-in test fails %s with %j and a clock %i ms ahead",
  async (check, changed, aheadMs) => {
    const { issuer } = await givenProvider();
    const environment = readEnvironment(toEnvironment(issuer, changed));

    const checks = await testSignIn(environment, () => new Date(Date.now() + aheadMs));

    const failed = checks.filter(({ ok }) => !ok);
    expect(failed).toEqual([
      { check, ok: false, found: expect.any(String), how: expect.stringMatching(/./) },
    ]);
  },
);

test("admin sign-in test fails without settings, and for an issuer that does not answer", async () => {
  const { OIDC_CLIENT_SECRET: _, ...environment } = toEnvironment("http://127.0.0.1:1");

  const closed = await whenRun(environment, "admin", "sign-in", "test", "--json");
  const unset = await whenRun({ MAILPROOF_DIR: "/nowhere" }, "admin", "sign-in", "test", "--json");

  expect(JSON.parse(closed.out).checks[0]).toMatchObject({ check: "Issuer", ok: false });
  expect(JSON.parse(unset.out).checks).toMatchObject([{ check: "Issuer", found: "not set" }]);
  expect([closed.code, unset.code]).toEqual([1, 1]);
});
