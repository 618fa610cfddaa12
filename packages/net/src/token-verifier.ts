import type { AccessTokens, TrustedIssuer } from "@mailproof/core/accounts/access-tokens";
import {
  createLocalJWKSet,
  errors,
  type JSONWebKeySet,
  type JWTPayload,
  type JWTVerifyGetKey,
  jwtVerify,
} from "jose";
import { fetchJson } from "./fetch-json.ts";

/** The verifier fetches the keys again after this time, and until then may accept a revoked key. */
const FRESH_MS = 10 * 60_000;
/** The shortest time between two fetches from the issuer, whatever clients send. A new key may stay unknown for as long. */
const REFETCH_MS = 10_000;
/** The time for which the verifier accepts the last keys while the issuer does not answer. */
const STALE_MS = 60 * 60_000;

type CachedKeys = { readonly at: number; readonly find: JWTVerifyGetKey };
type FetchAttempt = { readonly at: number; readonly failure: unknown };

const createIssuerKeys = (issuer: string, now: () => Date): JWTVerifyGetKey => {
  let cached: CachedKeys | undefined;
  let lastFetch: FetchAttempt | undefined;
  let fetching: Promise<void> | undefined;

  const fetchKeys = async (): Promise<void> => {
    const at = now().getTime();
    try {
      const find = createLocalJWKSet((await fetchKeySet(issuer)) as JSONWebKeySet);
      cached = { at, find };
      lastFetch = { at, failure: undefined };
    } catch (failure) {
      lastFetch = { at, failure };
    }
  };

  /** Concurrent callers share one fetch. */
  const fetchOnce = async (): Promise<void> => {
    const mayFetch = !lastFetch || now().getTime() - lastFetch.at >= REFETCH_MS;
    if (mayFetch) fetching ??= fetchKeys().finally(() => (fetching = undefined));
    await fetching;
  };

  const getNotOlderThan = (ms: number): CachedKeys | undefined =>
    cached && now().getTime() - cached.at < ms ? cached : undefined;

  return async (header, token) => {
    if (!getNotOlderThan(FRESH_MS)) {
      const fetched = fetchOnce();
      // An issuer that failed last time may be slow now, so the last keys serve meanwhile.
      if (!lastFetch?.failure || !getNotOlderThan(STALE_MS)) await fetched;
    }
    const stale = getNotOlderThan(STALE_MS);
    if (!stale) throw lastFetch?.failure ?? new Error(`the keys of ${issuer} are too old`);
    try {
      return await stale.find(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
    }
    await fetchOnce();
    // The token's key may be new and the issuer does not answer, so the verifier cannot decide whether the token is valid.
    if (lastFetch?.failure) throw lastFetch.failure;
    return (cached ?? stale).find(header, token);
  };
};

/** Finds the URL of the keys in the issuer's metadata, by OpenID Connect Discovery or else by RFC 8414. */
const fetchKeySet = async (issuer: string): Promise<unknown> => {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, "");
  const urls = [
    `${origin}${path}/.well-known/openid-configuration`,
    `${origin}/.well-known/oauth-authorization-server${path}`,
  ];
  for (const url of urls) {
    const metadata = await fetchJson(url);
    if (metadata !== undefined) return await fetchKeySetFrom(issuer, url, metadata);
  }
  throw new Error(`${issuer} has no metadata at ${urls.join(" or ")}`);
};

const fetchKeySetFrom = async (
  issuer: string,
  url: string,
  metadata: unknown,
): Promise<unknown> => {
  const { issuer: named, jwks_uri: at } = Object(metadata) as Readonly<Record<string, unknown>>;
  // RFC 8414 §3.3: a client must not use the metadata of another issuer.
  if (named !== issuer) throw new Error(`${url} is the metadata of another issuer`);
  if (typeof at !== "string" || !URL.canParse(at)) throw new Error(`${url} names no jwks_uri`);
  // Plain http is only for an issuer on this machine, whose keys must then have the same origin.
  if (!at.startsWith("https:") && new URL(at).origin !== new URL(issuer).origin)
    throw new Error(`${url} names keys that are not behind https`);
  const keys = await fetchJson(at);
  if (keys === undefined) throw new Error(`${at} has no keys`);
  return keys;
};

/** The algorithms have public keys only: with a shared secret every service that checks tokens could also sign one. */
const ALGORITHMS = ["RS256", "PS256", "ES256", "EdDSA", "Ed25519"];
/** RFC 7519 §4.1.4 allows "a few minutes" between clocks; one minute is enough for synchronized clocks. */
const SKEW_SECONDS = 60;
/** The `typ` of an access token (RFC 9068 §2.1, RFC 7519 §5.1): issuers also sign logouts, events and proofs. */
const TYPE = /^(?:application\/)?(?:at\+)?jwt$/i;

/** Verifies JWT access tokens of one issuer. Fetches no keys before the first token arrives. */
export const createTokenVerifier = (
  { issuer, audience }: TrustedIssuer,
  now: () => Date,
): AccessTokens => {
  const keys = createIssuerKeys(issuer, now);
  // Clients that name a host without a path as the resource add a slash to it (RFC 3986 §6.2.3).
  const bare = audience.replace(/\/$/, "");
  const verify: AccessTokens["verify"] = async (token) => {
    try {
      const { payload, protectedHeader } = await jwtVerify(token, keys, {
        issuer,
        audience: [bare, `${bare}/`],
        algorithms: ALGORITHMS,
        requiredClaims: ["exp"],
        clockTolerance: SKEW_SECONDS,
        currentDate: now(),
      });
      const isOne = isAccessToken(protectedHeader) && !isAhead(payload, now());
      return isOne ? payload : undefined;
    } catch (error) {
      if (isTokenError(error)) return undefined;
      throw error;
    }
  };
  return { issuer, audience, verify };
};

/** Accepts a token without `typ`. The library has not checked the type of the field. */
const isAccessToken = ({ typ }: { readonly typ?: unknown }): boolean =>
  typ === undefined || (typeof typ === "string" && TYPE.test(typ));

/** A token issued in the future shows that the issuer's clock differs from ours, so its expiry means nothing. */
const isAhead = ({ iat = 0 }: JWTPayload, now: Date): boolean =>
  iat > now.getTime() / 1000 + SKEW_SECONDS;

/** Other errors concern the issuer: it did not answer, or its answer held no keys. */
const isTokenError = (error: unknown): boolean =>
  error instanceof errors.JOSEError && !(error instanceof errors.JWKSInvalid);
