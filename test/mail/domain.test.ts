import {
  type Domain,
  type DomainFault,
  isDomain,
  parseDomain,
  parseTypedDomain,
  removeWww,
  toUnicode,
} from "@mailproof/mail/domain";
import fc from "fast-check";
import { describe, expect, test } from "vitest";

const toResult = (parsed: Domain | DomainFault) =>
  "fault" in parsed ? parsed.fault : [parsed.ascii, parsed.display];

const label = (length: number) => "a".repeat(length);
const ofLength = (length: number) => `${label(63)}.`.repeat(4).slice(255 - length, 255);

test.each([
  ["example.com", "example.com", "example.com"],
  ["Mail.EXAMPLE.Com", "mail.example.com", "mail.example.com"],
  ["1.2.3.com", "1.2.3.com", "1.2.3.com"],
  ["a--b.com", "a--b.com", "a--b.com"],
  // Reserved since 2010 (RFC 5890 §2.3.1), and in DNS all the same.
  ["r3--sn.example.com", "r3--sn.example.com", "r3--sn.example.com"],
  [`${label(63)}.com`, `${label(63)}.com`, `${label(63)}.com`],
  [ofLength(253), ofLength(253), ofLength(253)],
])("the parser accepts the domain %s", (text, ascii, display) => {
  expect(parseDomain(text)).toEqual({ ascii, display });
});

test.each([
  ["bücher.de", "xn--bcher-kva.de", "bücher.de"],
  ["bu\u0308cher.de", "xn--bcher-kva.de", "bücher.de"],
  ["xn--bcher-kva.de", "xn--bcher-kva.de", "bücher.de"],
  ["mail.xn--bcher-kva.bücher.de", "mail.xn--bcher-kva.xn--bcher-kva.de", "mail.bücher.bücher.de"],
  // IDNA2008 keeps what IDNA2003 folded away: straße.de and strasse.de have different owners.
  ["straße.de", "xn--strae-oqa.de", "straße.de"],
  ["STRAẞE.de", "xn--strae-oqa.de", "straße.de"],
  ["例え.テスト", "xn--r8jz45g.xn--zckzah", "例え.テスト"],
  ["مثال.إختبار", "xn--mgbh0fb.xn--kgbechtv", "مثال.إختبار"],
  ["l·l.cat", "xn--ll-0ea.cat", "l·l.cat"],
  ["क्\u200dष.com", "xn--11b2ezcw70k.com", "क्\u200dष.com"],
  ["😀.ws", "xn--e28h.ws", "😀.ws"],
  ["ｅｘａｍｐｌｅ．ＣＯＭ", "example.com", "example.com"],
  ["bücher｡de", "xn--bcher-kva.de", "bücher.de"],
  ["\u212aelvin.com", "kelvin.com", "kelvin.com"],
])("the parser accepts the internationalised domain %s", (text, ascii, display) => {
  expect(parseDomain(text)).toEqual({ ascii, display });
});

test.each([
  ["", "syntax.domain_empty"],
  [".example.com", "syntax.domain_dots"],
  ["example.com.", "syntax.domain_dots"],
  ["example。。com", "syntax.domain_dots"],
  ["io", "syntax.domain_no_dot"],
  ["localhost", "syntax.domain_no_dot"],
  ["xn--fiqs8s", "syntax.domain_no_dot"],
  ["192.0.2.1", "syntax.domain_numeric"],
  ["１９２．０．２．１", "syntax.domain_numeric"],
  ["-example.com", "syntax.label_hyphen"],
  ["ä-.com", "syntax.label_hyphen"],
  ["ab--ä.com", "syntax.label_hyphen"],
  // The same label in disguise: its A-label ends with a letter.
  ["xn----zfa.com", "syntax.label_hyphen"],
  [`${label(64)}.com`, "syntax.label_too_long"],
  [`${"ä".repeat(60)}.com`, "syntax.label_too_long"],
  [ofLength(254), "syntax.domain_too_long"],
  [`${"中.".repeat(40)}com`, "syntax.domain_too_long"],
  ["_dmarc.example.com", "syntax.domain_character"],
  ["[192.0.2.1]", "syntax.domain_character"],
  ["example.com/a", "syntax.domain_character"],
  ["%62ücher.de", "syntax.domain_character"],
  ["bücher.de@example.com", "syntax.domain_character"],
  ["exa mple.com", "syntax.white_space"],
  ["büch\u00a0er.de", "syntax.white_space"],
  ["example.com ", "syntax.white_space"],
  ["exa\0mple.com", "syntax.control"],
  ["exa\u0085mple.com", "syntax.control"],
  ["(a)example.com", "syntax.comment"],
  ["exam\u200bple.com", "syntax.invisible"],
  ["gmail\ufe0f.com", "syntax.invisible"],
  ["exam\ud800ple.com", "syntax.unicode"],
  ["exam\ufffdple.com", "syntax.unicode"],
  ["a\u200db.com", "syntax.idna"],
  ["a\u200cb.com", "syntax.idna"],
  ["domain.com©", "syntax.idna"],
  ["אa.com", "syntax.idna"],
  ["a⒈com", "syntax.idna"],
  ["a％41.com", "syntax.idna"],
  ["a＠b.com", "syntax.idna"],
  ["xn--a.com", "syntax.idna"],
  ["xn--zzzzzzzz99999.com", "syntax.idna"],
  // Punycode of what UTS 46 spells otherwise: Ücher, bücher in NFD, with a soft hyphen, and a wide a.
  ["xn--cher-fna.com", "syntax.idna"],
  ["xn--bucher-xyd.com", "syntax.idna"],
  ["xn--bucher-cja.com", "syntax.idna"],
])("the parser refuses the domain %j: %s", (text, fault) => {
  expect(toResult(parseDomain(text))).toBe(fault);
});

