import type { BlocklistKeys } from "../mail/blocklists/analyse.ts";
import type { IsHealthy } from "../mail/blocklists/health.ts";
import type { Blocklist } from "../mail/blocklists/lists.ts";
import type { Dns } from "../mail/dns/dns.ts";
import type { FetchDocument } from "../mail/hints/fetched-document.ts";
import type { Cidr } from "../mail/ip.ts";
import type { World } from "../ports/world.ts";
import { analyseDomain, type CheckReport, type NoVerdict } from "./analyse-domain.ts";
import type { CheckSubject } from "./items.ts";
import type { WithReading } from "./reading.ts";

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

/** For functions that check domains. */
export type WithDnsLookups = { readonly names: DnsLookups };
export type CheckWorld = World & WithDnsLookups & WithReading;

/** Checks one domain through these ports. */
export const runLookups = (
  { now, sleep, randomBytes }: Pick<World, "now" | "sleep" | "randomBytes">,
  lookups: DnsLookups,
  { domain, sendingIp }: CheckSubject,
): Promise<CheckReport | NoVerdict> => {
  const { listsFor, ...lists } = lookups.blocklists;
  return analyseDomain(
    { ...lookups, now, sleep },
    {
      domain,
      sendingIp: sendingIp ?? undefined,
      // A label that no zone can have on purpose.
      randomLabel: Buffer.from(randomBytes(8)).toString("hex"),
      dkimSelectors: lookups.dkimSelectors,
      allowed: lookups.allowed,
      blocklists: { ...lists, lists: listsFor(domain) },
    },
  );
};
