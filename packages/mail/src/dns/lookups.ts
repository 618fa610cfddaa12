import type { BlocklistKeys } from "../blocklists/analyse.ts";
import type { IsHealthy } from "../blocklists/health.ts";
import type { Blocklist } from "../blocklists/lists.ts";
import type { FetchDocument } from "../hints/fetched-document.ts";
import type { Cidr } from "../ip.ts";
import type { Dns } from "./dns.ts";

/** The ports to what domains publish, and to what blocklists say about them. */
export type DnsLookups = {
  /** Caches nothing from one check to the next: a customer that has corrected a record wants to see it. */
  readonly dns: Dns;
  /** Blocklists refuse the resolvers of clouds, so their queries may go through others. */
  readonly listDns: Dns;
  readonly fetchDocument?: FetchDocument;
  /** The operator's list of DKIM selectors. */
  readonly dkimSelectors: readonly string[];
  /** Addresses that count as public although they are not, such as the lab's. */
  readonly allowed: readonly Cidr[];
  readonly blocklists: {
    /** The lab has blocklists of its own, which know its addresses. */
    readonly listsFor: (domain: string) => readonly Blocklist[];
    /** The key that each list requires; secret. */
    readonly keys: BlocklistKeys;
    /** The process remembers the health of each list. */
    readonly isHealthy: IsHealthy;
  };
};
