import type { AccessTokens } from "./accounts/access-tokens.ts";
import type { RateLimit } from "./accounts/rate-limit.ts";
import type { WithDnsLookups } from "./deliverability/dns-lookups.ts";
import type { World } from "./ports/world.ts";
import type { WithEngine } from "./verify/engine.ts";

/** What features make out of a world. Built once per process, where the app is composed. */
type Services = WithEngine &
  WithDnsLookups & {
    readonly rateLimit: RateLimit;
    /** Null: only our own keys open anything. */
    readonly accessTokens: AccessTokens | null;
  };

/** What endpoints, workers and schedules are handed. A function that needs less of it says so in its parameter. */
export type AppWorld = World & Services;
