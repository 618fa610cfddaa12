import { isIPv6 } from "node:net";
import { domainToASCII } from "node:url";
import { COMPANIES_BELOW, type Company, companyManner, companyOf } from "./companies.ts";
import type { MailHost } from "./dialogue.ts";
import { isManner, type LabDomain, type Target } from "./domain.ts";
import { FIRMS, type Firm, firmHost, firmLabel, firmManner, firmOf } from "./firms.ts";
import type { Manner, Rule } from "./manner.ts";
import type { Records, Zone } from "./zone.ts";

export type Network = {
  readonly zone: Zone;
  /** Of the addresses, so that a log can name its clients. */
  readonly reverse: Zone;
  readonly hosts: readonly MailHost[];
};

type Plan = {
  readonly zoneName: string;
  readonly domains: readonly LabDomain[];
  readonly companies: number;
  /** Without addresses of their own, all hosts are one, and only a recipient's domain tells which is meant. */
  readonly ownAddresses: boolean;
};

export const ONLY_ADDRESS = "127.0.0.1";
/** Where the hosts have addresses of their own; 127.0.0.1 itself is none of the lab's. */
export const HOSTS_BELOW = "127.77.0.0/16";

/** The whole pretend internet as data: what DNS says, and who listens where. */
export const networkOf = ({ zoneName, domains, companies, ownAddresses }: Plan): Network => {
  const zone: Record<string, Zone[string]> = {
    [zoneName]: { NS: [`ns.${zoneName}`], TXT: ["the pretend mail network of Mailproof"] },
    [`ns.${zoneName}`]: { A: [ONLY_ADDRESS] },
  };
  const hosts: MailHost[] = [];
  const rules = new Map<string, Rule>();
  let given = 0;
  const nextAddress = () => {
    given += 1;
    return ownAddresses ? `127.77.${Math.floor(given / 250)}.${1 + (given % 250)}` : ONLY_ADDRESS;
  };
  const settle = (name: string, manner: Manner): Records => {
    const address = nextAddress();
    hosts.push({ name, address, manner });
    return { A: [address] };
  };
  const recordsFor = (target: Target, name: string, domain: string): Zone[string] => {
    if (target === "closed") return { A: [nextAddress()] };
    if (isManner(target)) return settle(name, target);
    if ("fails" in target) return target.fails;
    if ("cname" in target) return { CNAME: [absolute(target.cname, domain, zoneName)] };
    return isIPv6(target.address) ? { AAAA: [target.address] } : { A: [target.address] };
  };
  const add = (name: string, records: Zone[string]) => {
    const known = zone[name];
    const isMerged = typeof records === "object" && typeof known === "object";
    zone[name] = isMerged ? { ...known, ...records } : records;
  };

  for (const row of domains) {
    const domain = `${domainToASCII(row.name)}.${zoneName}`;
    if (row.records !== "NXDOMAIN") add(domain, ownRecords(row, domain, zoneName));
    for (const [label, target] of Object.entries(row.hosts ?? {})) {
      const name = absolute(label, domain, zoneName);
      add(name, recordsFor(target, name, domain));
      if (isManner(target)) rules.set(domain, target.rcpt);
    }
  }
  const byDomain = companiesIn(zoneName, companies);
  const manner = companyManner(byDomain);
  for (const [domain, { mailHosts }] of byDomain) {
    const names = mailHosts.map((label) => `${label}.${zoneName}`);
    zone[domain] = { MX: names.map((name, index) => [10 * (index + 1), name]) };
    for (const name of names) zone[name] ??= settle(name, manner);
  }
  const firms = firmsIn(zoneName);
  const ofFirms = firmManner(firms);
  for (const [domain, firm] of firms) {
    const name = `${firmHost(firm)}.${zoneName}`;
    zone[domain] = { MX: [[10, name]] };
    zone[name] ??= settle(name, ofFirms);
    rules.set(domain, ofFirms.rcpt);
  }

  const rcpt: Rule = (asked) => (rules.get(asked.domain) ?? manner.rcpt)(asked);
  return {
    zone,
    reverse: reverseOf(hosts),
    hosts: ownAddresses
      ? hosts
      : [{ name: `mx.${zoneName}`, address: ONLY_ADDRESS, manner: { rcpt } }],
  };
};

const ownRecords = (row: LabDomain, domain: string, zoneName: string): Zone[string] => {
  if (typeof row.records === "string")
    return row.records as Exclude<typeof row.records, "NXDOMAIN">;
  if (row.aliasOf) return { CNAME: [`${row.aliasOf}.${zoneName}`] };
  const mx = row.mx ?? [[10, "mx"]];
  const MX = mx.map(
    ([preference, host]) => [preference, absolute(host, domain, zoneName)] as const,
  );
  return { ...(MX.length > 0 && { MX }), ...row.records };
};

/** A null MX names the root (RFC 7505 §3), a final dot stands for the zone, and all else is below the domain. */
const absolute = (host: string, domain: string, zoneName: string): string => {
  if (host === "") return ".";
  if (host === "@") return domain;
  return host.endsWith(".") ? `${host}${zoneName}` : `${host}.${domain}`;
};

const companiesIn = (zoneName: string, count: number): ReadonlyMap<string, Company> =>
  new Map(
    Array.from({ length: count }, (_, index) => companyOf(index + 1)).map((company) => [
      `${company.label}.${COMPANIES_BELOW}.${zoneName}`,
      company,
    ]),
  );

const firmsIn = (zoneName: string): ReadonlyMap<string, Firm> =>
  new Map(
    Array.from({ length: FIRMS }, (_, index) => firmOf(index + 1)).map((firm) => [
      `${firmLabel(firm.number)}.${zoneName}`,
      firm,
    ]),
  );

const reverseOf = (hosts: readonly MailHost[]): Zone =>
  Object.fromEntries(
    hosts.map(({ address, name }) => [
      `${address.split(".").toReversed().join(".")}.in-addr.arpa`,
      { PTR: [name] },
    ]),
  );
