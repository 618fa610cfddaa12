import { isIPv6 } from "node:net";
import { domainToASCII } from "node:url";
import { COMPANIES_LABEL, type Company, createCompanyBehavior, getCompany } from "./companies.ts";
import type { MailHost } from "./dialogue.ts";
import { type HostTarget, isHostBehavior, type LabDomain } from "./domain.ts";
import {
  createFirmBehavior,
  FIRMS,
  type Firm,
  formatFirmLabel,
  getFirm,
  getFirmHost,
} from "./firms.ts";
import type { HostBehavior, Rule } from "./host-behavior.ts";
import type { Records, Zone } from "./zone.ts";

export type LabNetwork = {
  readonly zone: Zone;
  readonly hosts: readonly MailHost[];
};

type NetworkPlan = {
  readonly zoneName: string;
  readonly domains: readonly LabDomain[];
  readonly companies: number;
  /** When hosts have no separate addresses, all hosts share one address, and the recipient's domain selects the host. */
  readonly ownAddresses: boolean;
};

export const ONLY_ADDRESS = "127.0.0.1";
/** The block of the hosts' separate addresses; 127.0.0.1 itself does not belong to the lab. */
export const HOSTS_BLOCK = "127.77.0.0/16";

export const buildNetwork = ({
  zoneName,
  domains,
  companies,
  ownAddresses,
}: NetworkPlan): LabNetwork => {
  const zone: Record<string, Zone[string]> = {
    [zoneName]: { NS: [`ns.${zoneName}`], TXT: ["the simulated mail network of Mailproof"] },
    [`ns.${zoneName}`]: { A: [ONLY_ADDRESS] },
  };
  const hosts: MailHost[] = [];
  const rules = new Map<string, Rule>();
  let addressCount = 0;
  const nextAddress = () => {
    addressCount += 1;
    return ownAddresses
      ? `127.77.${Math.floor(addressCount / 250)}.${1 + (addressCount % 250)}`
      : ONLY_ADDRESS;
  };
  const addHost = (name: string, behavior: HostBehavior): Records => {
    const address = nextAddress();
    hosts.push({ name, address, behavior });
    return { A: [address] };
  };
  const buildTargetRecords = (target: HostTarget, name: string, domain: string): Zone[string] => {
    if (target === "closed") return { A: [nextAddress()] };
    if (isHostBehavior(target)) return addHost(name, target);
    if ("fails" in target) return target.fails;
    if ("cname" in target) return { CNAME: [toAbsoluteName(target.cname, domain, zoneName)] };
    return isIPv6(target.address) ? { AAAA: [target.address] } : { A: [target.address] };
  };
  const addRecords = (name: string, records: Zone[string]) => {
    const existing = zone[name];
    const isMerged = typeof records === "object" && typeof existing === "object";
    zone[name] = isMerged ? { ...existing, ...records } : records;
  };

  for (const row of domains) {
    const domain = `${domainToASCII(row.name)}.${zoneName}`;
    if (row.records !== "NXDOMAIN") addRecords(domain, buildOwnRecords(row, domain, zoneName));
    for (const [label, target] of Object.entries(row.hosts ?? {})) {
      const name = toAbsoluteName(label, domain, zoneName);
      addRecords(name, buildTargetRecords(target, name, domain));
      if (isHostBehavior(target)) rules.set(domain, target.rcpt);
    }
  }
  const byDomain = listCompanies(zoneName, companies);
  const companyBehavior = createCompanyBehavior(byDomain);
  for (const [domain, { mailHosts }] of byDomain) {
    const names = mailHosts.map((label) => `${label}.${zoneName}`);
    zone[domain] = { MX: names.map((name, index) => [10 * (index + 1), name]) };
    for (const name of names) zone[name] ??= addHost(name, companyBehavior);
  }
  const firms = listFirms(zoneName);
  const firmBehavior = createFirmBehavior(firms);
  for (const [domain, firm] of firms) {
    const name = `${getFirmHost(firm)}.${zoneName}`;
    zone[domain] = { MX: [[10, name]] };
    zone[name] ??= addHost(name, firmBehavior);
    rules.set(domain, firmBehavior.rcpt);
  }

  const rcpt: Rule = (request) => (rules.get(request.domain) ?? companyBehavior.rcpt)(request);
  return {
    zone,
    hosts: ownAddresses
      ? hosts
      : [{ name: `mx.${zoneName}`, address: ONLY_ADDRESS, behavior: { rcpt } }],
  };
};

const buildOwnRecords = (row: LabDomain, domain: string, zoneName: string): Zone[string] => {
  if (typeof row.records === "string")
    return row.records as Exclude<typeof row.records, "NXDOMAIN">;
  if (row.aliasOf) return { CNAME: [`${row.aliasOf}.${zoneName}`] };
  const mx = row.mx ?? [[10, "mx"]];
  const MX = mx.map(
    ([preference, host]) => [preference, toAbsoluteName(host, domain, zoneName)] as const,
  );
  return { ...(MX.length > 0 && { MX }), ...row.records };
};

/** A null MX names the root (RFC 7505 §3), a final dot means the zone, and all else is below the domain. */
const toAbsoluteName = (host: string, domain: string, zoneName: string): string => {
  if (host === "") return ".";
  if (host === "@") return domain;
  return host.endsWith(".") ? `${host}${zoneName}` : `${host}.${domain}`;
};

const listCompanies = (zoneName: string, count: number): ReadonlyMap<string, Company> =>
  new Map(
    Array.from({ length: count }, (_, index) => getCompany(index + 1)).map((company) => [
      `${company.label}.${COMPANIES_LABEL}.${zoneName}`,
      company,
    ]),
  );

const listFirms = (zoneName: string): ReadonlyMap<string, Firm> =>
  new Map(
    Array.from({ length: FIRMS }, (_, index) => getFirm(index + 1)).map((firm) => [
      `${formatFirmLabel(firm.number)}.${zoneName}`,
      firm,
    ]),
  );

export const buildReverseZone = (hosts: readonly MailHost[]): Zone =>
  Object.fromEntries(
    hosts.map(({ address, name }) => [
      `${address.split(".").toReversed().join(".")}.in-addr.arpa`,
      { PTR: [name] },
    ]),
  );
