import { type Cidr, isPublicIp, parseIp } from "../ip.ts";
import type { Dns, DnsOutcome, MxRecordData } from "./dns.ts";
import { type RecordedQuery, recordQueries } from "./record-queries.ts";

/** `ips` are public and were checked one by one: connect to one of these, and never to the name again. */
export type MailHost = {
  readonly host: string;
  readonly priority: number;
  readonly ips: readonly string[];
};

export type DnsFault = "servfail" | "refused" | "timeout" | "too_large" | "internal";

export type MailHosts =
  /** In order of preference. Equal priorities keep the order of the answer, and a caller may shuffle them. */
  | { readonly kind: "hosts"; readonly hosts: readonly MailHost[]; readonly implicit: boolean }
  | { readonly kind: "domain_not_found" }
  | { readonly kind: "null_mx" }
  /** Neither MX nor address, or only MX hosts that do not exist. */
  | { readonly kind: "no_mail_host" }
  /** Hosts are named, but none that the open internet can reach. */
  | { readonly kind: "mx_unroutable" }
  | { readonly kind: "inconclusive"; readonly why: DnsFault };

type MxTarget = Pick<MailHost, "host" | "priority">;

type HostLookup =
  | { readonly kind: "found"; readonly at: MailHost }
  | { readonly kind: "missing" }
  | { readonly kind: "unroutable" }
  | { readonly kind: DnsFault };

/** An SMTP session tries three hosts at most, so more than three with an address are of no use. */
const HOSTS_NEEDED = 3;
/** The most hosts that are looked up, however many MX records a domain publishes. */
const LOOKED_UP_MAX = 10;
/** However many addresses a host has: a session tries the first of them. */
const ADDRESSES_MAX = 20;

/** Where mail for a domain goes (RFC 5321 §5.1), with everything that was asked to find out. */
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
  // RFC 5321 §5.1: only a domain that has no MX is its own mail host. A failed question is not "no MX".
  if (mx.kind === "nodata")
    return resolveTargets(dns, [{ host: domain, priority: 0 }], allowed, true);
  if (mx.kind !== "ok") return { kind: "inconclusive", why: mx.kind };

  const targets = sortTargets(mx.records);
  // RFC 7505 §3 requires a null MX to be the only one; among others it names nothing.
  return targets.length === 0 ? { kind: "null_mx" } : resolveTargets(dns, targets, allowed, false);
};

/** By preference, each host once at its best, without null MX. Sorting is stable. */
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
  // It was us who stopped: one of the hosts that were never looked up may well take mail.
  if (names.length > LOOKED_UP_MAX) return { kind: "inconclusive", why: "too_large" };

  const unroutable = names.length < targets.length || lookedUp.some(isUnroutable);
  return { kind: unroutable ? "mx_unroutable" : "no_mail_host" };
};

/** As many at once as are still needed: the first three as a rule, one more for each that fails. */
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
 * IPv4 first: large providers refuse IPv6 hosts without reverse DNS. IPv6 is asked for only when no usable IPv4
 * address is there, and a name that does not exist has neither.
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
  // It was us who stopped: one of those that were never looked at may well be public.
  return { kind: records.length < outcome.records.length ? "too_large" : "unroutable" };
};

/**
 * Addresses that no domain publishes, but filters and proxies between us and the DNS put in its answers' place:
 * our own network says so, and it says nothing of the domain.
 */
const isSinkhole = (ip: string, allowed: readonly Cidr[]): boolean =>
  /^(?:0\.|198\.1[89]\.)/.test(ip) && !isPublicIp(ip, allowed);

/** RFC 5321 §5.1: an MX names a host. An address in its place, or ourselves, is not followed. */
const isHostName = (host: string): boolean =>
  host !== "localhost" &&
  !host.endsWith(".localhost") &&
  !parseIp(host.replaceAll(/^\[|\]$/g, "").replace(/^ipv6:/, ""));

const isFault = (kind: HostLookup["kind"]): kind is DnsFault =>
  ["servfail", "refused", "timeout", "too_large", "internal"].includes(kind);

const isUnroutable = ({ kind }: HostLookup): boolean => kind === "unroutable";
