import { getWindowStart } from "../lib/time.ts";
import type { Key, Table } from "../ports/table.ts";
import type { World } from "../ports/world.ts";

/** `resetAt` is in epoch seconds: when the window ends and the count starts again. */
export type RateLimitResult = {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  readonly resetAt: number;
};

/** Counts one request against the key's limit per minute. */
export type RateLimit = (keyId: string, limit: number) => Promise<RateLimitResult>;

const WINDOW_SECONDS = 60;
// A process whose clock is a little behind still finds its window.
const RETENTION_SECONDS = 60;

//   pk              sk              what
//   RATE#<key id>   <window start>  n: the requests allowed in this window
const toWindowKey = (keyId: string, startsAt: number): Key => ({
  pk: `RATE#${keyId}`,
  sk: String(startsAt),
});

/**
 * A fixed window of one minute, counted in the table, so all processes share the count. A process remembers a full
 * window: a refused burst costs no write and no read.
 */
export const createRateLimit = (table: Table, now: World["now"]): RateLimit => {
  const exhaustedUntil = new Map<string, number>();

  return async (keyId, limit) => {
    const startsAt = getWindowStart(now(), WINDOW_SECONDS);
    const resetAt = startsAt + WINDOW_SECONDS;
    const refused = { allowed: false, limit, remaining: 0, resetAt };
    if (exhaustedUntil.get(keyId) === resetAt) return refused;

    const result = await table.write({
      update: toWindowKey(keyId, startsAt),
      add: { n: 1 },
      bounds: { n: { atMost: limit } },
      set: { expires_at: resetAt + RETENTION_SECONDS },
      orCreate: true,
    });
    if (result.outcome === "refused") {
      dropExpired(exhaustedUntil, resetAt);
      exhaustedUntil.set(keyId, resetAt);
      return refused;
    }
    // A lost reply does not refuse a paying client; the count is at most one off.
    const used = result.outcome === "committed" ? Number(result.item?.["n"]) : limit;
    return { allowed: true, limit, remaining: limit - used, resetAt };
  };
};

/** Limits the memory to the keys that reached their limit this minute. */
const dropExpired = (exhaustedUntil: Map<string, number>, resetAt: number): void => {
  for (const [keyId, until] of exhaustedUntil) if (until < resetAt) exhaustedUntil.delete(keyId);
};
