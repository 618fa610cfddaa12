import type { AppWorld } from "@mailproof/core/app-world";
import { createOidc } from "@mailproof/net/oidc";
import { type MutableResponse, type MutableToken, OAuth2Server } from "oauth2-mock-server";
import { onTestFinished } from "vitest";
import type { Browser } from "./people.ts";
import type { TestResponse } from "./send.ts";

/** Bo has an account at the identity provider. */
export const BO = { sub: "bo", name: "Bo Berg", email: "bo@shop.example", email_verified: true };

type Fields = Record<string, unknown>;

/** A foreign identity provider, oauth2-mock-server, on loopback. A test changes its claims and responses. */
export const givenProvider = async ({ now }: Pick<AppWorld, "now">) => {
  const server = new OAuth2Server();
  const { issuer, service } = server;
  const key = await issuer.keys.generate("RS256");
  await server.start(0, "127.0.0.1");
  issuer.url = `http://127.0.0.1:${server.address().port}`;
  const stop = async () => {
    if (server.listening) await server.stop();
  };
  onTestFinished(stop);
  let claims: Fields = BO;
  service.on("beforeTokenSigning", ({ payload }: MutableToken) => {
    const seconds = Math.floor(now().getTime() / 1000);
    Object.assign(payload, { iat: seconds, nbf: seconds, exp: seconds + 300 }, claims);
  });
  const change = (event: string, by: (body: Fields, response: MutableResponse) => void) =>
    service.on(event, (response: MutableResponse) => by(response.body as Fields, response));
  return {
    url: issuer.url,
    key,
    stop,
    /** The claims of every ID token from now on; undefined leaves one out. */
    claim: (own: Fields) => void (claims = { ...BO, ...own }),
    changeMetadata: (by: Parameters<typeof change>[1]) =>
      change("beforeWellKnownOpenIdConfiguration", by),
    changeTokens: (by: Parameters<typeof change>[1]) => change("beforeResponse", by),
    changeUserinfo: (by: Parameters<typeof change>[1]) => change("beforeUserinfo", by),
  };
};

/** Lets people sign in to this world with an identity provider, by a client that has read nothing of it yet. */
export const setProvider = (world: AppWorld, issuer: string): void => {
  const settings = { issuer, clientId: "mailproof", clientSecret: "a secret of the client" };
  const oidc = createOidc(settings, world.now);
  Object.assign(world, {
    settings: { ...world.settings, oidc: settings },
    oidc: async () => oidc,
  });
};

/** Follows the provider's page to the query string that it sends back. */
export const visit = async (url: string): Promise<string> => {
  const { headers } = await fetch(url, { redirect: "manual" });
  return new URL(headers.get("location") ?? "").search;
};

const ROUTE = "POST /v1/sign-in/oidc";

export const startIn = (browser: Browser, fields: object = {}): Promise<TestResponse> =>
  browser.send(ROUTE, { body: { action: "start", ...fields } });

export const finishIn = (browser: Browser, flow: string, response: string): Promise<TestResponse> =>
  browser.send(ROUTE, { body: { action: "finish", flow, response } });

export const signIn = async (browser: Browser, fields: object = {}): Promise<TestResponse> => {
  const started = await startIn(browser, fields);
  if (started.statusCode !== 200) return started;
  const { url, flow } = started.data;
  return finishIn(browser, flow, await visit(url));
};
