import type { AppWorld } from "@mailproof/core/app-world";
import { type BoundedMap, createBoundedMap } from "@mailproof/core/lib/bounded-map";
import { getWindowStart } from "@mailproof/core/lib/time";
import type { Headers } from "./authenticate.ts";

// The credentials that have used up their minute. Refusing them needs no look-up of the account: a burst costs neither
// a read nor a write.

type Limited = { readonly limit: number; readonly resetAt: number };

const WINDOW_SECONDS = 60;
/** Beyond this number the oldest entry is dropped, and its next request costs the reads again. */
const REMEMBERED_MAX = 10_000;

const limited = new WeakMap<AppWorld["rateLimit"], BoundedMap<Limited>>();

/** Only for valid credentials that have used up their minute. */
export const rememberLimited = (world: AppWorld, headers: Headers, { limit, resetAt }: Limited) => {
  const callers = limited.get(world.rateLimit) ?? createBoundedMap<Limited>(REMEMBERED_MAX);
  limited.set(world.rateLimit, callers);
  callers.set(readCredentials(headers), { limit, resetAt });
};

export const findLimited = (world: AppWorld, headers: Headers): Limited | undefined => {
  const callers = limited.get(world.rateLimit);
  const found = callers?.get(readCredentials(headers));
  // An entry of another minute, earlier or later: the clock may have been set.
  return found?.resetAt === getWindowStart(world.now(), WINDOW_SECONDS) + WINDOW_SECONDS
    ? found
    : undefined;
};

const readCredentials = (headers: Headers): string =>
  JSON.stringify([headers["x-api-key"] ?? null, headers["authorization"] ?? null]);
