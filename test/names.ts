import type { AppWorld } from "@mailproof/core/app-world";
import type { Names } from "@mailproof/core/deliverability/names";
import { pretendNames } from "@mailproof/core/deliverability/pretend";
import { listAt } from "@mailproof/core/mail/blocklists/lists";
import type { Dns } from "@mailproof/core/mail/dns/dns";
import { type Zone, zone } from "./zone.ts";

const pretended = new Map<string, Names>();

const pretendedFor = (domain: string): Names => {
  const known = pretended.get(domain) ?? pretendNames({ domain, sendingIp: null });
  pretended.set(domain, known);
  return known;
};

/** Every domain of two labels as a test key would find it, by its first label; and no address has a name. */
export const anyNames: Names = {
  ...pretendedFor("example.com"),
  dns: (type, name) => pretendedFor(name.split(".").slice(-2).join(".")).dns(type, name),
};

/** The same without DKIM keys: that there is none is known after two questions, and a simulation has no time for fifty. */
export const quickNames: Names = {
  ...anyNames,
  dns: async (type, name) =>
    name.includes("_domainkey") ? { kind: "nxdomain" } : anyNames.dns(type, name),
};

export const LIST = "bl.test";
/** What every sound list must answer. */
const SOUND = { [`2.0.0.127.${LIST}`]: { A: ["127.0.0.2"] } };

/** The same world, where names answer what this zone holds, and one blocklist is in it. */
export const overNames = (world: AppWorld, names: Zone | Dns): AppWorld => {
  const dns = typeof names === "function" ? names : zone({ ...SOUND, ...names });
  const blocklists = {
    listsFor: () => [listAt(LIST)],
    keys: {},
    isHealthy: async () => true,
  };
  return { ...world, names: { dns, listDns: dns, allowed: [], blocklists } };
};
