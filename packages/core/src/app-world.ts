import type { RateLimit } from "./access/rate.ts";
import type { AccessTokens } from "./access/tokens.ts";
import type { WithDnsLookups } from "./deliverability/names.ts";
import type { WithEngine } from "./verify/engine.ts";
import type { World } from "./world.ts";

/** What features make out of a world. Built once per process, where the app is composed. */
type Services = WithEngine &
  WithDnsLookups & {
    readonly rateLimit: RateLimit;
    /** Null: only our own keys open anything. */
    readonly accessTokens: AccessTokens | null;
  };

/** What endpoints, workers and schedules are handed. A function that needs less of it says so in its parameter. */
export type AppWorld = World & Services;
