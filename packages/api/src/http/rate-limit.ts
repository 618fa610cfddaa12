import { VISITOR_REQUESTS_PER_MINUTE } from "@mailproof/core/accounts/public-keys";
import type { RateLimitResult } from "@mailproof/core/accounts/rate-limit";
import type { AppWorld } from "@mailproof/core/app-world";
import { Failure } from "@mailproof/core/lib/failure";
import { fingerprint } from "@mailproof/core/lib/fingerprint";
import { getWindowStart } from "@mailproof/core/lib/time";
import { getOwnerId } from "@mailproof/core/money/payer";
import { PLANS } from "@mailproof/core/money/plans";
import { type BoundedMap, createBoundedMap } from "@mailproof/mail/lib/bounded-map";
import type { Headers } from "./authenticate.ts";
import type { Caller } from "./endpoint.ts";
import { orUnavailable } from "./http-failure.ts";

// The rate limits of a key and its account: their headers, the 429, and this process's memory of limited credentials.

/** Takes one request from the caller's minute and sets the rate limit headers, even when none was left. */
export const takeRequest = async (
  world: AppWorld,
  caller: Caller,
  headers: Record<string, string>,
  credentials: Headers | null,
): Promise<void> => {
  const allowance = await orUnavailable(
    caller.visitor ? takeVisitorRequest(world, caller, caller.visitor.id) : takeOwn(world, caller),
  );
  if (!allowance.allowed) {
    // Other visitors send the same key, so one visitor's limit must not block the credentials.
    if (credentials && !caller.visitor) rememberLimited(world, credentials, allowance);
    throw createRateLimitFailure(world, allowance, headers);
  }
  setRateLimitHeaders(allowance, headers);
};

type Counted = RateLimitResult & { readonly whose: string };

const takeOwn = async (world: AppWorld, caller: Caller): Promise<Counted> => {
  const { requestsPerMinute: key, accountRequestsPerMinute: account } = PLANS[caller.plan];
  const subject = { owner: getOwnerId(caller), keyId: caller.keyId };
  const counted = await world.rateLimit(subject, { key, account });
  return { ...counted, whose: counted.by === "key" ? THIS_KEY : "with the keys of this account" };
};

const THIS_KEY = "with this key";

/**
 * A public key has its own minute, and each visitor a small part of it, so a visitor delays neither other visitors nor the
 * account. Each visitor has a separate item, because one item would grow with their number, and sees only their own numbers.
 */
const takeVisitorRequest = async (
  world: AppWorld,
  { keyId, plan }: Caller,
  visitor: string,
): Promise<Counted> => {
  const most = VISITOR_REQUESTS_PER_MINUTE;
  const subject = { owner: `${keyId}.${visitor}`, keyId: visitor };
  const own = await world.rateLimit(subject, { key: most, account: most });
  if (!own.allowed) return { ...own, whose: "from your network" };
  const { requestsPerMinute: key } = PLANS[plan];
  const all = await world.rateLimit({ owner: keyId, keyId }, { key, account: key });
  return all.allowed ? { ...own, whose: THIS_KEY } : { ...all, whose: THIS_KEY };
};

/**
 * Throws for credentials that have used up their minute. It needs no look-up of the account, so a burst costs neither a read
 * nor a write.
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
/** Above this number the oldest entries are dropped, and their next request costs the reads again. */
const REMEMBERED_MAX = 10_000;

const limitedCallers = new WeakMap<AppWorld["rateLimit"], BoundedMap<Limited>>();

/** Called only for valid credentials that have used up their minute. */
const rememberLimited = (world: AppWorld, headers: Headers, { whose, limit, resetAt }: Limited) => {
  const callers =
    limitedCallers.get(world.rateLimit) ?? createBoundedMap<Limited>({ weightMax: REMEMBERED_MAX });
  limitedCallers.set(world.rateLimit, callers);
  callers.set(readCredentials(headers), { whose, limit, resetAt });
};

const findLimited = (world: AppWorld, headers: Headers): Limited | undefined => {
  const callers = limitedCallers.get(world.rateLimit);
  const found = callers?.get(readCredentials(headers));
  // Ignores an entry of another minute, earlier or later: the clock may have been set.
  return found?.resetAt === getWindowStart(world.now(), WINDOW_SECONDS) + WINDOW_SECONDS
    ? found
    : undefined;
};

/** A fingerprint, because a cookie may be as long as all headers, and 10,000 of them are remembered. */
const readCredentials = (headers: Headers): string =>
  fingerprint([
    headers["x-api-key"] ?? null,
    headers["authorization"] ?? null,
    headers["cookie"] ?? null,
    headers["mailproof-account"] ?? null,
  ]);
