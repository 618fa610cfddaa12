import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from "jose";
import { jsonAt } from "./json-at.ts";

/** Keys are asked for again after this time, whether they changed or not: one taken back opens nothing for longer. */
const FRESH_MS = 10 * 60_000;
/** Whatever strangers send, the issuer is asked no more often. A new key is known as late as this. */
const ASK_AGAIN_MS = 10_000;
/** While the issuer does not answer, keys that it gave last are good for so long. */
const STALE_MS = 60 * 60_000;

type Held = { readonly at: number; readonly find: JWTVerifyGetKey };
type Asked = { readonly at: number; readonly failure: unknown };

/** The keys by which an issuer signs, fetched when one is needed and kept. */
export const issuerKeys = (issuer: string, now: () => Date): JWTVerifyGetKey => {
  let held: Held | undefined;
  let asked: Asked | undefined;
  let asking: Promise<void> | undefined;

  const ask = async (): Promise<void> => {
    const at = now().getTime();
    try {
      const find = createLocalJWKSet((await keySetOf(issuer)) as JSONWebKeySet);
      held = { at, find };
      asked = { at, failure: undefined };
    } catch (failure) {
      asked = { at, failure };
    }
  };

  /** Many callers wait for one answer. */
  const askOnce = async (): Promise<void> => {
    const mayAsk = !asked || now().getTime() - asked.at >= ASK_AGAIN_MS;
    if (mayAsk) asking ??= ask().finally(() => (asking = undefined));
    await asking;
  };

  const notOlderThan = (ms: number): Held | undefined =>
    held && now().getTime() - held.at < ms ? held : undefined;

  return async (header, token) => {
    if (!notOlderThan(FRESH_MS)) {
      const answered = askOnce();
      // An issuer that failed last time may take its time now, and what it gave before serves meanwhile.
      if (!asked?.failure || !notOlderThan(STALE_MS)) await answered;
    }
    const known = notOlderThan(STALE_MS);
    if (!known) throw asked?.failure ?? new Error(`the keys of ${issuer} are too old`);
    try {
      return await known.find(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
    }
    await askOnce();
    // Signed with a key that may be new, and the issuer cannot say: nobody knows whether this is a token.
    if (asked?.failure) throw asked.failure;
    return (held ?? known).find(header, token);
  };
};

/** Where the keys are is told by the issuer: as OpenID Connect has it, or else as RFC 8414 does. */
const keySetOf = async (issuer: string): Promise<unknown> => {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, "");
  const places = [
    `${origin}${path}/.well-known/openid-configuration`,
    `${origin}/.well-known/oauth-authorization-server${path}`,
  ];
  for (const place of places) {
    const metadata = await jsonAt(place);
    if (metadata !== undefined) return await keySetBy(issuer, place, metadata);
  }
  throw new Error(`${issuer} tells nothing about itself at ${places.join(" or ")}`);
};

const keySetBy = async (issuer: string, place: string, metadata: unknown): Promise<unknown> => {
  const { issuer: named, jwks_uri: at } = Object(metadata) as Readonly<Record<string, unknown>>;
  // RFC 8414 §3.3: metadata of somebody else must not be used.
  if (named !== issuer) throw new Error(`${place} is the metadata of another issuer`);
  if (typeof at !== "string" || !URL.canParse(at)) throw new Error(`${place} names no jwks_uri`);
  // Plain http is for an issuer on this machine alone, which then has its keys here too.
  if (!at.startsWith("https:") && new URL(at).origin !== new URL(issuer).origin)
    throw new Error(`${place} names keys that are not behind https`);
  const keys = await jsonAt(at);
  if (keys === undefined) throw new Error(`${at} has no keys`);
  return keys;
};
