import { parseCidr } from "@mailproof/mail/ip";
import { expand, expandName, isDomainSpec, parseMacroString } from "@mailproof/mail/spf/macro";
import { FAULTS, isSpf, parseSpf, type SpfFaultName } from "@mailproof/mail/spf/parse";
import { expect, test } from "vitest";
import { asRows } from "../../runner/as-rows.ts";

test.each([
  ["v=spf1", true],
  ["V=SPF1 -all", true],
  ["v=spf1  ", true],
  ["v=spf10 -all", false],
  ["v=spf1\t-all", false],
  ["v=spf1\n", false],
])("the text %j counts as an SPF record: %s", (text, expected) => {
  expect(isSpf(text)).toBe(expected);
});

const literal = (text: string) => [{ literal: text }];

test.each(asRows`
  ~ALL | ~ | ${{ kind: "all" }}
  ?all | ? | ${{ kind: "all" }}
  include:a.test | + | ${{ kind: "include", target: literal("a.test") }}
  -Include:a.test. | - | ${{ kind: "include", target: literal("a.test.") }}
  ptr:a.test | + | ${{ kind: "ptr", target: literal("a.test") }}
  a | + | ${{ kind: "a", target: null, length4: 32, length6: 128 }}
  a//64 | + | ${{ kind: "a", target: null, length4: 32, length6: 64 }}
  mx/0//0 | + | ${{ kind: "mx", target: null, length4: 0, length6: 0 }}
  mx:a.test/24//64 | + | ${{ kind: "mx", target: literal("a.test"), length4: 24, length6: 64 }}
  a:b/24.a.test | + | ${{ kind: "a", target: literal("b/24.a.test"), length4: 32, length6: 128 }}
  a:_x:y.a.test | + | ${{ kind: "a", target: literal("_x:y.a.test"), length4: 32, length6: 128 }}
  ~ip4:192.0.2.1 | ~ | ${{ kind: "ip4", block: parseCidr("192.0.2.1/32") }}
  ip6:2001:db8::/32 | + | ${{ kind: "ip6", block: parseCidr("2001:db8::/32") }}
  ip6:::ffff:192.0.2.1 | + | ${{ kind: "ip6", block: parseCidr("::ffff:192.0.2.1") }}
`)("the parser reads the term %s", (term, qualifier, mechanism) => {
  const { directives, faults } = parseSpf(`v=spf1 ${term}`);

  expect(faults).toEqual([]);
  expect(directives).toEqual([{ qualifier, mechanism, term }]);
});

test("the parser reads the modifiers from any place in the record, in either case", () => {
  const record = parseSpf("v=spf1 EXP=b.test -all Redirect=a.test");

  expect(record.redirect).toEqual({ target: literal("a.test"), term: "Redirect=a.test" });
  expect(record.exp).toEqual({ target: literal("b.test"), term: "EXP=b.test" });
  expect(record.directives).toHaveLength(1);
});

test.each(["moo.cow-far_out=man:dog/cat", "ra=postmaster", "x=", "ip4=192.0.2.1", "rp=%{d}"])(
  "the parser accepts an unknown modifier: %s",
  (term) => {
    expect(parseSpf(`v=spf1 ${term} -all`)).toMatchObject({ faults: [], redirect: null });
  },
);

