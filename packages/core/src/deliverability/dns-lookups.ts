import type { DnsLookups } from "@mailproof/mail/dns/lookups";
import type { World } from "../ports/world.ts";
import { analyseDomain, type CheckReport, type NoVerdict } from "./analyse-domain.ts";
import type { CheckSubject } from "./items.ts";
import type { WithReading } from "./reading.ts";

export type WithDnsLookups = { readonly names: DnsLookups };
export type CheckWorld = World & WithDnsLookups & WithReading;

export const runLookups = (
  { now, sleep, randomBytes }: Pick<World, "now" | "sleep" | "randomBytes">,
  lookups: DnsLookups,
  { domain, sendingIp }: CheckSubject,
  reportsMailbox?: string,
): Promise<CheckReport | NoVerdict> => {
  const { listsFor, ...lists } = lookups.blocklists;
  return analyseDomain(
    { ...lookups, now, sleep },
    {
      domain,
      sendingIp: sendingIp ?? undefined,
      reportsMailbox,
      randomLabel: Buffer.from(randomBytes(8)).toString("hex"),
      dkimSelectors: lookups.dkimSelectors,
      allowed: lookups.allowed,
      blocklists: { ...lists, lists: listsFor(domain) },
    },
  );
};
