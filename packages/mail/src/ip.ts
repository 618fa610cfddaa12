/**
 * IANA's special-purpose registries (RFC 6890) for IPv4 and IPv6, the multicast blocks, and unassigned blocks. The table includes the few
 * entries that are reachable from everywhere (AS112, AMT, the anycast ones): they are services of the network, and no mail host lives
 * there.
 *
 * Four blocks of the IPv6 registry carry an IPv4 address, which decides instead: see ip.ts.
 */
export const SPECIAL_BLOCKS: Readonly<Record<string, string>> = {
  "0.0.0.0/8": "this network (RFC 791)",
  "10.0.0.0/8": "private use (RFC 1918)",
  "100.64.0.0/10": "shared address space of carriers (RFC 6598)",
  "127.0.0.0/8": "loopback (RFC 1122)",
  "168.63.129.16/32": "a cloud's own services, which only its guests reach (Azure)",
  "169.254.0.0/16": "link local, and the clouds' metadata (RFC 3927)",
  "172.16.0.0/12": "private use (RFC 1918)",
  "192.0.0.0/24": "IETF protocol assignments, DS-Lite, PCP and TURN anycast (RFC 6890)",
  "192.0.2.0/24": "documentation (RFC 5737)",
  "192.31.196.0/24": "AS112 (RFC 7535)",
  "192.52.193.0/24": "AMT (RFC 7450)",
  "192.88.99.0/24": "6to4 relay anycast, withdrawn (RFC 7526)",
  "192.168.0.0/16": "private use (RFC 1918)",
  "192.175.48.0/24": "direct delegation AS112 (RFC 7534)",
  "198.18.0.0/15": "benchmarking (RFC 2544)",
  "198.51.100.0/24": "documentation (RFC 5737)",
  "203.0.113.0/24": "documentation (RFC 5737)",
  "224.0.0.0/4": "multicast (RFC 5771)",
  "240.0.0.0/4": "reserved (RFC 1112)",
  "255.255.255.255/32": "limited broadcast (RFC 919)",

  "::/128": "unspecified (RFC 4291)",
  "::1/128": "loopback (RFC 4291)",
  "::/96": "IPv4-compatible, withdrawn (RFC 4291)",
  "64:ff9b:1::/48": "NAT64 inside one network (RFC 8215)",
  "100::/64": "discard only (RFC 6666)",
  "100:0:0:1::/64": "dummy prefix (RFC 9780)",
  "2001::/23": "IETF protocol assignments (RFC 2928)",
  "2001:1::1/128": "PCP anycast (RFC 7723)",
  "2001:1::2/128": "TURN anycast (RFC 8155)",
  "2001:1::3/128": "DNS-SD registration anycast (RFC 9665)",
  "2001:2::/48": "benchmarking (RFC 5180)",
  "2001:3::/32": "AMT (RFC 7450)",
  "2001:4:112::/48": "AS112 (RFC 7535)",
  "2001:10::/28": "ORCHID, withdrawn (RFC 4843)",
  "2001:20::/28": "ORCHIDv2 (RFC 7343)",
  "2001:30::/28": "drone remote identification (RFC 9374)",
  "2001:db8::/32": "documentation (RFC 3849)",
  "2620:4f:8000::/48": "direct delegation AS112 (RFC 7534)",
  "3fff::/20": "documentation (RFC 9637)",
  "5f00::/16": "segment routing (RFC 9602)",
  "fc00::/7": "unique local (RFC 4193)",
  "fe80::/10": "link local (RFC 4291)",
  "fec0::/10": "site local, withdrawn (RFC 3879)",
  "ff00::/8": "multicast (RFC 4291)",

  // Global unicast is only 2000::/3 (RFC 4291 §2.4). The rest has no owner who could run a mail host.
  "::/3": "outside global unicast",
  "4000::/2": "outside global unicast",
  "8000::/1": "outside global unicast",
};

/** An address as a number. `bits` separates the families: 0.0.0.1 and ::1 have the same value and are different addresses. */
export type Ip = { readonly bits: 32 | 128; readonly value: bigint };

export type Cidr = { readonly base: Ip; readonly length: number };

/** An octet without a leading zero: some software reads 010 as eight, other software as ten. */
const OCTET = /^(?:0|[1-9]\d{0,2})$/;
const GROUP = /^[\da-f]{1,4}$/i;

/** Strict: four decimal octets or RFC 4291 §2.2. No octal, no shorthand, no zone, no brackets. */
export const parseIp = (text: string): Ip | undefined =>
  text.includes(":") ? parseIpv6(text) : parseIpv4(text);

/** Parses "10.0.0.0/8". A bare address is a block of one; bits beyond the length do not count. */
export const parseCidr = (text: string): Cidr | undefined => {
  const [address = "", length, ...extra] = text.split("/");
  const base = parseIp(address);
  if (!base || extra.length > 0) return undefined;
  if (length === undefined) return { base, length: base.bits };
  if (!OCTET.test(length) || Number(length) > base.bits) return undefined;
  return { base, length: Number(length) };
};

/** Returns an IPv4 address, or the /64 network of an IPv6 address, because every IPv6 customer has at least a /64. */
export const toNetwork = (ip: string): string => {
  const parsed = parseIp(ip);
  return parsed?.bits === 128 ? `${(parsed.value >> 64n).toString(16)}::/64` : ip;
};

