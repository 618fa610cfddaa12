import type { Dns } from "../dns/dns.ts";
import { getRecords, isFault } from "../dns/outcome.ts";
import { type Cidr, isPublicIp, parseIp } from "../ip.ts";

/** What became of a host that an MX record names. */
export type MxHost = {
  readonly host: string;
  readonly kind: "public" | "private" | "missing" | "literal" | "unknown";
  readonly ips: readonly string[];
  readonly isAlias: boolean;
};

/** The most hosts that are looked up, however many MX records a domain publishes. */
export const LOOKED_UP_MAX = 10;

/** The addresses of a mail host, and whether the internet can reach one of them. */
export const lookUpTarget = async (
  dns: Dns,
  host: string,
  allowed: readonly Cidr[],
): Promise<MxHost> => {
  // RFC 5321 §5.1: an MX names a host. An address in its place is not followed.
  if (parseIp(removeFinalDot(host))) return { host, kind: "literal", ips: [], isAlias: false };
  if (isLocalhost(host)) return { host, kind: "private", ips: [], isAlias: false };
  const [v4, v6, alias] = await Promise.all([
    dns("A", host),
    dns("AAAA", host),
    dns("CNAME", host),
  ]);
  // The public ones first: the first is what a report shows.
  const found = [...getRecords(v4), ...getRecords(v6)];
  const isPublic = (ip: string) => isPublicIp(ip, allowed);
  const ips = [...found.filter(isPublic), ...found.filter((ip) => !isPublic(ip))];
  return {
    host,
    kind: toKind(ips, isPublic, isFault(v4) || isFault(v6)),
    ips,
    isAlias: alias.kind === "ok",
  };
};

const toKind = (
  ips: readonly string[],
  isPublic: (ip: string) => boolean,
  isInDoubt: boolean,
): MxHost["kind"] => {
  if (ips.some(isPublic)) return "public";
  // The family that did not answer may hold the address that counts.
  if (isInDoubt) return "unknown";
  return ips.length > 0 ? "private" : "missing";
};

const removeFinalDot = (host: string): string =>
  host.replaceAll(/^\[|\]$/g, "").replace(/^ipv6:/, "");

const isLocalhost = (host: string): boolean => host === "localhost" || host.endsWith(".localhost");
