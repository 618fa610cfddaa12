import { type Cidr, isPublicIp, parseIp } from "../ip.ts";
import type { Dns, DnsOutcome, DnsRecords, DnsRecordType, MxRecordData } from "./dns.ts";

/** One question and its outcome: evidence that lets a reader check a verdict by hand. */
export type RecordedQuery = {
  readonly type: DnsRecordType;
  readonly name: string;
  readonly kind: DnsOutcome<never>["kind"];
  readonly records: readonly DnsRecords[DnsRecordType][];
  readonly count: number;
};

/** A verdict needs no more records; a hostile answer may hold thousands. */
const RECORDS_MAX = 20;

export const recordQueries = (
  dns: Dns,
): { readonly dns: Dns; readonly queries: readonly RecordedQuery[] } => {
  const queries: RecordedQuery[] = [];
  const query: Dns = async (type, name) => {
    const outcome = await dns(type, name);
    const records = outcome.kind === "ok" ? outcome.records : [];
    const { kind } = outcome;
    queries.push({
      type,
      name,
      kind,
      records: records.slice(0, RECORDS_MAX),
      count: records.length,
    });
    return outcome;
  };
  return { dns: query, queries };
};

/** The `ips` are public, and each was checked: connect to an address of these, and never to the name again. */
export type MailHost = {
  readonly host: string;
  readonly priority: number;
  readonly ips: readonly string[];
};

export type DnsFault = "servfail" | "refused" | "timeout" | "too_large" | "internal";

export type MailHosts =
  /** The hosts, sorted by preference. Equal priorities keep the order of the answer, and a caller may shuffle them. */
  | { readonly kind: "hosts"; readonly hosts: readonly MailHost[]; readonly implicit: boolean }
  | { readonly kind: "domain_not_found" }
  | { readonly kind: "null_mx" }
  /** The domain has neither an MX nor an address, or only MX hosts that do not exist. */
  | { readonly kind: "no_mail_host" }
  /** The domain names mail hosts, but the public internet can reach none of them. */
  | { readonly kind: "mx_unroutable" }
  | { readonly kind: "inconclusive"; readonly why: DnsFault };

type MxTarget = Pick<MailHost, "host" | "priority">;

type HostLookup =
  | { readonly kind: "found"; readonly at: MailHost }
  | { readonly kind: "missing" }
  | { readonly kind: "unroutable" }
  | { readonly kind: DnsFault };

/** An SMTP session tries three hosts at most, so further hosts with an address are of no use. */
const HOSTS_NEEDED = 3;
const LOOKED_UP_MAX = 10;
const ADDRESSES_MAX = 20;

/** Finds the mail hosts of a domain (RFC 5321 §5.1). */
export const findMailHosts = async (
  dns: Dns,
  domain: string,
  allowed: readonly Cidr[],
): Promise<MailHosts & { readonly dnsQueries: readonly RecordedQuery[] }> => {
  const { dns: recorded, queries: dnsQueries } = recordQueries(dns);
  const mailHosts = await findHosts(recorded, domain, allowed, await recorded("MX", domain));
  return { ...mailHosts, dnsQueries };
};

const findHosts = async (
  dns: Dns,
  domain: string,
  allowed: readonly Cidr[],
  mx: DnsOutcome<MxRecordData>,
): Promise<MailHosts> => {
  if (mx.kind === "nxdomain") return { kind: "domain_not_found" };
  // RFC 5321 §5.1: only a domain without MX is its own mail host. A failed question does not prove that it has none.
  if (mx.kind === "nodata")
    return resolveTargets(dns, [{ host: domain, priority: 0 }], allowed, true);
  if (mx.kind !== "ok") return { kind: "inconclusive", why: mx.kind };

  const targets = sortTargets(mx.records);
  // RFC 7505 §3 requires a null MX to be the only record; next to others it names no host.
  return targets.length === 0 ? { kind: "null_mx" } : resolveTargets(dns, targets, allowed, false);
};

/** Sorts by preference, stably. Keeps each host once, at its best priority, and drops a null MX. */
const sortTargets = (records: readonly MxRecordData[]): readonly MxTarget[] => {
  const best = new Map<string, MxTarget>();
  for (const { exchange, priority } of records.toSorted((a, b) => a.priority - b.priority)) {
    const host = exchange.toLowerCase().replace(/\.$/, "");
    if (host !== "" && !best.has(host)) best.set(host, { host, priority });
  }
  return [...best.values()];
};

