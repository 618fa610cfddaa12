import {
  type Address,
  type AddressFault,
  isAddress,
  parseAddress,
  toSmtpForm,
} from "@mailproof/mail/address";
import { expect, test } from "vitest";

const given = (text: string): Address => {
  const parsed = parseAddress(text);
  if (!isAddress(parsed)) throw new Error(`${text}: ${parsed.fault}`);
  return parsed;
};

/** The form in SMTP, or what is wrong. */
const toResult = (parsed: Address | AddressFault) =>
  isAddress(parsed) ? toSmtpForm(parsed) : parsed.fault;

const a = (length: number) => "a".repeat(length);
const getDomain = (length: number) => `${a(63)}.`.repeat(4).slice(255 - length, 255);

test.each([
  ["john@example.com"],
  ["john+tag@example.com"],
  ["=1+1@example.com"],
  ["!#$%&`*+/=?^{|}~@example.com"],
  ["user%example.com@example.org"],
  [`${a(64)}@example.com`],
  [`${a(64)}@${getDomain(189)}`],
  [`a@${getDomain(252)}`],
  [`${"ü".repeat(32)}@example.com`],
  [`a@${a(63)}.com`],
  ['"john doe"@example.com'],
  ['"john..doe"@example.com'],
  ['"john@doe"@example.com'],
  ['"(comment)"@example.com'],
  ['"a,b;c:d<e>[f]"@example.com'],
  ['"\\""@example.com'],
  ['"\\\\"@example.com'],
  ['""@example.com'],
  ['"ü x"@example.com'],
  ["пользователь@example.com"],
  ["😀@example.com"],
  ["a．b@example.com"],
  ["john@[192.0.2.1]"],
  ["john@[IPv6:::]"],
  ["john@[IPv6:::ffff:192.0.2.1]"],
  ["john@[IPv6:1:2:3:4:5:6:7:8]"],
])("the parser accepts %s unchanged", (text) => {
  expect(toResult(parseAddress(text))).toBe(text);
});

test.each([
  ["  john@example.com\r\n", "john@example.com"],
  ["\ufeffjohn@example.com", "john@example.com"],
  ["\u00a0john@example.com\u3000", "john@example.com"],
  ["MailTo:<john@example.com>", "john@example.com"],
  ["<mailto:john@example.com>", "john@example.com"],
  ["john@bücher.de", "john@xn--bcher-kva.de"],
  ["john@example。com", "john@example.com"],
  ['"john.doe"@example.com', "john.doe@example.com"],
  ['"j\\o\\h\\n"@example.com', "john@example.com"],
  ['"a\\ b"@example.com', '"a b"@example.com'],
  ['"a\\@b"@example.com', '"a@b"@example.com'],
  ['"müller"@example.com', "müller@example.com"],
  ["mu\u0308ller@example.com", "müller@example.com"],
  [`"${a(64)}"@example.com`, `${a(64)}@example.com`],
  ["john@[192.000.002.001]", "john@[192.0.2.1]"],
  ["john@[ipv6:2001:DB8::1]", "john@[IPv6:2001:db8::1]"],
  ["john@[IPv6:0:0:0:0:0:0:0:0]", "john@[IPv6:::]"],
  ["john@[IPv6:2001:0db8:0000:0000:0001:0000:0000:0001]", "john@[IPv6:2001:db8::1:0:0:1]"],
  ["john@[IPv6:1:0:0:2:0:0:0:3]", "john@[IPv6:1:0:0:2::3]"],
  ["john@[IPv6:1:2:3:4:5:6::]", "john@[IPv6:1:2:3:4:5:6::]"],
  ["john@[IPv6:::FFFF:c000:0201]", "john@[IPv6:::ffff:192.0.2.1]"],
  ["john@[IPv6:1:2:3:4::192.0.2.1]", "john@[IPv6:1:2:3:4::c000:201]"],
])("the parser normalizes %j to %s", (text, form) => {
  expect(toResult(parseAddress(text))).toBe(form);
});