export const isSameIp = (one: Ip | undefined, other: Ip): boolean =>
  one?.bits === other.bits && one.value === other.value;

export const isInBlock = (ip: Ip, { base, length }: Cidr): boolean => {
  const hostBits = BigInt(base.bits - length);
  return ip.bits === base.bits && ip.value >> hostBits === base.value >> hostBits;
};

/** Returns the address in reverse, a label per octet or nibble, as reverse zones and blocklists name it. */
export const toReverseLabels = (ip: Ip): string => {
  const hex = ip.value.toString(16).padStart(ip.bits / 4, "0");
  const octets = hex.match(/../g) ?? [];
  const parts =
    ip.bits === 128 ? hex.split("") : octets.map((two) => `${Number.parseInt(two, 16)}`);
  return parts.toReversed().join(".");
};

/** Returns the name for a PTR question (RFC 1035 §3.5, RFC 3596 §2.5). */
export const toReverseName = (ip: Ip): string =>
  `${toReverseLabels(ip)}.${ip.bits === 32 ? "in-addr" : "ip6"}.arpa`;

/**
 * Tells whether the address is on the public internet. The owner of a domain chooses the addresses of its mail hosts, so other addresses
 * would let an attacker aim our connections at our own network. A text that is not an address is not public. `allowed`: more blocks that
 * the operator permits, such as the lab's.
 */
export const isPublicIp = (text: string, allowed: readonly Cidr[]): boolean => {
  const ip = parseIp(text);
  return ip !== undefined && isPublic(ip, allowed);
};

const isPublic = (ip: Ip, allowed: readonly Cidr[]): boolean => {
  if (allowed.some((block) => isInBlock(ip, block))) return true;
  const embedded = EMBEDDED_IPV4.find(({ block }) => isInBlock(ip, block))?.unwrap(ip.value);
  if (embedded) return embedded.every((value) => isPublic(createIpv4(value), allowed));
  return !SPECIAL.some((block) => isInBlock(ip, block));
};

const parseIpv4 = (text: string): Ip | undefined => {
  const octets = text.split(".");
  if (octets.length !== 4) return undefined;
  if (!octets.every((octet) => OCTET.test(octet) && Number(octet) <= 255)) return undefined;
  return { bits: 32, value: joinGroups(octets.map(Number), 8n) };
};

const parseIpv6 = (text: string): Ip | undefined => {
  const [head = "", tail, ...extra] = text.split("::");
  const left = parseGroups(head, tail === undefined);
  const right = parseGroups(tail ?? "", true);
  if (!left || !right || extra.length > 0) return undefined;
  // "::" is at least one group of zeros; an address without "::" has all eight groups.
  const missing = 8 - left.length - right.length;
  if (tail === undefined ? missing !== 0 : missing < 1) return undefined;
  const zeros = Array.from({ length: missing }, () => 0);
  return { bits: 128, value: joinGroups([...left, ...zeros, ...right], 16n) };
};

/** Parses the groups on one side of "::". Only the very end of an address may be written as IPv4. */
const parseGroups = (side: string, mayEndInIpv4: boolean): readonly number[] | undefined => {
  if (side === "") return [];
  const groups = side.split(":");
  const inner = mayEndInIpv4 ? parseIpv4(groups.at(-1) ?? "") : undefined;
  const hex = inner ? groups.slice(0, -1) : groups;
  if (!hex.every((group) => GROUP.test(group))) return undefined;
  const numbers = hex.map((group) => Number.parseInt(group, 16));
  return inner ? [...numbers, Number(inner.value >> 16n), Number(inner.value & 0xffffn)] : numbers;
};

const joinGroups = (parts: readonly number[], width: bigint): bigint =>
  parts.reduce((value, part) => (value << width) | BigInt(part), 0n);

const createIpv4 = (value: bigint): Ip => ({ bits: 32, value: value & 0xffff_ffffn });

const parseBlock = (text: string): Cidr => {
  const block = parseCidr(text);
  if (!block) throw new Error(`The table of special blocks holds ${text}`);
  return block;
};

const SPECIAL = Object.keys(SPECIAL_BLOCKS).map(parseBlock);

type EmbeddedIpv4 = { readonly block: Cidr; readonly unwrap: (value: bigint) => readonly bigint[] };

/** IPv6 addresses that contain an IPv4 address: they are as public as that address. */
const EMBEDDED_IPV4: readonly EmbeddedIpv4[] = [
  // IPv4-mapped (RFC 4291 §2.5.5.2): the kernel connects to the inner address.
  { block: parseBlock("::ffff:0:0/96"), unwrap: (value) => [value] },
  // NAT64's well-known prefix (RFC 6052 §2.1).
  { block: parseBlock("64:ff9b::/96"), unwrap: (value) => [value] },
  // 6to4 (RFC 3056 §2).
  { block: parseBlock("2002::/16"), unwrap: (value) => [value >> 80n] },
  // Teredo (RFC 4380 §4): the server in clear, the client with every bit inverted.
  { block: parseBlock("2001::/32"), unwrap: (value) => [value >> 64n, value ^ 0xffff_ffffn] },
];
