import { expand, expandName, isDomainSpec, parseMacroString } from "@mailproof/mail/spf/macro";
import { describe, expect, test } from "vitest";

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

describe("examples of RFC 7208 §7.4", () => {
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

test("a capital macro letter escapes characters that are not unreserved in a URL", () => {
  const values = { ...VALUES, l: "~jack&jill=up-a_b3.c!'()*+é\ud800" };

  expect(expand(getPieces("%{L}"), values)).toBe(
    "~jack%26jill%3Dup-a_b3.c%21%27%28%29%2A%2B%C3%A9%EF%BF%BD",
  );
});

test("an explanation may contain spaces and three more macro letters", () => {
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

describe("a name too long to look up", () => {
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

  test("a too long single label expands to nothing", () => {
    expect(expandName([{ literal: "x".repeat(300) }], VALUES)).toBe("");
  });
});
