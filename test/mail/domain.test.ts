import { type Domain, type DomainFault, parseDomain } from "@mailproof/mail/domain";
import { expect, test } from "vitest";

const toResult = (parsed: Domain | DomainFault) =>
  "fault" in parsed ? parsed.fault : [parsed.ascii, parsed.display];

const label = (length: number) => "a".repeat(length);
const ofLength = (length: number) => `${label(63)}.`.repeat(4).slice(255 - length, 255);

test.each([
  ["example.com", "example.com", "example.com"],
  ["Mail.EXAMPLE.Com", "mail.example.com", "mail.example.com"],
  ["a.b.c.d.e.f.g.io", "a.b.c.d.e.f.g.io", "a.b.c.d.e.f.g.io"],
  ["3com.com", "3com.com", "3com.com"],
  ["163.com", "163.com", "163.com"],
  ["1.2.3.com", "1.2.3.com", "1.2.3.com"],
  ["x.y2", "x.y2", "x.y2"],
  ["a--b.com", "a--b.com", "a--b.com"],
  // Reserved since 2010 (RFC 5890 §2.3.1), and in DNS all the same.
  ["r3--sn.example.com", "r3--sn.example.com", "r3--sn.example.com"],
  ["foxn--a.com", "foxn--a.com", "foxn--a.com"],
  [`${label(63)}.com`, `${label(63)}.com`, `${label(63)}.com`],
  [ofLength(253), ofLength(253), ofLength(253)],
])("%s is a domain", (text, ascii, display) => {
  expect(parseDomain(text)).toEqual({ ascii, display });
});

test.each([
  ["bücher.de", "xn--bcher-kva.de", "bücher.de"],
  ["BÜCHER.DE", "xn--bcher-kva.de", "bücher.de"],
  ["bu\u0308cher.de", "xn--bcher-kva.de", "bücher.de"],
  ["xn--bcher-kva.de", "xn--bcher-kva.de", "bücher.de"],
  ["XN--BCHER-KVA.De", "xn--bcher-kva.de", "bücher.de"],
  ["mail.xn--bcher-kva.bücher.de", "mail.xn--bcher-kva.xn--bcher-kva.de", "mail.bücher.bücher.de"],
  // IDNA2008 keeps what IDNA2003 folded away: straße.de and strasse.de have different owners.
  ["straße.de", "xn--strae-oqa.de", "straße.de"],
  ["STRAẞE.de", "xn--strae-oqa.de", "straße.de"],
  ["νόμος.gr", "xn--xxabhm1c.gr", "νόμος.gr"],
  ["пример.рф", "xn--e1afmkfd.xn--p1ai", "пример.рф"],
  ["例え.テスト", "xn--r8jz45g.xn--zckzah", "例え.テスト"],
  ["中国.中国", "xn--fiqs8s.xn--fiqs8s", "中国.中国"],
  ["مثال.إختبار", "xn--mgbh0fb.xn--kgbechtv", "مثال.إختبار"],
  ["l·l.cat", "xn--ll-0ea.cat", "l·l.cat"],
  ["क्\u200dष.com", "xn--11b2ezcw70k.com", "क्\u200dष.com"],
  ["😀.ws", "xn--e28h.ws", "😀.ws"],
  ["I❤️.ws", "xn--i-7iq.ws", "i❤.ws"],
  ["ｅｘａｍｐｌｅ．ＣＯＭ", "example.com", "example.com"],
  ["example。com", "example.com", "example.com"],
  ["bücher｡de", "xn--bcher-kva.de", "bücher.de"],
  ["\u212aelvin.com", "kelvin.com", "kelvin.com"],
  ["ⅷ.com", "viii.com", "viii.com"],
])("%s is an internationalised domain", (text, ascii, display) => {
  expect(parseDomain(text)).toEqual({ ascii, display });
});

