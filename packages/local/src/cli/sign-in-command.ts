import { toPageUrl } from "@mailproof/api/http/session";
import { Failure } from "@mailproof/core/lib/failure";
import type { OidcSettings } from "@mailproof/core/ports/settings";
import { createOidc, describe, readMetadata } from "@mailproof/net/oidc";
import * as v from "valibot";
import type { Environment } from "../environment.ts";
import { type AdminResult, definePrinted } from "./define-admin.ts";

// Tests the identity provider before a wrong setting locks people out. Each check names its remedy.

type Check = {
  readonly check: string;
  readonly ok: boolean;
  readonly found: string;
  /** What to do; null when nothing is. */
  readonly how: string | null;
};

const CLOCK_SECONDS_MAX = 30;
const TIMEOUT_MS = 5_000;

const toCheck = (check: string, ok: boolean, found: string, how: string): Check => ({
  check,
  ok,
  found,
  how: ok ? null : how,
});

type Provider = { readonly settings: OidcSettings; readonly redirectUri: string };
type Metadata = Awaited<ReturnType<typeof readMetadata>>;

const checkProvider = async (
  { settings, redirectUri }: Provider,
  now: () => Date,
): Promise<readonly Check[]> => {
  const { issuer } = settings;
  const how = `OIDC_ISSUER: the exact issuer of ${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
  try {
    const metadata = await readMetadata(settings);
    return [
      toCheck("Issuer", true, metadata.issuer, how),
      ...checkMetadata(metadata),
      await checkClient(metadata, { settings, redirectUri }, now),
      await checkClock(metadata, now),
    ];
  } catch (error) {
    return [toCheck("Issuer", false, describe(error), how)];
  }
};

/** A provider need not state a capability: Microsoft's names no PKCE and supports it. */
const checkMetadata = (metadata: Metadata): readonly Check[] => {
  const methods = metadata.code_challenge_methods_supported;
  const algorithms = metadata.id_token_signing_alg_values_supported;
  const claims = metadata.claims_supported;
  const missing = ["email", "email_verified"].filter((one) => claims?.includes(one) === false);
  return [
    toCheck(
      "PKCE",
      methods?.includes("S256") ?? true,
      methods?.join(", ") ?? "not stated",
      "switch on PKCE with S256 at the provider",
    ),
    toCheck(
      "Signature",
      algorithms?.length !== 0,
      algorithms?.join(", ") ?? "not stated",
      "have the provider sign ID tokens with RS256 or ES256",
    ),
    toCheck(
      "Claims",
      missing.length === 0,
      claims ? (missing.length === 0 ? "email, email_verified" : "not all") : "not stated",
      `have the provider send ${missing.join(" and ")}, or invite people without an address`,
    ),
  ];
};

/** Sends a wrong code: a provider that refuses the code has accepted the client. */
const checkClient = async (
  { issuer }: Metadata,
  { settings, redirectUri }: Provider,
  now: () => Date,
): Promise<Check> => {
  const sent = { state: "test", code: "wrong", iss: issuer };
  const failure = await createOidc(settings, now)
    .redeem({
      redirectUri,
      ...sent,
      nonce: "test",
      verifier: "x".repeat(43),
      response: new URLSearchParams(sent).toString(),
    })
    .catch((error: unknown) => error);
  const isAccepted = failure instanceof Failure && failure.code === "FORBIDDEN";
  const found = failure instanceof Failure ? failure.what : "it accepted a wrong code";
  return toCheck(
    "Client",
    isAccepted,
    isAccepted ? settings.clientId : found,
    "OIDC_CLIENT_ID and OIDC_CLIENT_SECRET, as the provider shows them",
  );
};

const checkClock = async ({ jwks_uri, issuer }: Metadata, now: () => Date): Promise<Check> => {
  const { headers, body } = await fetch(jwks_uri ?? issuer, {
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  await body?.cancel();
  const seconds = Math.round((now().getTime() - Date.parse(headers.get("date") ?? "")) / 1000);
  const distance = `${Math.abs(seconds)} s ${seconds < 0 ? "behind" : "ahead of"} the provider`;
  return toCheck(
    "Clock",
    !(Math.abs(seconds) > CLOCK_SECONDS_MAX),
    Number.isNaN(seconds) ? "the provider sends no time" : distance,
    "set this machine's clock by NTP",
  );
};

const checkOrigin = ({ PUBLIC_URL: url }: Environment): Check =>
  toCheck(
    "Origin",
    url === undefined || /^(?:https:|http:\/\/localhost(?:[:/]|$))/.test(url),
    url ?? "this machine alone",
    "PUBLIC_URL with https: browsers keep the session's cookie and passkeys only there",
  );

export const testSignIn = async (
  environment: Environment,
  now: () => Date,
): Promise<readonly Check[]> => {
  const {
    OIDC_ISSUER: issuer,
    OIDC_CLIENT_ID: clientId,
    PUBLIC_URL,
    PORT,
    BASE_PATH,
  } = environment;
  if (!issuer || !clientId)
    return [toCheck("Issuer", false, "not set", "OIDC_ISSUER and OIDC_CLIENT_ID")];
  const settings = { issuer, clientId, clientSecret: environment.OIDC_CLIENT_SECRET ?? null };
  const redirectUri = toPageUrl(PUBLIC_URL ?? `http://localhost:${PORT}${BASE_PATH}`, "sign-in");
  return [
    ...(await checkProvider({ settings, redirectUri }, now)),
    checkOrigin(environment),
    {
      check: "Redirect URI",
      ok: true,
      found: redirectUri,
      how: "register exactly this URI at the provider",
    },
  ];
};

export const signInTestCommand = definePrinted(
  { usage: "", options: v.strictObject({}) },
  async ({ environment }): Promise<AdminResult> => {
    const checks = await testSignIn(environment, () => new Date());
    const ok = checks.every((one) => one.ok);
    return { output: { ok, checks }, exitCode: ok ? 0 : 1 };
  },
);