const rows: readonly (readonly [SpfFaultName, string])[] = [
  ["unknown_term", "moo"],
  ["unknown_term", ":a.test"],
  ["unknown_term", "toString"],
  ["unknown_term", "moo.cow/far_out=man"],
  ["missing_space", "ip4:192.0.2.1~all"],
  ["missing_space", "mx-all"],
  ["colon_for_equals", "redirect:a.test"],
  ["needs_target", "include"],
  ["needs_target", "include/24"],
  ["needs_target", "a:/24"],
  ["needs_target", "ptr/24"],
  ["needs_target", "redirect="],
  ["bad_target", "a:museum"],
  ["bad_target", "a:abc.123"],
  ["bad_target", "a:example.-com"],
  ["bad_target", "a:example.com-"],
  ["bad_target", "a:example.com:8080"],
  ["bad_target", "a:example..com.."],
  ["bad_target", "include:a.test/24"],
  ["bad_target", "exists:%{i}x"],
  ["bad_target", "exists:a%%b"],
  ["bad_target", "redirect=-all"],
  ["bad_target", "a:a.test/24/24"],
  ["bad_length", "a:a.test/24/64"],
  ["address_for_target", "a:192.0.2.1"],
  ["address_for_target", "mx:192.0.2.1/24"],
  ["address_for_target", "include:2001:db8::1"],
  ["bad_macro", "exists:%(ir).a.test"],
  ["bad_macro", "exists:a%.test"],
  ["bad_macro", "exists:%{a}.test"],
  ["bad_macro", "exists:%{d0}.test"],
  ["bad_macro", "exists:%{d.test"],
  ["bad_macro", "exp=%{r}.test"],
  ["bad_macro", "include:%{t}.test"],
  ["bad_macro", "x=%abc"],
  ["bad_macro", "redirect=%{c}.test"],
  ["takes_nothing", "all:a.test"],
  ["takes_nothing", "-all/8"],
  ["bad_ip4", "ip4"],
  ["bad_ip4", "ip4:"],
  ["bad_ip4", "ip4:192.0.2"],
  ["bad_ip4", "ip4:192.0.2.256"],
  ["bad_ip4", "ip4:192.0.02.1"],
  ["bad_ip4", "ip4:192.0.2.1/33"],
  ["bad_ip4", "ip4:192.0.2.1/032"],
  ["bad_ip4", "ip4:192.0.2.1//32"],
  ["bad_ip4", "ip4:192.0.2.1:25"],
  ["bad_ip4", "ip4:2001:db8::1"],
  ["bad_ip4", "ip4:a.test"],
  ["bad_ip6", "ip6"],
  ["bad_ip6", "ip6:192.0.2.1"],
  ["bad_ip6", "ip6:2001:db8::/129"],
  ["bad_ip6", "ip6:2001:db8::1//33"],
  ["bad_ip6", "ip6::2001::1"],
  ["bad_length", "a/33"],
  ["bad_length", "a//129"],
  ["bad_length", "mx/024"],
  ["bad_length", "a/24/64"],
  ["bad_length", "mx/"],
  ["bad_character", "a:a.test\rptr"],
  ["bad_character", "a:ï»¿a.test"],
  ["bad_character", "a:a.test\0"],
  ["bad_character", "ip4:192.0.2.1\n"],
];

test.each(rows)("the parser returns the fault of %s: %j", (fault, term) => {
  expect(parseSpf(`v=spf1 ${term} ?all`).faults).toEqual([{ fault, term, at: 7 }]);
});

test("these tests cover every fault of the parser", () => {
  const covered = new Set<string>([...rows.map(([fault]) => fault), "repeated_modifier"]);

  expect(Object.keys(FAULTS).filter((fault) => !covered.has(fault))).toEqual([]);
});

test("the parser reports all faults with their positions, and reads the rest", () => {
  const text = "v=spf1  moo a redirect=a.test ip4:1 redirect=b.test exp=c.test exp=d.test -all ";

  const { faults, directives, redirect } = parseSpf(text);

  expect(faults.map(({ fault, term }) => [fault, term])).toEqual([
    ["unknown_term", "moo"],
    ["bad_ip4", "ip4:1"],
    ["repeated_modifier", "redirect=b.test"],
    ["repeated_modifier", "exp=d.test"],
  ]);
  expect(faults.map(({ at, term }) => text.slice(at, at + term.length))).toEqual(
    faults.map(({ term }) => term),
  );
  expect(directives.map(({ term }) => term)).toEqual(["a", "-all"]);
  expect(redirect?.term).toBe("redirect=a.test");
});

const VALUES = {
  s: "strong-bad@email.example.com",
  l: "strong-bad",
  o: "email.example.com",
  d: "email.example.com",
  i: "192.0.2.3",
  p: "mx.example.org",
  h: "mail.example.net",
  v: "in-addr",
  c: "192.0.2.3",
  r: "receiver.test",
  t: "1700000000",
};

const getPieces = (text: string, use: "domain" | "explanation" = "domain") => {
  const pieces = parseMacroString(text, use);
  if (!pieces) throw new Error(`${text} is no macro-string`);
  return pieces;
};

