import { BlockList, isIP } from "node:net";
import { isInBlock, isPublicIp, parseCidr, parseIp } from "@mailproof/mail/ip";
import { SPECIAL_BLOCKS } from "@mailproof/mail/special-blocks";
import fc from "fast-check";
import { expect, test } from "vitest";

const RUNS = { seed: 20261121, numRuns: 500 };

/** These lead to an IPv4 address and are judged by it; the table's block lies round them. */
const CARRIERS = ["::ffff:0:0/96", "64:ff9b::/96", "2002::/16", "2001::/32"];

const getBlock = (text: string) => {
  const block = parseCidr(text);
  if (!block) throw new Error(`${text} is no block`);
  const hostBits = BigInt(block.base.bits - block.length);
  const first = (block.base.value >> hostBits) << hostBits;
  return { ...block, bits: block.base.bits, first, last: first + (1n << hostBits) - 1n };
};

const getText = (bits: 32 | 128, value: bigint) =>
  bits === 32
    ? [24n, 16n, 8n, 0n].map((by) => (value >> by) & 255n).join(".")
    : (value.toString(16).padStart(32, "0").match(/.{4}/g) ?? []).join(":");

test.each(Object.keys(SPECIAL_BLOCKS))("no address of %s is public", (text) => {
  const { bits, first, last } = getBlock(text);
  const carriers = CARRIERS.map(getBlock);

  fc.assert(
    fc.property(
      fc
        .constantFrom(first, last)
        .chain((edge) => fc.oneof(fc.constant(edge), fc.bigInt(first, last))),
      (value) => {
        fc.pre(!carriers.some((carrier) => isInBlock({ bits, value }, carrier)));

        expect(isPublicIp(getText(bits, value), [])).toBe(false);
      },
    ),
    RUNS,
  );
});

test("an address outside every block is public", () => {
  const special = [...Object.keys(SPECIAL_BLOCKS), ...CARRIERS].map(getBlock);
  const address = fc.oneof(
    fc.bigInt(0n, (1n << 32n) - 1n).map((value) => ({ bits: 32 as const, value })),
    fc.bigInt(2n << 124n, (4n << 124n) - 1n).map((value) => ({ bits: 128 as const, value })),
    // The neighbours of each block, where a length that is off by one would show.
    fc
      .constantFrom(...special)
      .chain(({ bits, first, last }) =>
        fc.constantFrom(first - 1n, last + 1n).map((value) => ({ bits, value })),
      )
      .filter(({ bits, value }) => value >= 0n && value < 1n << BigInt(bits)),
  );

  fc.assert(
    fc.property(address, (ip) => {
      fc.pre(!special.some((block) => isInBlock(ip, block)));

      expect(isPublicIp(getText(ip.bits, ip.value), [])).toBe(true);
    }),
    { ...RUNS, numRuns: 3000 },
  );
});

test("what reads as an address is what Node reads as one, zones apart", () => {
  const piece = fc.constantFrom(
    "0",
    "00",
    "1",
    "9",
    "255",
    "256",
    "f",
    "ffff",
    "fffff",
    ".",
    ".",
    ":",
    ":",
    "::",
    "%",
    "g",
    "-",
    " ",
  );
  const alike = fc.oneof(
    fc.array(piece, { maxLength: 20 }).map((pieces) => pieces.join("")),
    fc
      .array(fc.constantFrom("0", "7", "01", "255", "300"), { minLength: 3, maxLength: 5 })
      .map((octets) => octets.join(".")),
    fc
      .array(fc.constantFrom("", "0", "ab", "12345", "1.2.3.4"), { minLength: 2, maxLength: 10 })
      .map((groups) => groups.join(":")),
    fc.ipV4(),
    fc.ipV6(),
  );

  fc.assert(
    fc.property(alike, (text) => {
      const family = text.includes("%") ? 0 : isIP(text);

      expect(parseIp(text)?.bits).toBe({ 0: undefined, 4: 32, 6: 128 }[family]);
    }),
    { ...RUNS, numRuns: 20_000 },
  );
});

test("a block holds what Node's own list says that it holds", () => {
  const ofFamily = (bits: 32 | 128) => {
    const value = fc.bigInt(0n, (1n << BigInt(bits)) - 1n);
    return fc.record({
      bits: fc.constant(bits),
      base: value,
      length: fc.nat(bits),
      // Near the base, or chance would hardly ever hit a small block.
      flipped: fc.nat(bits - 1),
    });
  };

  fc.assert(
    fc.property(fc.oneof(ofFamily(32), ofFamily(128)), ({ bits, base, length, flipped }) => {
      const family = bits === 32 ? "ipv4" : "ipv6";
      const near = base ^ (1n << BigInt(flipped));
      const list = new BlockList();
      list.addSubnet(getText(bits, base), length, family);

      const block = parseCidr(`${getText(bits, base)}/${length}`);
      const ip = parseIp(getText(bits, near));

      expect(block && ip && isInBlock(ip, block)).toBe(list.check(getText(bits, near), family));
    }),
    RUNS,
  );
});
