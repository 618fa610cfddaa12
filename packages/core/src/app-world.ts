import type { AccessTokens } from "./accounts/access-tokens.ts";
import type { RateLimit } from "./accounts/rate-limit.ts";
import type { WithIssuers } from "./control/issuers.ts";
import type { WithDnsLookups } from "./deliverability/dns-lookups.ts";
import type { WithReading } from "./deliverability/reading.ts";
import type { WithOidc } from "./people/oidc.ts";
import type { WithPasskeys } from "./people/passkeys.ts";
import type { World } from "./ports/world.ts";
import type { RequestLog } from "./requests/request-log.ts";
import type { ListReads } from "./runtime/list-reads.ts";
import type { LongPolls } from "./runtime/long-polls.ts";
import type { WithEngine } from "./verify/engine.ts";

/** Services that the composed app builds from the ports, once per process. */
type Services = WithEngine &
  WithDnsLookups &
  WithIssuers &
  WithOidc &
  WithPasskeys &
  WithReading & {
    readonly rateLimit: RateLimit;
    readonly requestLog: RequestLog;
    /** Null when the service accepts only API keys. */
    readonly accessTokens: AccessTokens | null;
    readonly longPolls: LongPolls;
    readonly listReads: ListReads;
  };

/** The parameter of endpoints, workers and schedules. A function declares only the part that it needs. */
export type AppWorld = World & Services;