test.each([
  ["", "syntax.domain_empty"],
  [".", "syntax.domain_dots"],
  [".example.com", "syntax.domain_dots"],
  ["example.com.", "syntax.domain_dots"],
  ["example..com", "syntax.domain_dots"],
  ["example。。com", "syntax.domain_dots"],
  ["bücher.de。", "syntax.domain_dots"],
  ["io", "syntax.domain_no_dot"],
  ["localhost", "syntax.domain_no_dot"],
  ["中国", "syntax.domain_no_dot"],
  ["xn--fiqs8s", "syntax.domain_no_dot"],
  ["192.0.2.1", "syntax.domain_numeric"],
  ["example.123", "syntax.domain_numeric"],
  ["１９２．０．２．１", "syntax.domain_numeric"],
  ["０ｘ７ｆ．１", "syntax.domain_numeric"],
  ["-example.com", "syntax.label_hyphen"],
  ["example-.com", "syntax.label_hyphen"],
  ["example.-com", "syntax.label_hyphen"],
  ["example.com-", "syntax.label_hyphen"],
  ["-.com", "syntax.label_hyphen"],
  ["-ä.com", "syntax.label_hyphen"],
  ["ä-.com", "syntax.label_hyphen"],
  ["ab--ä.com", "syntax.label_hyphen"],
  // The same label in disguise: its A-label ends with a letter.
  ["xn----zfa.com", "syntax.label_hyphen"],
  [`${label(64)}.com`, "syntax.label_too_long"],
  [`${"ä".repeat(60)}.com`, "syntax.label_too_long"],
  [ofLength(254), "syntax.domain_too_long"],
  [`${"中.".repeat(40)}com`, "syntax.domain_too_long"],
  ["a_b.com", "syntax.domain_character"],
  ["_dmarc.example.com", "syntax.domain_character"],
  ["[192.0.2.1]", "syntax.domain_character"],
  ["example.com:25", "syntax.domain_character"],
  ["example.com/a", "syntax.domain_character"],
  ["bücher.de/a", "syntax.domain_character"],
  ["bücher.de?a", "syntax.domain_character"],
  ["%61.com", "syntax.domain_character"],
  ["%62ücher.de", "syntax.domain_character"],
  ["bücher.de@example.com", "syntax.domain_character"],
  ["exa mple.com", "syntax.white_space"],
  ["büch er.de", "syntax.white_space"],
  ["büch\ter.de", "syntax.white_space"],
  ["büch\u00a0er.de", "syntax.white_space"],
  ["example.com ", "syntax.white_space"],
  ["exa\0mple.com", "syntax.control"],
  ["exa\u007fmple.com", "syntax.control"],
  ["exa\u0085mple.com", "syntax.control"],
  ["(a)example.com", "syntax.comment"],
  ["exam\u00adple.com", "syntax.invisible"],
  ["exam\u200bple.com", "syntax.invisible"],
  ["gmail\ufe0f.com", "syntax.invisible"],
  ["\u202eexample.com", "syntax.invisible"],
  ["exam\ud800ple.com", "syntax.unicode"],
  ["exam\udc00ple.com", "syntax.unicode"],
  ["exam\ufffdple.com", "syntax.unicode"],
  ["a\u200db.com", "syntax.idna"],
  ["a\u200cb.com", "syntax.idna"],
  ["\u0301a.com", "syntax.idna"],
  ["1א.com", "syntax.idna"],
  ["אa.com", "syntax.idna"],
  ["a⒈com", "syntax.idna"],
  ["a％41.com", "syntax.idna"],
  ["a／b.com", "syntax.idna"],
  ["a＠b.com", "syntax.idna"],
  ["＿a.com", "syntax.idna"],
  ["⑴.com", "syntax.idna"],
  ["xn--ä.com", "syntax.idna"],
  ["xn--a.com", "syntax.idna"],
  ["xn--0.com", "syntax.idna"],
  ["xn--zzzzzzzz99999.com", "syntax.idna"],
  ["xn--bcher-kva.xn--a.com", "syntax.idna"],
  // Punycode of what UTS 46 spells otherwise: Ücher, bücher in NFD, with a soft hyphen, and a wide a.
  ["xn--cher-fna.com", "syntax.idna"],
  ["xn--bucher-xyd.com", "syntax.idna"],
  ["xn--bucher-cja.com", "syntax.idna"],
  ["xn--mi7c.com", "syntax.idna"],
])("%j is no domain: %s", (text, fault) => {
  expect(toResult(parseDomain(text))).toBe(fault);
});

test("a text too long to be a domain is not looked at", () => {
  expect(toResult(parseDomain(label(10_000)))).toBe("syntax.domain_too_long");
  expect(toResult(parseDomain("ä".repeat(10_000)))).toBe("syntax.domain_too_long");
});