const resolveTargets = async (
  dns: Dns,
  targets: readonly MxTarget[],
  allowed: readonly Cidr[],
  implicit: boolean,
): Promise<MailHosts> => {
  const names = targets.filter(({ host }) => isHostName(host));
  const lookedUp = await lookUpHosts(dns, names.slice(0, LOOKED_UP_MAX), allowed);

  const hosts = lookedUp.flatMap((one) => (one.kind === "found" ? [one.at] : []));
  if (hosts.length > 0) return { kind: "hosts", hosts, implicit };

  const faults = lookedUp.map(({ kind }) => kind).filter(isFault);
  const fault = faults.find((kind) => kind === "internal") ?? faults[0];
  if (fault) return { kind: "inconclusive", why: fault };
  // We stopped at our own limit: a host that we did not look up may accept mail.
  if (names.length > LOOKED_UP_MAX) return { kind: "inconclusive", why: "too_large" };

  const unroutable = names.length < targets.length || lookedUp.some(isUnroutable);
  return { kind: unroutable ? "mx_unroutable" : "no_mail_host" };
};

/** Looks up as many hosts at once as are still needed: usually the first three, and one more for each that fails. */
const lookUpHosts = async (
  dns: Dns,
  names: readonly MxTarget[],
  allowed: readonly Cidr[],
): Promise<readonly HostLookup[]> => {
  const lookedUp: HostLookup[] = [];
  const needed = () => HOSTS_NEEDED - lookedUp.filter(({ kind }) => kind === "found").length;

  while (needed() > 0 && lookedUp.length < names.length) {
    const next = names.slice(lookedUp.length, lookedUp.length + needed());
    lookedUp.push(...(await Promise.all(next.map((one) => lookUpHost(dns, one, allowed)))));
  }
  return lookedUp;
};

/**
 * Looks up IPv4 first, because large providers refuse IPv6 hosts without reverse DNS. It asks for IPv6 only when no IPv4 address is usable;
 * a name that does not exist has neither.
 */
const lookUpHost = async (
  dns: Dns,
  target: MxTarget,
  allowed: readonly Cidr[],
): Promise<HostLookup> => {
  const a = await dns("A", target.host);
  if (a.kind === "nxdomain") return { kind: "missing" };
  const v4 = toHostLookup(target, a, allowed);
  if (v4.kind !== "missing" && v4.kind !== "unroutable") return v4;

  const v6 = toHostLookup(target, await dns("AAAA", target.host), allowed);
  return v6.kind === "missing" ? v4 : v6;
};

const toHostLookup = (
  target: MxTarget,
  outcome: DnsOutcome<string>,
  allowed: readonly Cidr[],
): HostLookup => {
  if (outcome.kind === "nodata" || outcome.kind === "nxdomain") return { kind: "missing" };
  if (outcome.kind !== "ok") return { kind: outcome.kind };
  const records = outcome.records.slice(0, ADDRESSES_MAX);
  if (records.some((ip) => isSinkhole(ip, allowed))) return { kind: "refused" };
  const ips = [...new Set(records)].filter((ip) => isPublicIp(ip, allowed));
  if (ips.length > 0) return { kind: "found", at: { ...target, ips } };
  // We stopped at our own limit: an address that we did not check may be public.
  return { kind: records.length < outcome.records.length ? "too_large" : "unroutable" };
};

/**
 * Finds addresses that no domain publishes: filters and proxies between us and the DNS put them into answers, so they prove nothing about
 * the domain.
 */
const isSinkhole = (ip: string, allowed: readonly Cidr[]): boolean =>
  /^(?:0\.|198\.1[89]\.)/.test(ip) && !isPublicIp(ip, allowed);

/** RFC 5321 §5.1: an MX names a host. We do not follow an address in its place, or localhost. */
const isHostName = (host: string): boolean =>
  host !== "localhost" &&
  !host.endsWith(".localhost") &&
  !parseIp(host.replaceAll(/^\[|\]$/g, "").replace(/^ipv6:/, ""));

const isFault = (kind: HostLookup["kind"]): kind is DnsFault =>
  ["servfail", "refused", "timeout", "too_large", "internal"].includes(kind);

const isUnroutable = ({ kind }: HostLookup): boolean => kind === "unroutable";
