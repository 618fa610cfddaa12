import type { Dns } from "../dns/dns.ts";
import { isFault, recordsOf } from "../dns/outcome.ts";
import { type Cidr, isPublicIp, parseIp } from "../ip.ts";

/** What became of a host that an MX record names. */
export type Target = {
  readonly host: string;
  readonly kind: "public" | "private" | "missing" | "literal" | "unknown";
  readonly ips: readonly string[];
  readonly isAlias: boolean;
};

/** However many MX records a stranger publishes, this many hosts are looked up and no more. */
export const LOOKED_UP_MAX = 10;

/** The addresses of a mail host, and whether the internet can reach one of them. */
export const locate = async (dns: Dns, host: string, allowed: readonly Cidr[]): Promise<Target> => {
  // RFC 5321 §5.1: an MX names a host. An address in its place is not followed.
  if (parseIp(bare(host))) return { host, kind: "literal", ips: [], isAlias: false };
  if (isLocalhost(host)) return { host, kind: "private", ips: [], isAlias: false };
  const [v4, v6, alias] = await Promise.all([
    dns("A", host),
    dns("AAAA", host),
    dns("CNAME", host),
  ]);
  // The public ones first: the first is what a report shows.
  const found = [...recordsOf(v4), ...recordsOf(v6)];
  const isPublic = (ip: string) => isPublicIp(ip, allowed);
  const ips = [...found.filter(isPublic), ...found.filter((ip) => !isPublic(ip))];
  return {
    host,
    kind: kindOf(ips, isPublic, isFault(v4) || isFault(v6)),
    ips,
    isAlias: alias.kind === "ok",
  };
};

const kindOf = (
  ips: readonly string[],
  isPublic: (ip: string) => boolean,
  isInDoubt: boolean,
): Target["kind"] => {
  if (ips.some(isPublic)) return "public";
  // The family that did not answer may hold the address that counts.
  if (isInDoubt) return "unknown";
  return ips.length > 0 ? "private" : "missing";
};

const bare = (host: string): string => host.replaceAll(/^\[|\]$/g, "").replace(/^ipv6:/, "");

const isLocalhost = (host: string): boolean => host === "localhost" || host.endsWith(".localhost");
