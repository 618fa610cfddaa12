import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from "jose";
import { fetchJson } from "./fetch-json.ts";

/** Keys are asked for again after this time, whether they changed or not: one taken back opens nothing for longer. */
const FRESH_MS = 10 * 60_000;
/** Whatever strangers send, the issuer is asked no more often. A new key is known as late as this. */
const REFETCH_MS = 10_000;
/** While the issuer does not answer, keys that it gave last are good for so long. */
const STALE_MS = 60 * 60_000;

type CachedKeys = { readonly at: number; readonly find: JWTVerifyGetKey };
type FetchAttempt = { readonly at: number; readonly failure: unknown };

/** The keys by which an issuer signs, fetched when one is needed and kept. */
export const createIssuerKeys = (issuer: string, now: () => Date): JWTVerifyGetKey => {
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

  /** Many callers wait for one answer. */
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
      // An issuer that failed last time may take its time now, and what it gave before serves meanwhile.
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
    // Signed with a key that may be new, and the issuer cannot say: nobody knows whether this is a token.
    if (lastFetch?.failure) throw lastFetch.failure;
    return (cached ?? stale).find(header, token);
  };
};

/** Where the keys are is told by the issuer: as OpenID Connect has it, or else as RFC 8414 does. */
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
  throw new Error(`${issuer} tells nothing about itself at ${urls.join(" or ")}`);
};

const fetchKeySetFrom = async (
  issuer: string,
  url: string,
  metadata: unknown,
): Promise<unknown> => {
  const { issuer: named, jwks_uri: at } = Object(metadata) as Readonly<Record<string, unknown>>;
  // RFC 8414 §3.3: metadata of somebody else must not be used.
  if (named !== issuer) throw new Error(`${url} is the metadata of another issuer`);
  if (typeof at !== "string" || !URL.canParse(at)) throw new Error(`${url} names no jwks_uri`);
  // Plain http is for an issuer on this machine alone, which then has its keys here too.
  if (!at.startsWith("https:") && new URL(at).origin !== new URL(issuer).origin)
    throw new Error(`${url} names keys that are not behind https`);
  const keys = await fetchJson(at);
  if (keys === undefined) throw new Error(`${at} has no keys`);
  return keys;
};
