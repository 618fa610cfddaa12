import type { BlocklistKeys } from "../blocklists/analyse.ts";
import type { IsHealthy } from "../blocklists/health.ts";
import type { Blocklist } from "../blocklists/lists.ts";
import type { FetchDocument } from "../hints/fetched-document.ts";
import type { Cidr } from "../ip.ts";
import type { Dns } from "./dns.ts";

export type DnsLookups = {
  /** Caches nothing between checks: a customer who has corrected a record wants to see the correction. */
  readonly dns: Dns;
  /** Blocklists refuse the resolvers of clouds, so their queries may go through other resolvers. */
  readonly listDns: Dns;
  readonly fetchDocument?: FetchDocument;
  readonly dkimSelectors: readonly string[];
  /** Addresses that count as public although they are not, such as the lab's. */
  readonly allowed: readonly Cidr[];
  readonly blocklists: {
    /** Returns the lab's own blocklists for its domains: they know the lab's addresses. */
    readonly listsFor: (domain: string) => readonly Blocklist[];
    readonly keys: BlocklistKeys;
    readonly isHealthy: IsHealthy;
  };
};
