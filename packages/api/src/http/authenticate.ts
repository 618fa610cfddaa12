import type { TokenClaims } from "@mailproof/core/accounts/access-tokens";
import { toPayer } from "@mailproof/core/accounts/account-items";
import { admitAccount } from "@mailproof/core/accounts/accounts";
import { findKey, storeLastUse } from "@mailproof/core/accounts/api-keys";
import { mayUseFrom } from "@mailproof/core/accounts/key-networks";
import { mayUseAt, toVisitor } from "@mailproof/core/accounts/public-keys";
import { SCOPES } from "@mailproof/core/accounts/scopes";
import type { AppWorld } from "@mailproof/core/app-world";
import { Failure } from "@mailproof/core/lib/failure";
import { getOwnerId, KEY_MODES } from "@mailproof/core/money/payer";
import * as v from "valibot";
import { challenge } from "./challenge.ts";
import type { Caller, Endpoint } from "./endpoint.ts";
import { HttpFailure } from "./http-failure.ts";
import {
  assertMayAsPerson,
  callerBySession,
  explainMissingRight,
  readSessionToken,
} from "./session.ts";

const ACCOUNT_LENGTH_MAX = 100;
const JWT = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/** The claims that a token needs. A token with an unknown mode must not pass for a live token. */
const Ours = v.object({
  mailproof_account: v.pipe(v.string(), v.minLength(1), v.maxLength(ACCOUNT_LENGTH_MAX)),
  mailproof_mode: v.optional(v.picklist(KEY_MODES), "live"),
});

/** Returns the caller of this access token; undefined when the token gives no access. */
const callerByToken = async (world: AppWorld, sent: string): Promise<Caller | undefined> => {
  const claims = JWT.test(sent) ? await world.accessTokens?.verify(sent) : undefined;
  const ours = v.safeParse(Ours, claims);
  if (!claims || !ours.success) return undefined;
  const { mailproof_account: id, mailproof_mode: mode } = ours.output;
  const account = await admitAccount(world.table, id);
  if (!account) return undefined;
  return {
    ...toPayer(account, mode),
    credential: "token",
    // An account's access tokens share one rate limit, because a client may get new tokens within minutes.
    keyId: `oauth_${getOwnerId({ account: account.account, mode })}`,
    scopes: scopesIn(claims),
  };
};

/** Never null: a token without one of our scopes cannot call an operation that needs a scope. */
const scopesIn = ({ scope, scp }: TokenClaims): NonNullable<Caller["scopes"]> => {
  const granted = [...splitWords(scope), ...splitWords(scp)];
  return SCOPES.filter((one) => granted.includes(one));
};

/** RFC 8693 §4.2 defines one text with spaces; some issuers send a list under its older name `scp`. */
const splitWords = (claim: unknown): readonly unknown[] => {
  if (typeof claim === "string") return claim.split(" ");
  return Array.isArray(claim) ? claim : [];
};

export type Headers = Readonly<Record<string, string | undefined>>;

/** `clientIp` is the address of the client, if known. */
export type Credentials = {
  readonly headers: Headers;
  /** The service's URL for the client. Absent where only keys and tokens count. */
  readonly baseUrl?: string;
  readonly clientIp?: string | undefined;
};

/** Identifies the caller. Every refusal has the same message, because the reason would only help an attacker. */
export const authenticate = async (
  world: AppWorld,
  { headers, clientIp, baseUrl }: Credentials,
  isPersonal = false,
): Promise<Caller> => {
  const session = baseUrl === undefined ? null : readSessionToken(headers, baseUrl);
  if (session !== null) {
    const person = await callerBySession(world, session, headers, isPersonal);
    if (person) return person;
  }
  const { own, bearer } = credentialsIn(headers);
  // Two headers with two different keys do not show which key the client means.
  const sent = own && bearer && own !== bearer ? undefined : own || bearer;
  const caller =
    sent &&
    ((await callerByKey(world, sent, { headers, clientIp })) ??
      (own ? undefined : await callerByToken(world, sent)));
  if (!caller) throw unauthorized(world, bearer !== undefined);
  return caller;
};

/**
 * An operation without a scope is reserved: a scoped key must not create a wider key for itself. An access token always has
 * scopes, so only operations with a scope accept one.
 */
export const assertMay = (
  world: AppWorld,
  caller: Caller,
  endpoint: Pick<Endpoint, "access" | "forVisitors" | "freshSignIn">,
): void => {
  const { scopes, credential, visitor } = caller;
  const { access, forVisitors } = endpoint;
  assertMayAsPerson(caller, endpoint);
  if (access === "person" || access === "people") return;
  if (access === "public" || scopes === null || (visitor && forVisitors)) return;
  assertNoVisitor(caller);
  if (access === "unrestricted") throw new Failure("FORBIDDEN", "nothing_charged", RESERVED);
  if (scopes.includes(access)) return;
  const what =
    credential === "session"
      ? explainMissingRight(caller, access)
      : `This ${credential} does not hold the scope ${access}.`;
  throw new HttpFailure("FORBIDDEN", "nothing_charged", what, {
    details: { required_scope: access },
    // The scopes of a key are fixed; a client can request a token with another scope.
    headers:
      credential === "token"
        ? challenge(world, { error: "insufficient_scope", scope: access })
        : {},
  });
};

export const assertNoVisitor = ({ visitor }: Caller): void => {
  if (visitor) throw new Failure("FORBIDDEN", "nothing_charged", PUBLIC_KEY);
};

const callerByKey = async (
  world: AppWorld,
  sent: string,
  { headers: { origin }, clientIp }: Credentials,
): Promise<Caller | undefined> => {
  const key = await findKey(world, sent);
  const account = key && (await admitAccount(world.table, key.account));
  if (!account) return undefined;
  if (!mayUseFrom(key, clientIp)) throw new Failure("FORBIDDEN", "nothing_charged", OTHER_NETWORK);
  const { id: keyId, mode, scopes, publicUse: use } = key;
  if (!mayUseAt(use, origin)) throw new Failure("FORBIDDEN", "nothing_charged", OTHER_ORIGIN);
  return {
    ...toPayer(account, mode),
    credential: "key",
    keyId,
    scopes,
    ...(use && origin && { visitor: { id: toVisitor(world, keyId, clientIp), use, origin } }),
    recordUse: () => storeLastUse(world, key),
  };
};

/** The message does not list the networks, because the caller may have found the key. */
const OTHER_NETWORK = "This key is not accepted from the network of this request.";

/** The message does not list the origins, because the caller may have found the key. */
const OTHER_ORIGIN =
  "This key is public, and not accepted from the origin of this request. The origins are set when the key is created.";
const PUBLIC_KEY =
  "A public key verifies addresses that visitors type, by POST /v1/verify/form, and does nothing else.";

const RESERVED = "This operation is reserved for unrestricted keys and owners.";

const BEARER = /^Bearer +(\S+)$/i;

const credentialsIn = (headers: Headers) => ({
  own: headers["x-api-key"]?.trim(),
  bearer: BEARER.exec(headers["authorization"]?.trim() ?? "")?.[1],
});

/** RFC 6750 §3.1: a request without a token gets no error code. */
const unauthorized = (world: AppWorld, hasBearer: boolean) => {
  const what = world.accessTokens
    ? "Send a valid API key in X-Api-Key, or as a bearer token, or an access token."
    : "Send a valid API key in X-Api-Key, or as a bearer token.";
  return new HttpFailure("UNAUTHORIZED", "nothing_charged", what, {
    headers: challenge(world, hasBearer ? { error: "invalid_token" } : {}),
  });
};