test.each([
  ["%{d2}", "example.com"],
  ["%{dr}", "com.example.email"],
  ["%{d2r}", "example.email"],
  ["%{l1r-}", "strong"],
  ["%{lr-}.lp.%{ir}.%{v}._spf.%{d2}", "bad.strong.lp.3.2.0.192.in-addr._spf.example.com"],
  ["%{ir}.%{v}.%{l1r-}.lp._spf.%{d2}", "3.2.0.192.in-addr.strong.lp._spf.example.com"],
  ["%{d2}.trusted-domains.example.net", "example.com.trusted-domains.example.net"],
])("the macro %s expands as in the RFC", (text, expected) => {
  expect(expandName(getPieces(text), VALUES)).toBe(expected);
});

test.each([
  ["a sign for each of %, space and an escaped space", "a%%b%_c%-d", "a%b c%20d"],
  ["a macro in capitals, with a transformer in capitals", "%{D2R}", "example.email"],
  ["more parts than a number holds", `%{d${"9".repeat(400)}}`, "email.example.com"],
  ["several delimiters at once", "%{s-.}", "strong.bad@email.example.com"],
  ["every delimiter there is", "%{l.-+,/_=}", "strong.bad"],
  ["a delimiter that does not occur", "%{d+}", "email.example.com"],
])("expand returns the expected text for %s", (_, text, expected) => {
  expect(expand(getPieces(text), VALUES)).toBe(expected);
});

test("a capital SPF macro letter percent-encodes characters that a URL reserves", () => {
  const values = { ...VALUES, l: "~jack&jill=up-a_b3.c!'()*+é\ud800" };

  expect(expand(getPieces("%{L}"), values)).toBe(
    "~jack%26jill%3Dup-a_b3.c%21%27%28%29%2A%2B%C3%A9%EF%BF%BD",
  );
});

test("an SPF explanation may contain spaces and three more macro letters", () => {
  const text = "%{c} asked %{r} at %{t}";

  expect(expand(getPieces(text, "explanation"), VALUES)).toBe(
    "192.0.2.3 asked receiver.test at 1700000000",
  );
  expect(parseMacroString(text, "domain")).toBeUndefined();
});

test.each(["%", "%a", "%{", "%{}", "%{d", "%{x}", "%{dd}", "%{d2x}", "%{d0}", "%{d00}", "%{d}é"])(
  "the parser refuses %j as a macro-string",
  (text) => {
    expect(parseMacroString(text, "domain")).toBeUndefined();
    expect(parseMacroString(text, "explanation")).toBeUndefined();
  },
);

test.each([
  ["example.com", true],
  ["_spf.example.xn--zckzah", true],
  ["a%%", true],
  ["%{d}.com", true],
  ["foo%%.com", true],
  ["", false],
  ["%{d}com", false],
  ["example.123", false],
  ["example.-a", false],
  ["example.a_b", false],
  ["example.com..", false],
  // What looks like a macro at the end is what follows after %%.
  ["example%%{d}", false],
])("the text %j may stand for a domain: %s", (text, expected) => {
  expect(isDomainSpec(getPieces(text))).toBe(expected);
});

const label = "x".repeat(62);

test("a name too long to look up loses whole labels from the left until it fits", () => {
  // 4 * 63 + 3 = 255 octets: one label must go.
  const name = [label, label, label, label, "com"].join(".");

  expect(expandName([{ literal: name }], VALUES)).toBe(name.slice(63));
});

test("a name too long to look up loses no label more than necessary", () => {
  const name = [label, label, label, label.slice(2), "com"].join(".");

  expect(expandName([{ literal: `${label}.${name}` }], VALUES)).toBe(name);
});

test("a name of 253 octets apart from a final dot stays whole", () => {
  const name = [label, label, label, label.slice(2), "com"].join(".");
  expect(name).toHaveLength(253);

  expect(expandName([{ literal: `${name}.` }], VALUES)).toBe(name);
});

test("an SPF macro expands to nothing when one label is too long", () => {
  expect(expandName([{ literal: "x".repeat(300) }], VALUES)).toBe("");
});
