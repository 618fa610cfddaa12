import { createUnavailableFailure, Failure } from "@mailproof/core/lib/failure";
import type { Oidc, OidcClaims, OidcResponse } from "@mailproof/core/people/oidc";
import type { OidcSettings } from "@mailproof/core/ports/settings";
import * as client from "openid-client";
import { readText, TIMEOUT_MS } from "./fetch-json.ts";

// The client of one identity provider: the authorization code flow with PKCE (RFC 7636), state, nonce and the issuer in the
// response (RFC 9207). The library compares `iss`, `aud`, `azp`, `exp` and `nonce`; this file verifies the signature always,
// refuses secrets as signing keys and tokens from the future, and turns each error into a Failure.

/** The client reads the provider's metadata again after this time. */
const FRESH_MS = 10 * 60_000;
/** The greatest difference between the provider's clock and ours. */
const SKEW_SECONDS = 60;
/** Public keys only: `none` is unsigned, and the key of HMAC could be a public key, or known to others. */
const SIGNING_ALGORITHM = /^(?:(?:RS|PS|ES)(?:256|384|512)|EdDSA|Ed25519)$/;

type Metadata = Readonly<client.ServerMetadata>;

export const createOidc = (settings: OidcSettings, now: () => Date): Oidc => {
  let cached: { readonly at: number; readonly metadata: Metadata } | undefined;

  const openClient = async (): Promise<client.Configuration> => {
    const at = now().getTime();
    if (!cached || at - cached.at >= FRESH_MS)
      cached = { at, metadata: await readMetadata(settings) };
    return createClient(settings, cached.metadata, at - Date.now());
  };

  return {
    toUrl: async ({ redirectUri, state, nonce, challenge, isAgain }) => {
      const config = await openClient().catch(failOfProvider);
      const url = client.buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        scope: "openid email profile",
        state,
        nonce,
        code_challenge: challenge,
        code_challenge_method: "S256",
        ...(isAgain && { max_age: "300" }),
      });
      assertSecure(settings.issuer, url.href);
      return url.href;
    },
    redeem: async (response) => {
      const config = await openClient().catch(failOfProvider);
      const claims = await redeem(config, response).catch(fail);
      const ahead = (claims["iat"] as number) - now().getTime() / 1000;
      if (ahead > SKEW_SECONDS) throw refuse("the ID token was issued in the future");
      return toClaims(claims);
    },
  };
};

type Claims = Readonly<Record<string, unknown>>;

const redeem = async (
  config: client.Configuration,
  { redirectUri, response, verifier, state, nonce }: OidcResponse,
): Promise<Claims> => {
  const url = new URL(redirectUri);
  url.search = response;
  const tokens = await client.authorizationCodeGrant(config, url, {
    pkceCodeVerifier: verifier,
    expectedState: state,
    expectedNonce: nonce,
    idTokenExpected: true,
  });
  const claims: Claims & { readonly sub: string } = tokens.claims() as client.IDToken;
  if (claims["email"] !== undefined || !config.serverMetadata().userinfo_endpoint) return claims;
  // With a code, OpenID Connect Core §5.4 returns the claims of `email` and `profile` here.
  const info = await client.fetchUserInfo(config, tokens.access_token, claims.sub);
  return { ...info, ...claims };
};

const toClaims = (claims: Claims): OidcClaims => {
  const email = toText(claims["email"], 254);
  return {
    issuer: claims["iss"] as string,
    subject: claims["sub"] as string,
    name: toText(claims["name"] ?? claims["preferred_username"], 100),
    email,
    isEmailVerified: email !== undefined && claims["email_verified"] === true,
  };
};

const toText = (claim: unknown, lengthMax: number): string | undefined =>
  typeof claim === "string"
    ? // Again, because the cut may leave half of a character.
      claim
        .replaceAll(/\p{C}/gu, "")
        .trim()
        .slice(0, lengthMax)
        .replace(/\p{Cs}/u, "") || undefined
    : undefined;

/** Reads the provider's metadata (OpenID Connect Discovery), and throws for that of another issuer. */
export const readMetadata = async ({ issuer, clientId }: OidcSettings): Promise<Metadata> => {
  const config = await client.discovery(new URL(issuer), clientId, undefined, client.None(), {
    timeout: TIMEOUT_MS / 1000,
    [client.customFetch]: createFetch(issuer),
    execute: listExceptions(issuer),
  });
  const metadata: Metadata = config.serverMetadata();
  // The library accepts the template of Microsoft's shared issuer, with which every company's people could sign in.
  if (new URL(metadata.issuer).href !== new URL(issuer).href)
    throw new Error(`the issuer calls itself ${metadata.issuer}, and OIDC_ISSUER is ${issuer}`);
  const algorithms = metadata.id_token_signing_alg_values_supported;
  return {
    ...metadata,
    ...(algorithms && {
      id_token_signing_alg_values_supported: algorithms.filter((one) =>
        SIGNING_ALGORITHM.test(one),
      ),
    }),
  };
};

