import { getWindowStart } from "../lib/time.ts";
import type { Key, Table } from "../ports/table.ts";
import type { World } from "../ports/world.ts";

/** `resetAt` is the end of the window in epoch seconds, when the count restarts. */
export type RateLimitResult = {
  readonly allowed: boolean;
  /** The numbers describe the limit that the client reaches first. */
  readonly by: "key" | "account";
  readonly limit: number;
  readonly remaining: number;
  readonly resetAt: number;
};

/** The sender of a request. Live and test keys have separate owners, so a test key uses nothing of the live limit. */
export type RateLimitSubject = { readonly owner: string; readonly keyId: string };
export type RateLimits = { readonly key: number; readonly account: number };

/** Counts one request against the limits per minute of the key and of all keys of its owner. */
export type RateLimit = (subject: RateLimitSubject, limits: RateLimits) => Promise<RateLimitResult>;

const WINDOW_SECONDS = 60;
// A process whose clock is slightly behind still finds its window.
const RETENTION_SECONDS = 60;

//   pk             sk              content
//   RATE#<owner>   <window start>  n: the requests allowed in this window; by_<key id>: the requests of one key
const toWindowKey = (owner: string, startsAt: number): Key => ({
  pk: `RATE#${owner}`,
  sk: String(startsAt),
});
const toKeyField = (keyId: string): string => `by_${keyId}`;

/**
 * A fixed window of one minute, counted in the table, so all processes share the count. One write counts for both limits or for
 * neither. A process remembers a full window, so a refused burst costs no write and no read.
 */
export const createRateLimit = (table: Table, now: World["now"]): RateLimit => {
  const fullUntil = new Map<string, number>();

  return async ({ owner, keyId }, limits) => {
    const startsAt = getWindowStart(now(), WINDOW_SECONDS);
    const resetAt = startsAt + WINDOW_SECONDS;
    const toRefusal = (by: RateLimitResult["by"]) =>
      ({ allowed: false, by, limit: limits[by], remaining: 0, resetAt }) as const;
    // A person has one id in several accounts, and a minute in each.
    const credential = `${owner} ${keyId}`;
    if (fullUntil.get(credential) === resetAt) return toRefusal("key");
    if (fullUntil.get(owner) === resetAt) return toRefusal("account");

    const field = toKeyField(keyId);
    const key = toWindowKey(owner, startsAt);
    const counting = {
      update: key,
      add: { n: 1, [field]: 1 },
      bounds: { n: { atMost: limits.account }, [field]: { atMost: limits.key } },
      set: { expires_at: resetAt + RETENTION_SECONDS },
      orCreate: true,
    } as const;
    // A power cut may lose this minute's count; nothing else depends on it.
    const result = await table.write(counting, "may be lost");
    if (result.outcome === "refused") {
      dropExpired(fullUntil, resetAt);
      const by = Number((await table.get(key))?.["n"]) >= limits.account ? "account" : "key";
      fullUntil.set(by === "account" ? owner : credential, resetAt);
      return toRefusal(by);
    }
    // A lost reply does not refuse a paying client; the count is at most one off.
    if (result.outcome === "ambiguous")
      return { allowed: true, by: "key", limit: limits.key, remaining: 0, resetAt };
    const remaining = {
      key: limits.key - Number(result.item?.[field]),
      account: limits.account - Number(result.item?.["n"]),
    };
    const by = remaining.account < remaining.key ? "account" : "key";
    return { allowed: true, by, limit: limits[by], remaining: remaining[by], resetAt };
  };
};

/** Bounds the memory to the keys and accounts that reached their limit this minute. */
const dropExpired = (fullUntil: Map<string, number>, resetAt: number): void => {
  for (const [id, until] of fullUntil) if (until < resetAt) fullUntil.delete(id);
};