test.each([
  ["", "syntax.empty"],
  ["mailto:", "syntax.empty"],
  ["john", "syntax.no_at"],
  ['"john@example.com"', "syntax.no_at"],
  ["john＠example.com", "syntax.no_at"],
  ["@example.com", "syntax.local_empty"],
  ["@relay.example,@other.example:john@example.com", "syntax.local_empty"],
  ["john@", "syntax.domain_empty"],
  ["john@doe@example.com", "syntax.at_repeated"],
  ['"john"@doe@example.com', "syntax.at_repeated"],
  [".john@example.com", "syntax.local_dots"],
  ["john..doe@example.com", "syntax.local_dots"],
  ["john;@example.com", "syntax.local_character"],
  ["john\u037e@example.com", "syntax.local_character"],
  ["<john@example.com", "syntax.local_character"],
  ["mailto:mailto:john@example.com", "syntax.local_character"],
  ["john@example.com>", "syntax.domain_character"],
  ["mailto:john@example.com?subject=x", "syntax.domain_character"],
  ["john@exam_ple.com", "syntax.domain_character"],
  ['john@"example".com', "syntax.domain_character"],
  ['"john@example.com', "syntax.local_quote"],
  ['"""@example.com', "syntax.local_quote"],
  ['"john\\"@example.com', "syntax.local_quote"],
  ['john"doe"@example.com', "syntax.local_quote"],
  ['"john\\ü"@example.com', "syntax.local_quote"],
  ['"john\\\t"@example.com', "syntax.local_quote"],
  ["john\\@doe@example.com", "syntax.local_quote"],
  ["\\john@example.com", "syntax.local_quote"],
  // Obsolete in RFC 5322 §4.4: words joined by dots.
  ['"john".doe@example.com', "syntax.local_quote"],
  ["(c)john@example.com", "syntax.comment"],
  ["john(c@d)@example.com", "syntax.comment"],
  ['"john"(c)@example.com', "syntax.comment"],
  ["john@example(c).com", "syntax.comment"],
  ["john@[192.0.2.1](c)", "syntax.comment"],
  ["john @example.com", "syntax.white_space"],
  ["john doe@example.com", "syntax.white_space"],
  ['"john" @example.com', "syntax.white_space"],
  ["John Doe <john@example.com>", "syntax.white_space"],
  ["mailto: john@example.com", "syntax.white_space"],
  ["john@example.com john@example.org", "syntax.at_repeated"],
  ['"john\tdoe"@example.com', "syntax.white_space"],
  ["john\u00a0doe@example.com", "syntax.white_space"],
  ['"john\u2003doe"@example.com', "syntax.white_space"],
  ["john@[ 192.0.2.1 ]", "syntax.white_space"],
  ["john\0@example.com", "syntax.control"],
  ["john\u0090@example.com", "syntax.control"],
  ['"john\u0007"@example.com', "syntax.control"],
  ["john\u200b@example.com", "syntax.invisible"],
  ["jo\u00adhn@example.com", "syntax.invisible"],
  ["jo\u202ehn@example.com", "syntax.invisible"],
  ["jo\ufeffhn@example.com", "syntax.invisible"],
  ["jo\u2800hn@example.com", "syntax.invisible"],
  ["jo\u{e0061}hn@example.com", "syntax.invisible"],
  ['"jo\u200bhn"@example.com', "syntax.invisible"],
  ["jo\ud800hn@example.com", "syntax.unicode"],
  ["jo\ufffdhn@example.com", "syntax.unicode"],
  ["john@exam\ud800ple.com", "syntax.unicode"],
  ["jo\ue000hn@example.com", "syntax.private_use"],
  ['"jo\u{10fffd}hn"@example.com', "syntax.private_use"],
  ["john@exam\ue000ple.com", "syntax.private_use"],
  ["\u0301john@example.com", "syntax.combining"],
  ["john.\u0301doe@example.com", "syntax.combining"],
  ['"\u0301 john"@example.com', "syntax.combining"],
  [`${a(128)}@example.com`, "syntax.local_too_long"],
  [`${"ü".repeat(64)}@example.com`, "syntax.local_too_long"],
  [`"${a(125)} "@example.com`, "syntax.local_too_long"],
  [`${a(64)}@${getDomain(190)}`, "syntax.too_long"],
  [`${a(127)}@${getDomain(127)}`, "syntax.too_long"],
  [`ü@${getDomain(252)}`, "syntax.too_long"],
  [`a@${getDomain(253)}`, "syntax.too_long"],
  [`a@${getDomain(254)}`, "syntax.domain_too_long"],
  [`a@${a(64)}.com`, "syntax.label_too_long"],
  ["john@example.com.", "syntax.domain_dots"],
  ["john@example..com", "syntax.domain_dots"],
  ["test@io", "syntax.domain_no_dot"],
  ["john@192.0.2.1", "syntax.domain_numeric"],
  ["john@-example.com", "syntax.label_hyphen"],
  ["john@xn--a.com", "syntax.idna"],
  ["john@[192.0.2.256]", "syntax.literal"],
  ["john@[192.0.2.0001]", "syntax.literal"],
  ["john@[2130706433]", "syntax.literal"],
  ["john@[192.0.2.1", "syntax.literal"],
  ["john@[192.0.2.1].com", "syntax.literal"],
  ["john@[example.com]", "syntax.literal"],
  ["john@[2001:db8::1]", "syntax.literal"],
  ["john@[IPv6:192.0.2.1]", "syntax.literal"],
  ["john@[IPv6:1:2:3:4:5:6:7:8:9]", "syntax.literal"],
  ["john@[IPv6:1::2::3]", "syntax.literal"],
  ["john@[IPv6:1:2:3:4:5:6::8]", "syntax.literal"],
  ["john@[IPv6:1:2:3:4:5:6:7:192.0.2.1]", "syntax.literal"],
  ["john@[IPv6:fe80::1%eth0]", "syntax.literal"],
])("the parser refuses %j: %s", (text, fault) => {
  expect(toResult(parseAddress(text))).toBe(fault);
});

