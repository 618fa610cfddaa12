import { parseLiteral } from "../address-literal.ts";
import { type Ip, parseIp, toReverseLabels } from "../ip.ts";
import type { LimitedDns, SpfLimits } from "./limits.ts";
import type { SpfCheck } from "./matches.ts";

export type SpfQuery = {
  readonly ip: string;
  /** The domain whose policy is evaluated, in A-labels: the domain of MAIL FROM, or of HELO when MAIL FROM is empty. */
  readonly domain: string;
  readonly sender: string;
  readonly helo: string;
  /** The checking host and the time. Only explanations use them. */
  readonly receiver?: string;
  readonly epochSeconds?: number;
};

/** Turns a query into the values of the macros (RFC 7208 §7.2). */
export const createCheck = (
  { ip: text, sender, helo, receiver, epochSeconds }: SpfQuery,
  dns: LimitedDns,
  { namesMax }: SpfLimits,
): SpfCheck => {
  const read = parseIp(text);
  if (!read) throw new Error(`${text} is no IP address`);
  const ip = removeMapping(read);
  const { local, domain } = splitMailbox(sender === "" ? helo : sender);
  return {
    dns,
    ip,
    namesMax,
    values: {
      s: `${local}@${domain}`,
      l: local,
      o: domain,
      i: ip.bits === 32 ? formatIpv4(ip) : formatIpv4(ip).toUpperCase(),
      v: ip.bits === 32 ? "in-addr" : "ip6",
      h: helo,
      c: ip.bits === 32 ? formatIpv4(ip) : formatIpv6(ip),
      r: receiver ?? "unknown",
      t: String(epochSeconds ?? 0),
    },
  };
};

/** RFC 7208 §2.4, §4.3: a sender without a local part, such as a HELO name, gets the local part postmaster. */
const splitMailbox = (sender: string) => {
  const at = sender.lastIndexOf("@");
  return { local: sender.slice(0, Math.max(at, 0)) || "postmaster", domain: sender.slice(at + 1) };
};

/** RFC 7208 §5: an IPv4-mapped address is the IPv4 address inside it. */
const removeMapping = (ip: Ip): Ip =>
  ip.bits === 128 && ip.value >> 32n === 0xffffn
    ? { bits: 32, value: ip.value & 0xffff_ffffn }
    : ip;

const formatIpv4 = (ip: Ip): string => toReverseLabels(ip).split(".").toReversed().join(".");

const formatIpv6 = (ip: Ip): string => {
  const groups = ip.value.toString(16).padStart(32, "0").match(/.{4}/g) ?? [];
  return parseLiteral(`IPv6:${groups.join(":")}`)?.ip ?? "";
};
