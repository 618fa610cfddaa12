import { type Address, isAddress, parseAddress, toSmtpForm } from "@mailproof/mail/address";
import { parseDomain } from "@mailproof/mail/domain";
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

describe("an address that was parsed", () => {
  test("is the same address when it is read again, as SMTP says it and as people see it", () => {
    fc.assert(
      whenParsed((address) => {
        expect(parseAddress(toSmtpForm(address))).toEqual(address);
        expect(parseAddress(address.display)).toEqual(address);
        expect(parseAddress(`<mailto:${toSmtpForm(address)}>`)).toEqual(address);
      }),
      RUNS,
    );
  });

  test("keeps every limit, and brings nothing into the dialogue that could end its line", () => {
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

  test("has a canonical form that is its own, whatever case it was written in", () => {
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
});

test("an address is read the same way whether it is ordinary at first sight or in brackets", () => {
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

test("many of the texts tried are addresses, or the properties above would say little", () => {
  const tried = fc.sample(likely, { numRuns: 1_000, seed: 1 });

  expect(tried.filter((text) => isAddress(parseAddress(text))).length).toBeGreaterThan(200);
});

test("a text of printable ASCII is a local part once it is quoted", () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 31 }), (meant) => {
      const quoted = `"${meant.replaceAll(/["\\]/g, "\\$&")}"`;
      expect(isAddress(parseAddress(`${quoted}@example.com`))).toBe(true);
    }),
  );
});

test("whatever comes in, an answer comes out: an address, or a fault of syntax", () => {
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

test("a domain is read from its A-labels as from its U-labels", () => {
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
