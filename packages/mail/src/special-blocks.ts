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
