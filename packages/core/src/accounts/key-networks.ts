import { isInBlock, parseCidr, parseIp } from "@mailproof/mail/ip";
import type { ApiKey } from "./api-key-items.ts";

/** Enough for offices and servers that people list by hand. */
export const NETWORKS_MAX = 50;

/** Accepts a CIDR block such as 192.0.2.0/24 or 2001:db8::/32, or one address. */
export const isNetwork = (text: string): boolean => parseCidr(text) !== undefined;

/** A client with an unknown address is in no network. */
export const mayUseFrom = (
  { networks }: Pick<ApiKey, "networks">,
  clientIp: string | undefined,
): boolean => {
  if (!networks) return true;
  const ip = parseIp(unwrapIpv4(clientIp ?? ""));
  return ip !== undefined && networks.some((network) => isInNetwork(ip, network));
};

type Ip = NonNullable<ReturnType<typeof parseIp>>;

const isInNetwork = (ip: Ip, network: string): boolean => {
  const block = parseCidr(network);
  return block !== undefined && isInBlock(ip, block);
};

/** A socket that listens for both families shows an IPv4 client as ::ffff:192.0.2.1. */
export const unwrapIpv4 = (address: string): string => address.replace(/^::ffff:(?=[\d.]+$)/i, "");
