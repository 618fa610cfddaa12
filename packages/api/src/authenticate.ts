import { findKey } from "@mailproof/core/access/keys";
import { findAccount } from "@mailproof/core/accounts/accounts";
import { Failure } from "@mailproof/core/failure";
import type { World } from "@mailproof/core/world";
import type { Access, Caller } from "./endpoint.ts";

export type Headers = Readonly<Record<string, string | undefined>>;

/** Who is calling. One sentence for every reason to refuse: which one it was helps only a guesser. */
export const authenticate = async (world: World, headers: Headers): Promise<Caller> => {
  const sent = credentialIn(headers);
  const key = sent && (await findKey(world, sent));
  const account = key && (await findAccount(world.table, key.account));
  if (!account) throw unauthorized();
  const { id: keyId, mode, scopes } = key;
  return { account: account.account, keyId, mode, scopes, plan: account.plan };
};

/** An operation that is nobody's scope is reserved: a scoped key may never mint itself a wider one. */
export const assertMay = (caller: Caller, access: Access): void => {
  if (access === "public" || caller.scopes === null) return;
  if (access === "unrestricted")
    throw forbidden("This operation is reserved for unrestricted keys.");
  if (!caller.scopes.includes(access))
    throw forbidden(`This key does not hold the scope ${access}.`, access);
};

const BEARER = /^Bearer +(\S+)$/i;

/** Undefined also when two headers name two different keys: nobody knows which one was meant. */
const credentialIn = (headers: Headers): string | undefined => {
  const own = headers["x-api-key"]?.trim();
  const bearer = BEARER.exec(headers["authorization"]?.trim() ?? "")?.[1];
  return own && bearer && own !== bearer ? undefined : own || bearer;
};

const unauthorized = () =>
  new Failure(
    "UNAUTHORIZED",
    "nothing_charged",
    "Send a valid API key in X-Api-Key, or as a bearer token.",
    { headers: { "www-authenticate": 'Bearer realm="mailproof"' } },
  );

const forbidden = (what: string, requiredScope?: string) =>
  new Failure("FORBIDDEN", "nothing_charged", what, {
    ...(requiredScope && { details: { required_scope: requiredScope } }),
  });
