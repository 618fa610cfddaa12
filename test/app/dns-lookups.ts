import type { AppWorld } from "@mailproof/core/app-world";
import { createSandboxLookups } from "@mailproof/core/deliverability/sandbox";
import { createList } from "@mailproof/mail/blocklists/lists";
import type { Dns } from "@mailproof/mail/dns/dns";
import type { DnsLookups } from "@mailproof/mail/dns/lookups";
import { createZoneDns, type Zone } from "./zone.ts";

const sandboxLookups = new Map<string, DnsLookups>();

const getSandboxLookups = (domain: string): DnsLookups => {
  const cached = sandboxLookups.get(domain) ?? createSandboxLookups({ domain, sendingIp: null });
  sandboxLookups.set(domain, cached);
  return cached;
};

/** Every domain of two labels as a test key would find it, by its first label; and no address has a name. */
export const anyDnsLookups: DnsLookups = {
  ...getSandboxLookups("example.com"),
  dns: (type, name) => getSandboxLookups(name.split(".").slice(-2).join(".")).dns(type, name),
};

/** The same without DKIM keys: that there is none is known after two questions, and a simulation has no time for fifty. */
export const quickDnsLookups: DnsLookups = {
  ...anyDnsLookups,
  dns: async (type, name) =>
    name.includes("_domainkey") ? { kind: "nxdomain" } : anyDnsLookups.dns(type, name),
};

export const LIST = "bl.test";
/** What every sound list must answer. */
const SOUND = { [`2.0.0.127.${LIST}`]: { A: ["127.0.0.2"] } };

/** The same world, where names answer what this zone holds, and one blocklist is in it. */
export const withDnsLookups = (world: AppWorld, names: Zone | Dns): AppWorld => {
  const dns = typeof names === "function" ? names : createZoneDns({ ...SOUND, ...names });
  const blocklists = {
    listsFor: () => [createList(LIST)],
    keys: {},
    isHealthy: async () => true,
  };
  return { ...world, names: { dns, listDns: dns, dkimSelectors: [], allowed: [], blocklists } };
};
