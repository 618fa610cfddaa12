import { VISITOR_REQUESTS_PER_MINUTE } from "@mailproof/core/accounts/public-keys";
import type { RateLimitResult } from "@mailproof/core/accounts/rate-limit";
import type { AppWorld } from "@mailproof/core/app-world";
import { Failure } from "@mailproof/core/lib/failure";
import { getWindowStart } from "@mailproof/core/lib/time";
import { getOwnerId } from "@mailproof/core/money/payer";
import { PLANS } from "@mailproof/core/money/plans";
import { type BoundedMap, createBoundedMap } from "@mailproof/mail/lib/bounded-map";
import type { Headers } from "./authenticate.ts";
import type { Caller } from "./endpoint.ts";
import { orUnavailable } from "./http-failure.ts";

// The rate limits of a key and its account: their headers, its 429, and the credentials that this process remembers as limited.

/** Takes one request from the caller's minute and sets the rate limit headers, also when none was left. */
export const takeRequest = async (
  world: AppWorld,
  caller: Caller,
  headers: Record<string, string>,
  credentials: Headers | null,
): Promise<void> => {
  const { subject, limits } = findLimits(caller);
  const counted = await orUnavailable(world.rateLimit(subject, limits));
  const allowance = { ...counted, whose: toWhose(caller, counted) };
  if (!allowance.allowed) {
    // Other visitors send the same key.
    if (credentials && !caller.visitor) rememberLimited(world, credentials, allowance);
    throw createRateLimitFailure(world, allowance, headers);
  }
  setRateLimitHeaders(allowance, headers);
};

/** A public key has a minute of its own, and each of its visitors a part of it: no visitor holds up the account. */
const findLimits = ({ plan, visitor, keyId, ...caller }: Caller) => {
  const { requestsPerMinute: key, accountRequestsPerMinute: account } = PLANS[plan];
  return visitor
    ? {
        subject: { owner: keyId, keyId: visitor.id },
        limits: { key: VISITOR_REQUESTS_PER_MINUTE, account: key },
      }
    : { subject: { owner: getOwnerId(caller), keyId }, limits: { key, account } };
};

const toWhose = ({ visitor }: Caller, { by }: RateLimitResult): string => {
  if (visitor) return by === "key" ? "from your network" : "with this key";
  return by === "key" ? "with this key" : "with the keys of this account";
};

/**
 * Throws for credentials that have used up their minute. It needs no look-up of the account, so a burst costs neither a
 * read nor a write.
 */
export const assertNotLimited = (
  world: AppWorld,
  credentials: Headers,
  headers: Record<string, string>,
): void => {
  const limited = findLimited(world, credentials);
  if (limited) throw createRateLimitFailure(world, { ...limited, remaining: 0 }, headers);
};

type Allowance = Omit<RateLimitResult, "allowed" | "by"> & { readonly whose: string };

const setRateLimitHeaders = (
  { limit, remaining, resetAt }: Pick<Allowance, "limit" | "remaining" | "resetAt">,
  headers: Record<string, string>,
): void => {
  headers["x-ratelimit-limit"] = String(limit);
  headers["x-ratelimit-remaining"] = String(remaining);
  headers["x-ratelimit-reset"] = String(resetAt);
};

const createRateLimitFailure = (
  world: AppWorld,
  allowance: Allowance,
  headers: Record<string, string>,
): Failure => {
  setRateLimitHeaders(allowance, headers);
  const seconds = Math.max(1, Math.ceil(allowance.resetAt - world.now().getTime() / 1000));
  const what = `Too many requests ${allowance.whose}; the next minute starts in ${seconds} s.`;
  return new Failure("RATE_LIMITED", "nothing_charged", what, {
    retryAfterMs: seconds * 1000,
  });
};

type Limited = Omit<Allowance, "remaining">;

const WINDOW_SECONDS = 60;
/** Beyond this number the oldest entries are dropped, and their next request costs the reads again. */
const REMEMBERED_MAX = 10_000;

const limitedCallers = new WeakMap<AppWorld["rateLimit"], BoundedMap<Limited>>();

/** Only for valid credentials that have used up their minute. */
const rememberLimited = (world: AppWorld, headers: Headers, { whose, limit, resetAt }: Limited) => {
  const callers =
    limitedCallers.get(world.rateLimit) ?? createBoundedMap<Limited>({ weightMax: REMEMBERED_MAX });
  limitedCallers.set(world.rateLimit, callers);
  callers.set(readCredentials(headers), { whose, limit, resetAt });
};

const findLimited = (world: AppWorld, headers: Headers): Limited | undefined => {
  const callers = limitedCallers.get(world.rateLimit);
  const found = callers?.get(readCredentials(headers));
  // An entry of another minute, earlier or later: the clock may have been set.
  return found?.resetAt === getWindowStart(world.now(), WINDOW_SECONDS) + WINDOW_SECONDS
    ? found
    : undefined;
};

const readCredentials = (headers: Headers): string =>
  JSON.stringify([headers["x-api-key"] ?? null, headers["authorization"] ?? null]);
