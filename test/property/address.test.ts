import { BlockList, isIP } from "node:net";
import { type Address, isAddress, parseAddress, toSmtpForm } from "@mailproof/mail/address";
import { parseDomain } from "@mailproof/mail/domain";
import { isInBlock, isPublicIp, parseCidr, parseIp, SPECIAL_BLOCKS } from "@mailproof/mail/ip";
import fc from "fast-check";
import { describe, expect, test } from "vitest";

const TEXT_LENGTH_MAX = 10_000;

/** Pieces that mean something to the grammar, to Unicode or to Punycode, so that many texts get far. */
const piece = fc.oneof(
  { weight: 6, arbitrary: fc.stringMatching(/^[a-zA-Z0-9]{1,6}$/) },
  { weight: 6, arbitrary: fc.constantFrom(".", "-", "@", '"', "\\", " ", "xn--", ".com", ".de") },
  {
    weight: 2,
    arbitrary: fc.constantFrom("(", ")", "[", "]", "<", ">", "[IPv6:", "::", "mailto:"),
  },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      "ü",
      "ß",
      "İ",
      "J\u030c",
      "Å",
      "中",
      "😀",
      "❤️",
      "א",
      "。",
      "．",
      "Ａ",
      "\u0301",
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      "\u200b",
      "\u200d",
      "\u202e",
      "\ud800",
      "\udc00",
      "\0",
      "\t",
      "\r\n",
      "\u037e",
    ),
  },
  { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 4 }) },
);
const pieced = (maxLength: number) =>
  fc.array(piece, { maxLength }).map((pieces) => pieces.join(""));

const local = fc.oneof(
  pieced(4),
  fc.string({ unit: "grapheme", minLength: 1, maxLength: 12 }),
  pieced(6).map((inside) => `"${inside}"`),
  fc.string({ maxLength: 12 }).map((meant) => `"${meant.replaceAll(/["\\]/g, "\\$&")}"`),
);
const host = fc.oneof(
  pieced(4).map((text) => `${text}.com`),
  fc.string({ unit: "grapheme", minLength: 1, maxLength: 8 }).map((text) => `${text}.de`),
  fc.domain(),
  fc.ipV4().map((ip) => `[${ip}]`),
  fc.ipV6().map((ip) => `[IPv6:${ip}]`),
);
const likely = fc.tuple(local, host).map(([before, after]) => `${before}@${after}`);

const whenParsed = (checkProperty: (address: Address) => void) =>
  fc.property(fc.oneof(likely, pieced(10)), (text) => {
    const parsed = parseAddress(text);
    if (isAddress(parsed)) checkProperty(parsed);
  });

const RUNS = { numRuns: 5_000 };

test("a parsed address parses as itself in its SMTP form and in its displayed form", () => {
  fc.assert(
    whenParsed((address) => {
      expect(parseAddress(toSmtpForm(address))).toEqual(address);
      expect(parseAddress(address.display)).toEqual(address);
      expect(parseAddress(`<mailto:${toSmtpForm(address)}>`)).toEqual(address);
    }),
    RUNS,
  );
});

test("a parsed address stays within every length limit, and contains nothing that ends a line of the dialogue", () => {
  fc.assert(
    whenParsed((address) => {
      expect(Buffer.byteLength(address.local)).toBeLessThanOrEqual(127);
      expect(Buffer.byteLength(toSmtpForm(address))).toBeLessThanOrEqual(254);
      expect(toSmtpForm(address)).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
      expect(address.domain).toMatch(
        address.literal === null ? /^(?:[a-z0-9-]{1,63}\.)+[a-z0-9-]{1,63}$/ : /^\[[\w.:]+\]$/,
      );
    }),
    RUNS,
  );
});

test("a parsed address has one canonical form for every case of its letters", () => {
  fc.assert(
    whenParsed(({ canonical, local, domain }) => {
      const again = parseAddress(canonical);
      // Lower case takes more octets for a few letters, so it may be too long for an address.
      expect(isAddress(again) ? again.canonical : again.fault).toBeOneOf([
        canonical,
        "syntax.local_too_long",
        "syntax.too_long",
      ]);
      const shouted = parseAddress(
        `${local.replaceAll(/[a-z]/g, (c) => c.toUpperCase())}@${domain}`,
      );
      expect(isAddress(shouted) && shouted.canonical).toBe(canonical);
    }),
    RUNS,
  );
});

test("the parser reads an address equally with and without brackets", () => {
  // Of such addresses most are as ordinary as can be, and the others are nearly so.
  const plain = fc
    .array(
      fc.oneof(
        { weight: 4, arbitrary: fc.stringMatching(/^[a-z0-9]{1,24}$/) },
        { weight: 3, arbitrary: fc.constantFrom(".", "-", "@", "@b.", ".com") },
        {
          weight: 1,
          arbitrary: fc.constantFrom("xn--", "xn--bcher-kva", "--", "_", "+", "'", ".0"),
        },
        { weight: 1, arbitrary: fc.constantFrom("A", "ü", " ", "/", "\n", "(", '"', "`{|}~") },
      ),
      { maxLength: 10 },
    )
    .map((pieces) => pieces.join(""));
  fc.assert(
    fc.property(
      fc.oneof(
        plain,
        plain.map((text) => `a${text}@example.com`),
      ),
      (text) => {
        expect(parseAddress(text)).toEqual(parseAddress(`<mailto:${text.trim()}>`));
      },
    ),
    { numRuns: 20_000 },
  );
});

test("many of the drawn texts are addresses, so that the properties prove something", () => {
  const tried = fc.sample(likely, { numRuns: 1_000, seed: 1 });

  expect(tried.filter((text) => isAddress(parseAddress(text))).length).toBeGreaterThan(200);
});

test("a text of printable ASCII becomes a local part once it is quoted", () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 31 }), (meant) => {
      const quoted = `"${meant.replaceAll(/["\\]/g, "\\$&")}"`;
      expect(isAddress(parseAddress(`${quoted}@example.com`))).toBe(true);
    }),
  );
});

test("the parser returns an address or a fault of syntax for any text", () => {
  const any = fc.oneof(
    fc.string({ unit: "binary", maxLength: TEXT_LENGTH_MAX }),
    fc.string({ unit: "binary-ascii", maxLength: TEXT_LENGTH_MAX }),
    pieced(TEXT_LENGTH_MAX / 10),
    fc.tuple(piece, fc.nat(TEXT_LENGTH_MAX)).map(([one, times]) => one.repeat(times)),
  );
  fc.assert(
    fc.property(any, (text) => {
      const answers = [parseAddress(text), parseDomain(text)].map((parsed) =>
        "fault" in parsed ? parsed.fault : "sound",
      );
      expect(answers.filter((answer) => !/^(?:sound|syntax\.[a-z_]+)$/.test(answer))).toEqual([]);
    }),
    { numRuns: 1_000 },
  );
});

test("the parser reads a domain equally from its A-labels and its U-labels", () => {
  fc.assert(
    fc.property(host, (text) => {
      const domain = parseDomain(text);
      if ("fault" in domain) return;
      expect(parseDomain(domain.ascii)).toEqual(domain);
      expect(parseDomain(domain.display)).toEqual(domain);
    }),
    RUNS,
  );
});

describe("IP addresses", () => {
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

  test.each(Object.keys(SPECIAL_BLOCKS))("no address of %s counts as public", (text) => {
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

  test("an address outside every block counts as public", () => {
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

  test("parseIp reads the same addresses as Node, except for zones", () => {
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

  test("a block contains the same addresses as Node's own list", () => {
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
});
