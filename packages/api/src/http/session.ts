import { toPayer } from "@mailproof/core/accounts/account-items";
import { admitAccount } from "@mailproof/core/accounts/accounts";
import type { Scope } from "@mailproof/core/accounts/scopes";
import type { AppWorld } from "@mailproof/core/app-world";
import { Failure } from "@mailproof/core/lib/failure";
import { readOwnerId } from "@mailproof/core/money/payer";
import { findMember } from "@mailproof/core/people/members";
import { isLimited, listMemberScopes, RIGHTS } from "@mailproof/core/people/roles";
import { findSession, isFresh, type SignedIn, touchSession } from "@mailproof/core/people/sessions";
import type { Caller, Endpoint } from "./endpoint.ts";

// A person's session arrives in a cookie, which a browser also sends for pages of others. So the cookie counts only for
// requests of this service's own pages, and never beside a key.

/** The prefix makes browsers refuse the cookie without Secure, for a path, or from another host. */
const COOKIE = "__Host-mailproof";
/** The account in which the person acts, such as acc_1, or acc_1~test for its simulated results. */
const ACCOUNT_HEADER = "mailproof-account";
const OWNER_LENGTH_MAX = 100;
const TOKEN = /^[\w-]{43}$/;

type Headers = Readonly<Record<string, string | undefined>>;

const ATTRIBUTES = "Path=/; Secure; HttpOnly; SameSite=Lax";

/** The headers of a response that begins a session. */
export const toSessionHeaders = (token: string): Record<string, string> => ({
  "set-cookie": `${COOKIE}=${token}; ${ATTRIBUTES}; Max-Age=604800`,
});

/** The headers of a response that ends a session. */
export const SESSION_END_HEADERS = { "set-cookie": `${COOKIE}=; ${ATTRIBUTES}; Max-Age=0` };

/** Old browsers lack Sec-Fetch-Site and send Origin, except with a GET, which then has no session. */
export const isFromOwnPage = (headers: Headers, baseUrl: string): boolean => {
  const site = headers["sec-fetch-site"];
  if (site !== undefined) return site === "same-origin";
  const origin = headers["origin"];
  return origin !== undefined && toOwnOrigins(baseUrl).includes(origin);
};

/** On this machine a server has two names, and browsers allow passkeys only at the first. */
export const toOwnOrigins = (baseUrl: string): readonly [string, ...string[]] => {
  const { origin } = new URL(baseUrl);
  const named = origin.replace(/^http:\/\/(?:127\.0\.0\.1|\[::1\])(?=:|$)/, "http://localhost");
  return named === origin ? [origin] : [named, origin];
};

/** The URL of a page of the dashboard, with the name at which browsers allow passkeys. */
export const toPageUrl = (baseUrl: string, page: string): string => {
  const [named] = toOwnOrigins(baseUrl);
  return `${named}${new URL(baseUrl).pathname.replace(/\/$/, "")}/app/${page}`;
};

/** A token after # is sent to no server. */
export const toInvitationUrl = (baseUrl: string, token: string): string =>
  toPageUrl(baseUrl, `link#${token}`);

/** The token of the session; null without one, and for a request that may come from another site's page. */
export const readSessionToken = (headers: Headers, baseUrl: string): string | null => {
  if (headers["x-api-key"] !== undefined || headers["authorization"] !== undefined) return null;
  const sent = (headers["cookie"] ?? "")
    .split(";")
    .map((one) => one.trim())
    .filter((one) => one.startsWith(`${COOKIE}=`))
    .map((one) => one.slice(COOKIE.length + 1));
  const [token] = sent;
  if (token === undefined || sent.length > 1 || !TOKEN.test(token)) return null;
  return isFromOwnPage(headers, baseUrl) ? token : null;
};

/** Returns the signed-in person as a caller; undefined when the session does not admit to the account. */
export const callerBySession = async (
  world: AppWorld,
  token: string,
  headers: Headers,
  isPersonal: boolean,
): Promise<Caller | undefined> => {
  const found = await findSession(world, token);
  if (!found) return undefined;
  const person = toSignedIn(world, found);
  const caller = { credential: "session", keyId: found.person.id } as const;
  const recordUse = () => touchSession(world, found.session);
  if (isPersonal && headers[ACCOUNT_HEADER] === undefined)
    // The rate limit counts by the account.
    return {
      ...caller,
      account: found.person.id,
      mode: "live",
      plan: "free",
      scopes: [],
      person,
      recordUse,
    };
  const owner = headers[ACCOUNT_HEADER] ?? "";
  if (owner.length > OWNER_LENGTH_MAX) return undefined;
  const { account: id, mode } = readOwnerId(owner);
  const member = await findMember(world.table, id, found.person.id);
  if (!member || found.session.signedInAt < (member.changedAt ?? "")) return undefined;
  // After the membership: a person who guesses an account's id does not learn that it is disabled.
  const account = await admitAccount(world.table, id);
  if (!account) return undefined;
  return {
    ...caller,
    ...toPayer(account, mode),
    scopes: listMemberScopes(member.role, member.area, account.area),
    person: {
      ...person,
      role: member.role,
      monthlyHalves: member.monthlyHalves,
      isLimited: isLimited(member),
      area: member.role === "owner" ? undefined : (member.area ?? account.area),
    },
    recordUse,
  };
};

const toSignedIn = (
  world: AppWorld,
  { session, person }: SignedIn,
): NonNullable<Caller["person"]> => ({
  id: person.id,
  name: person.name,
  role: null,
  session: session.hash,
  isFresh: isFresh(world, session),
});

/** Refuses an operation for people to a key, to a role that manages nobody, and after an old sign-in. */
export const assertMayAsPerson = (
  { person }: Caller,
  { access, freshSignIn }: Pick<Endpoint, "access" | "freshSignIn">,
): void => {
  if ((access === "person" || access === "people") && !person)
    throw new Failure("FORBIDDEN", "nothing_charged", FOR_PEOPLE);
  if (access === "people" && !(person?.role && RIGHTS[person.role].manages.length > 0))
    throw new Failure("FORBIDDEN", "nothing_charged", "Your role does not manage members.");
  if (freshSignIn) assertFresh(person);
};

/** Throws after an old sign-in of a person. Keys are not affected. */
export const assertFresh = (person: Caller["person"]): void => {
  if (!person || person.isFresh) return;
  const details = { sign_in_again: true };
  throw new Failure("FORBIDDEN", "nothing_charged", SIGN_IN_AGAIN, { details });
};

/** Why the session does not have this right: the role lacks it, or a limit excludes it. */
export const explainMissingRight = ({ person }: Caller, right: Scope): string => {
  const { role, area } = person ?? {};
  return area && role && RIGHTS[role].scopes?.includes(right)
    ? `Your access to this account is limited to ${area}, which excludes the right ${right}.`
    : `Your role does not include the right ${right}.`;
};

const FOR_PEOPLE =
  "This operation is for people who have signed in to the dashboard, not for keys.";
const SIGN_IN_AGAIN =
  "This operation requires a sign-in within the last five minutes. Sign in again.";
