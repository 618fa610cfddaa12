import {
  isInBlock,
  isPublicIp,
  parseCidr,
  parseIp,
  toReverseLabels,
  toReverseName,
} from "@mailproof/mail/ip";
import { expect, test } from "vitest";

const ipOf = (text: string) => {
  const ip = parseIp(text);
  if (!ip) throw new Error(`${text} is no address`);
  return ip;
};

const getCidr = (text: string) => {
  const cidr = parseCidr(text);
  if (!cidr) throw new Error(`${text} is no block`);
  return cidr;
};

test.each([
  ["four decimal octets", "192.0.2.255", 32, 0xc00002ffn],
  ["eight groups", "1:2:3:4:5:6:7:8", 128, 0x00010002000300040005000600070008n],
  ["zeros left out at the end", "1::", 128, 1n << 112n],
  ["nothing but zeros", "::", 128, 0n],
  ["IPv4 at the end of all eight", "1:2:3:4:5:6:1.2.3.4", 128, 0x00010002000300040005000601020304n],
  ["letters of either case", "2001:DB8::aB", 128, (0x20010db8n << 96n) | 0xabn],
] as const)("parseIp reads an address with %s", (_, text, bits, value) => {
  expect(parseIp(text)).toEqual({ bits, value });
});

test.each([
  ["no characters", ""],
  ["octal", "010.0.0.1"],
  ["a shorthand", "127.1"],
  ["a line feed at the end", "1.2.3.4\n"],
  ["other digits", "１.2.3.4"],
  ["a zone", "fe80::1%eth0"],
  ["a gap of no zeros", "1:2:3:4::5:6:7:8"],
  ["one colon at the end", "1:2:3:4:5:6:7:"],
  ["IPv4 before the gap", "1.2.3.4::"],
  ["IPv4 in octal inside", "::ffff:010.0.0.1"],
])("parseIp refuses an address with %s", (_, text) => {
  expect(parseIp(text)).toBeUndefined();
  expect(isPublicIp(text, [getCidr("0.0.0.0/0"), getCidr("::/0")])).toBe(false);
});

test.each([
  ["2606:4700:4700::1111", true],
  ["10.0.0.0", false],
  ["11.0.0.0", true],
  ["127.0.0.1", false],
  ["169.254.169.254", false],
  ["192.0.2.1", false],
  ["224.0.0.0", false],
  ["::", false],
  ["::8.8.8.8", false],
  ["::ffff:0:8.8.8.8", false],
  ["2000::", true],
  ["2001:db8::1", false],
  ["3fff:fff::", false],
  ["fc00::1", false],
  ["fe80::1", false],
])("the address %s is public: %s", (ip, isPublic) => {
  expect(isPublicIp(ip, [])).toBe(isPublic);
});

test.each([
  ["mapped", "::ffff:8.8.8.8", true],
  ["mapped", "::ffff:127.0.0.1", false],
  ["mapped, in hex", "::ffff:a9fe:a9fe", false],
  ["NAT64", "64:ff9b::8.8.8.8", true],
  ["NAT64", "64:ff9b::10.0.0.1", false],
  ["NAT64 inside one network", "64:ff9b:1::8.8.8.8", false],
  ["next to NAT64", "64:ff9b:0:0:0:1:808:808", false],
  ["6to4", "2002:808:808::1", true],
  ["6to4", "2002:7f00:1::1", false],
  ["6to4, metadata", "2002:a9fe:a9fe::", false],
  // The last 32 bits are the client's address turned over: f7f7:f7f7 is 8.8.8.8, f5ff:fffe is 10.0.0.1.
  ["Teredo", "2001:0:808:808:0:0:f7f7:f7f7", true],
  ["Teredo with a private client", "2001:0:808:808:0:0:f5ff:fffe", false],
  ["Teredo with a private server", "2001:0:a00:1:0:0:f7f7:f7f7", false],
])("a contained IPv4 address decides whether the address is public (%s): %s", (_, ip, isPublic) => {
  expect(isPublicIp(ip, [])).toBe(isPublic);
});

test("an operator who permits an IPv4 address also permits it inside an IPv6 address", () => {
  expect(isPublicIp("::ffff:127.0.0.1", [getCidr("127.0.0.0/8")])).toBe(true);
  expect(isPublicIp("::ffff:10.0.0.1", [getCidr("127.0.0.0/8")])).toBe(false);
});

test("the operator's configured blocks permit only the addresses inside them", () => {
  const allowed = [getCidr("127.0.0.0/8"), getCidr("::1")];

  expect(isPublicIp("127.3.2.1", allowed)).toBe(true);
  expect(isPublicIp("::1", allowed)).toBe(true);
  expect(isPublicIp("::2", allowed)).toBe(false);
  expect(isPublicIp("10.0.0.1", allowed)).toBe(false);
  // The same number in the other family.
  expect(isPublicIp("::7f00:1", allowed)).toBe(false);
});

test.each([
  ["10.1.2.3/8", "10.0.0.0", "9.255.255.255"],
  ["192.0.2.6/31", "192.0.2.7", "192.0.2.8"],
  ["0.0.0.0/0", "255.255.255.255", "::"],
  ["2001:db8::/33", "2001:db8:7fff::", "2001:db8:8000::"],
])("the block %s contains %s and not %s", (block, inside, outside) => {
  expect(isInBlock(ipOf(inside), getCidr(block))).toBe(true);
  expect(isInBlock(ipOf(outside), getCidr(block))).toBe(false);
});

test.each([
  "",
  "/8",
  "10.0.0.0/",
  "10.0.0.0/33",
  "::/129",
  "10/8",
  "10.0.0.0/08",
  "10.0.0.0/8/8",
  "10.0.0.0/-1",
  "a/8",
])("the parser finds no block in %j", (text) => {
  expect(parseCidr(text)).toBeUndefined();
});

test("the reverse name of an address lists its labels as reverse zones and blocklists do", () => {
  expect(toReverseName(ipOf("192.0.2.10"))).toBe("10.2.0.192.in-addr.arpa");
  expect(toReverseLabels(ipOf("0.0.0.1"))).toBe("1.0.0.0");
  expect(toReverseName(ipOf("2001:db8::567:89ab"))).toBe(
    "b.a.9.8.7.6.5.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa",
  );
});
