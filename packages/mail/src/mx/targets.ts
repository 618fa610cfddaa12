import { type Dns, getRecords, isFault } from "../dns/dns.ts";
import { type Cidr, isPublicIp, parseIp } from "../ip.ts";

export type MxHost = {
  readonly host: string;
  readonly kind: "public" | "private" | "missing" | "literal" | "unknown";
  readonly ips: readonly string[];
  readonly isAlias: boolean;
};

export const LOOKED_UP_MAX = 10;

export const lookUpTarget = async (
  dns: Dns,
  host: string,
  allowed: readonly Cidr[],
): Promise<MxHost> => {
  // RFC 5321 §5.1: an MX names a host. We do not follow an address in its place.
  if (parseIp(removeFinalDot(host))) return { host, kind: "literal", ips: [], isAlias: false };
  if (isLocalhost(host)) return { host, kind: "private", ips: [], isAlias: false };
  const [v4, v6, alias] = await Promise.all([
    dns("A", host),
    dns("AAAA", host),
    dns("CNAME", host),
  ]);
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
  // The address family without an answer may hold a public address.
  if (isInDoubt) return "unknown";
  return ips.length > 0 ? "private" : "missing";
};

const removeFinalDot = (host: string): string =>
  host.replaceAll(/^\[|\]$/g, "").replace(/^ipv6:/, "");

const isLocalhost = (host: string): boolean => host === "localhost" || host.endsWith(".localhost");