/** `aheadMs`: our clock minus that of this process, which differ in tests. */
const createClient = (
  { issuer, clientId, clientSecret }: OidcSettings,
  metadata: Metadata,
  aheadMs: number,
): client.Configuration => {
  const config = new client.Configuration(
    metadata,
    clientId,
    { [client.clockSkew]: Math.round(aheadMs / 1000), [client.clockTolerance]: SKEW_SECONDS },
    chooseAuthentication(metadata, clientSecret),
  );
  config.timeout = TIMEOUT_MS / 1000;
  config[client.customFetch] = createFetch(issuer);
  client.enableNonRepudiationChecks(config);
  for (const allow of listExceptions(issuer)) allow(config);
  return config;
};

const chooseAuthentication = (metadata: Metadata, secret: string | null): client.ClientAuth => {
  if (secret === null) return client.None();
  // The default is Basic (OpenID Connect Discovery §3).
  const methods = metadata.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
  return methods.includes("client_secret_basic")
    ? client.ClientSecretBasic(secret)
    : client.ClientSecretPost(secret);
};

/** Plain http is only for a provider on this machine: the setting allows no other. */
const listExceptions = (issuer: string) =>
  issuer.startsWith("http:") ? [client.allowInsecureRequests] : [];

const assertSecure = (issuer: string, url: string): void => {
  if (!url.startsWith("https:") && new URL(url).origin !== new URL(issuer).origin)
    throw createUnavailableFailure(
      `The identity provider names ${url}, which is not behind https.`,
    );
};

const createFetch =
  (issuer: string): client.CustomFetch =>
  async (url, options) => {
    assertSecure(issuer, url);
    const response = await fetch(url, options as RequestInit);
    const text = await readText(url, response);
    const { status, headers } = response;
    return new Response(text === "" ? null : text, { status, headers });
  };

/** The codes of the library for faults of one response; all others concern the provider or the settings. */
const REFUSALS = new Set([
  "OAUTH_INVALID_RESPONSE",
  "OAUTH_PARSE_ERROR",
  "OAUTH_JWT_CLAIM_COMPARISON_FAILED",
  "OAUTH_JWT_TIMESTAMP_CHECK_FAILED",
  "OAUTH_KEY_SELECTION_FAILED",
  "OAUTH_UNSUPPORTED_OPERATION",
]);
/** Errors for which the person can do something (RFC 6749 §4.1.2.1, OpenID Connect Core §3.1.2.6). */
const OF_PERSON = /^(?:access_denied|(?:login|interaction|consent|account_selection)_required)$/;

const refuse = (what: string): Failure =>
  new Failure(
    "FORBIDDEN",
    "nothing_charged",
    `The identity provider's response was refused: ${what}. Start the sign-in again.`,
  );

const fail = (error: unknown): never => {
  if (error instanceof client.AuthorizationResponseError && OF_PERSON.test(error.error))
    throw new Failure(
      "FORBIDDEN",
      "nothing_charged",
      `The identity provider ended the sign-in, by your choice or by its rules: ${error.error}.`,
    );
  // RFC 6749 §5.2: the code is wrong, used or expired, or its verifier or redirect URI differs.
  if (error instanceof client.ResponseBodyError && error.error === "invalid_grant")
    throw refuse("the provider does not accept its code");
  if (error instanceof client.ClientError && REFUSALS.has(error.code ?? ""))
    throw refuse(describe(error));
  return failOfProvider(error);
};

/** Our log and the person learn the cause. It contains no secret, code or token. */
const failOfProvider = (error: unknown): never => {
  if (error instanceof Failure) throw error;
  throw createUnavailableFailure(`The identity provider failed: ${describe(error)}.`);
};

const ERROR_CODE = /^\w{1,60}$/;

/** The library's messages are constant texts; a provider's own texts are left out. */
export const describe = (error: unknown): string => {
  if (error instanceof client.WWWAuthenticateChallengeError)
    return "it refused OIDC_CLIENT_ID or OIDC_CLIENT_SECRET";
  if (
    error instanceof client.AuthorizationResponseError ||
    error instanceof client.ResponseBodyError
  )
    return `it answered ${ERROR_CODE.test(error.error) ? error.error : "an error"}`;
  const { message, cause } = error as Error;
  if (cause instanceof Response) return `${message}: ${cause.status}`;
  if (!(cause instanceof Error)) return message;
  const { code } = cause as { readonly code?: unknown };
  return typeof code === "string" && /^E[A-Z]+$/.test(code) ? code : cause.message;
};