test("the parser refuses a text too long for a domain without reading it", () => {
  expect(toResult(parseDomain(label(10_000)))).toBe("syntax.domain_too_long");
  expect(toResult(parseDomain("ä".repeat(10_000)))).toBe("syntax.domain_too_long");
});

describe("a typed domain", () => {
  const read = (parsed: Domain | DomainFault) => (isDomain(parsed) ? parsed.ascii : parsed.fault);

  test.each([
    ["example.com"],
    [" example.com "],
    ["\u00a0example.com\u3000"],
    ["\ufeffexample.com\u200b"],
    ["\u200eexample.com\u200e"],
    ["example.com."],
    ["example.com。"],
    ["HTTPS://Example.com/"],
    ["https://example.com?x=a@b.org"],
    ["https://example.com:8443/path"],
    ["https://ann:secret@example.com/"],
    ["https://a@b@example.com/"],
    ["ftp://example.com"],
    ["example.com/a@b.org"],
    ["example.com:"],
    ["example.com.:443/"],
    [" https://Example.COM.:443/a b?c "],
  ])("the parser reads %j as example.com", (text) => {
    expect(read(parseTypedDomain(text))).toBe("example.com");
  });

  test.each([
    ["https://bücher.example/straße", "xn--bcher-kva.example"],
    ["XN--BCHER-KVA.example", "xn--bcher-kva.example"],
    ["https://例え.テスト/", "xn--r8jz45g.xn--zckzah"],
    ["https://www.example.com/", "www.example.com"],
  ])("the parser reads %s as %s", (text, ascii) => {
    expect(read(parseTypedDomain(text))).toBe(ascii);
  });

  test.each([
    [""],
    ["https://"],
    ["https:///example.com"],
    ["https:/example.com"],
    ["ann@example.com"],
    ["mailto:ann@example.com"],
    ["localhost"],
    ["192.0.2.1"],
    ["http://[2001:db8::1]/"],
    ["example.com.."],
    ["exa mple.com"],
    ["example.com,example.org"],
    ["example.com:123456"],
    ["https://example.com\\path"],
    ["exa%6dple.com"],
    ["*.example.com"],
    [`https://example.com/${"a".repeat(2_000)}`],
  ])("the parser finds no domain in %j", (text) => {
    expect(isDomain(parseTypedDomain(text))).toBe(false);
  });

  const label = fc
    .stringMatching(/^[a-z0-9](?:[a-z0-9-]{0,8}[a-z0-9])?$/)
    .filter((one) => !/^..--/.test(one));
  const domain = fc
    .tuple(label, label, fc.constantFrom("com", "org", "de"))
    .map((parts) => parts.join("."));

  test("the parser reads the same domain inside any surrounding text", () => {
    fc.assert(
      fc.property(
        domain,
        fc.constantFrom("", " ", "\n", "\u00a0", "\u200b"),
        fc.constantFrom("", "https://", "http://", "//", "https://user:p@", "FTP://"),
        fc.boolean(),
        fc.constantFrom("", "."),
        fc.constantFrom("", ":", ":25", ":65535"),
        fc.constantFrom("", "/", "/a/b", "?q", "#f", "/@x.org"),
        (name, blank, before, isUpper, dot, port, after) => {
          const typed = isUpper ? name.toUpperCase() : name;
          const text = `${blank}${before}${typed}${dot}${port}${after}${blank}`;
          expect(read(parseTypedDomain(text))).toBe(name);
        },
      ),
    );
  });

  test("any text parses as a domain or a fault, and a parsed domain parses as itself", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 80 }), (text) => {
        const parsed = parseTypedDomain(text);
        const again = isDomain(parsed) ? parseTypedDomain(parsed.ascii) : parsed;
        expect(again).toEqual(parsed);
      }),
    );
  });

  test("each form of a domain converts to the other, and a domain in ASCII converts to itself", () => {
    expect(toUnicode("xn--bcher-kva.example")).toBe("bücher.example");
    expect(toUnicode("example.com")).toBe("example.com");
    expect(read(parseTypedDomain(toUnicode("xn--r8jz45g.xn--zckzah")))).toBe(
      "xn--r8jz45g.xn--zckzah",
    );
  });

  test("removeWww removes www. only when a domain remains", () => {
    expect(removeWww("www.example.com")).toBe("example.com");
    expect(
      ["example.com", "www.com", "www2.example.com", "awww.example.com"].map(removeWww),
    ).toEqual([undefined, undefined, undefined, undefined]);
  });
});
