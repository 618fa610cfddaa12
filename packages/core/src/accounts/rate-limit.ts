import { getWindowStart } from "../lib/time.ts";
import type { Key, Table } from "../ports/table.ts";
import type { World } from "../ports/world.ts";

/** `resetAt` is in epoch seconds: the moment the window ends and the count starts again. */
export type RateLimitResult = {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  readonly resetAt: number;
};

/** Takes one request from the minute's allowance of a key. */
export type RateLimit = (keyId: string, limit: number) => Promise<RateLimitResult>;

const WINDOW_SECONDS = 60;
// A clock that is a little behind elsewhere still finds the window it writes to.
const RETENTION_SECONDS = 60;

//   pk              sk              what
//   RATE#<key id>   <window start>  n: the requests let through in this window
const toWindowKey = (keyId: string, startsAt: number): Key => ({
  pk: `RATE#${keyId}`,
  sk: String(startsAt),
});

/**
 * A fixed window of one minute, counted in the table, so every process counts together. Once a window is
 * full this process remembers it: a refused burst costs no write and no read.
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
    // A lost reply is no reason to turn a paying caller away; the count is at most one off.
    const used = result.outcome === "committed" ? Number(result.item?.["n"]) : limit;
    return { allowed: true, limit, remaining: limit - used, resetAt };
  };
};

/** Keeps the memory as small as the number of keys that ran into their limit this minute. */
const dropExpired = (exhaustedUntil: Map<string, number>, resetAt: number): void => {
  for (const [keyId, until] of exhaustedUntil) if (until < resetAt) exhaustedUntil.delete(keyId);
};
