import type { BlocklistKeys } from "../mail/blocklists/analyse.ts";
import type { IsHealthy } from "../mail/blocklists/health.ts";
import type { Blocklist } from "../mail/blocklists/lists.ts";
import type { Dns } from "../mail/dns/dns.ts";
import type { FetchPolicy } from "../mail/hints/mta-sts.ts";
import type { Cidr } from "../mail/ip.ts";
import type { World } from "../ports/world.ts";
import { analyseDomain, type CheckReport, type NoVerdict } from "./analyse-domain.ts";
import type { CheckSubject } from "./items.ts";

/** The way to what domains publish, and to what others say of them. */
export type DnsLookups = {
  /** Remembers nothing from one check to the next: whoever has mended a record wants to see it. */
  readonly dns: Dns;
  /** Blocklists refuse the resolvers of clouds, so they may be asked through others. */
  readonly listDns: Dns;
  readonly fetchPolicy?: FetchPolicy;
  /** Addresses that count as public although they are not, for a lab. */
  readonly allowed: readonly Cidr[];
  readonly blocklists: {
    /** A lab has lists of its own, which know its addresses. */
    readonly listsFor: (domain: string) => readonly Blocklist[];
    /** By what a list says that it needs; secret. */
    readonly keys: BlocklistKeys;
    /** What the lists came to is remembered by the process. */
    readonly isHealthy: IsHealthy;
  };
};

/** For functions that check domains. */
export type WithDnsLookups = { readonly names: DnsLookups };
export type CheckWorld = World & WithDnsLookups;

/** Looks a domain up: everything that these names tell about it. */
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
      // A label that nobody can have chosen.
      randomLabel: Buffer.from(randomBytes(8)).toString("hex"),
      allowed: lookups.allowed,
      blocklists: { ...lists, lists: listsFor(domain) },
    },
  );
};
