import { windowAt } from "../moments.ts";
import type { Key, Table } from "../table.ts";
import type { World } from "../world.ts";

/** `resetAt` is in epoch seconds: the moment the window ends and the count starts again. */
export type Allowance = {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  readonly resetAt: number;
};

/** Takes one request from the minute's allowance of a key. */
export type RateLimit = (keyId: string, limit: number) => Promise<Allowance>;

const WINDOW_SECONDS = 60;
// A clock that is a little behind elsewhere still finds the window it writes to.
const KEPT_SECONDS = 60;

//   pk              sk              what
//   RATE#<key id>   <window start>  n: the requests let through in this window
const windowKey = (keyId: string, startsAt: number): Key => ({
  pk: `RATE#${keyId}`,
  sk: String(startsAt),
});

/**
 * A fixed window of one minute, counted in the table, so every process counts together. Once a window is
 * full this process remembers it: a refused burst costs no write and no read.
 */
export const rateLimitOver = (table: Table, now: World["now"]): RateLimit => {
  const full = new Map<string, number>();

  return async (keyId, limit) => {
    const startsAt = windowAt(now(), WINDOW_SECONDS);
    const resetAt = startsAt + WINDOW_SECONDS;
    const refused = { allowed: false, limit, remaining: 0, resetAt };
    if (full.get(keyId) === resetAt) return refused;

    const written = await table.write({
      update: windowKey(keyId, startsAt),
      add: { n: 1 },
      leaving: { n: { atMost: limit } },
      set: { expires_at: resetAt + KEPT_SECONDS },
      orCreate: true,
    });
    if (written.outcome === "refused") {
      forgetPast(full, resetAt);
      full.set(keyId, resetAt);
      return refused;
    }
    // A lost reply is no reason to turn a paying caller away; the count is at most one off.
    const taken = written.outcome === "committed" ? Number(written.item?.["n"]) : limit;
    return { allowed: true, limit, remaining: limit - taken, resetAt };
  };
};

/** Keeps the memory as small as the number of keys that ran into their limit this minute. */
const forgetPast = (full: Map<string, number>, resetAt: number): void => {
  for (const [keyId, until] of full) if (until < resetAt) full.delete(keyId);
};