test("the parser refuses a text too long for any spelling of an address without reading it", () => {
  expect(toResult(parseAddress(a(10_000)))).toBe("syntax.too_long");
  expect(toResult(parseAddress(`${" ".repeat(10_000)}john@example.com`))).toBe("john@example.com");
});

test("a fault describes the problem in a sentence", () => {
  expect(parseAddress("john")).toEqual({ fault: "syntax.no_at", message: "The @ is missing." });
});

test("people see U-labels and the case of the local part, and machines see neither", () => {
  expect(given("<Jörg.MÜLLER@XN--BCHER-KVA.de>")).toEqual({
    local: "Jörg.MÜLLER",
    domain: "xn--bcher-kva.de",
    literal: null,
    display: "Jörg.MÜLLER@bücher.de",
    canonical: "jörg.müller@xn--bcher-kva.de",
    needsSmtpUtf8: true,
  });
});

test("the canonical form of an address literal spells the IP address in one way", () => {
  expect(given("John@[ipv6:2001:DB8:0::1]")).toEqual({
    local: "John",
    domain: "[IPv6:2001:db8::1]",
    literal: "2001:db8::1",
    display: "John@[IPv6:2001:db8::1]",
    canonical: "john@[IPv6:2001:db8::1]",
    needsSmtpUtf8: false,
  });
});

test.each([
  ["John@Example.com", '"john"@example.com'],
  ["J\u030c@example.com", "ǰ@example.com"],
  ["É@example.com", "e\u0301@example.com"],
  ['"A B"@example.com', '"a\\ b"@EXAMPLE.com'],
  ["a@bücher.de", "A@BU\u0308CHER.DE"],
])("the canonical forms of %j and %j are equal", (one, other) => {
  expect(given(one).canonical).toBe(given(other).canonical);
});

test.each([
  ["john.doe@gmail.com", "johndoe@gmail.com"],
  ["john+a@gmail.com", "john@gmail.com"],
  ['"a b"@example.com', '"ab"@example.com'],
  ["a@straße.de", "a@strasse.de"],
])("the canonical forms of %j and %j differ", (one, other) => {
  expect(given(one).canonical).not.toBe(given(other).canonical);
});

test("an internationalised domain alone needs no SMTPUTF8", () => {
  expect(given("john@bücher.de").needsSmtpUtf8).toBe(false);
  expect(given('"j ö"@example.com').needsSmtpUtf8).toBe(true);
});
