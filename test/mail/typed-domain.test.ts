import {
  type Domain,
  type DomainFault,
  isDomain,
  parseTypedDomain,
  removeWww,
  toUnicode,
} from "@mailproof/mail/domain";
import fc from "fast-check";
import { expect, test } from "vitest";

const read = (parsed: Domain | DomainFault) => (isDomain(parsed) ? parsed.ascii : parsed.fault);

test.each([
  ["example.com"],
  [" example.com "],
  ["\texample.com\r\n"],
  ["\u00a0example.com\u3000"],
  ["\ufeffexample.com\u200b"],
  ["\u200eexample.com\u200e"],
  ["EXAMPLE.Com"],
  ["example.com."],
  ["example.com。"],
  ["https://example.com"],
  ["HTTPS://Example.com/"],
  ["http://example.com/path/to?x=1#part"],
  ["https://example.com?x=a@b.org"],
  ["https://example.com#a/b"],
  ["https://example.com:8443/path"],
  ["https://ann:secret@example.com/"],
  ["https://a@b@example.com/"],
  ["ftp://example.com"],
  ["//example.com/path"],
  ["example.com/path"],
  ["example.com/a@b.org"],
  ["example.com:25"],
  ["example.com:"],
  ["example.com.:443/"],
  [" https://Example.COM.:443/a b?c "],
])("%j is example.com", (text) => {
  expect(read(parseTypedDomain(text))).toBe("example.com");
});

test.each([
  ["https://bücher.example/straße", "xn--bcher-kva.example"],
  ["BÜCHER.example.", "xn--bcher-kva.example"],
  ["XN--BCHER-KVA.example", "xn--bcher-kva.example"],
  ["https://例え.テスト/", "xn--r8jz45g.xn--zckzah"],
  ["www.example.com", "www.example.com"],
  ["https://www.example.com/", "www.example.com"],
])("%s is %s", (text, ascii) => {
  expect(read(parseTypedDomain(text))).toBe(ascii);
});

test.each([
  [""],
  ["   "],
  ["https://"],
  ["https:///example.com"],
  ["https:example.com"],
  ["https:/example.com"],
  ["ann@example.com"],
  ["ann@example.com/path"],
  ["mailto:ann@example.com"],
  ["localhost"],
  ["https://localhost:8787/"],
  ["192.0.2.1"],
  ["http://192.0.2.1/"],
  ["http://[2001:db8::1]/"],
  ["example.com.."],
  ["example..com"],
  ["exa mple.com"],
  ["example.com example.org"],
  ["example.com,example.org"],
  ["example.com:port"],
  ["example.com:123456"],
  ["https://example.com\\path"],
  ["exa%6dple.com"],
  ["*.example.com"],
  [`https://example.com/${"a".repeat(2_000)}`],
])("%j is no domain", (text) => {
  expect(isDomain(parseTypedDomain(text))).toBe(false);
});

const label = fc
  .stringMatching(/^[a-z0-9](?:[a-z0-9-]{0,8}[a-z0-9])?$/)
  .filter((one) => !/^..--/.test(one));
const domain = fc
  .tuple(label, label, fc.constantFrom("com", "org", "de"))
  .map((parts) => parts.join("."));

test("however a domain is wrapped, the same domain is read", () => {
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

test("any text is a domain or a fault, and a domain that was read is read as itself", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 80 }), (text) => {
      const parsed = parseTypedDomain(text);
      const again = isDomain(parsed) ? parseTypedDomain(parsed.ascii) : parsed;
      expect(again).toEqual(parsed);
    }),
  );
});

test("both forms of a domain lead to each other, and a domain in ASCII is its own", () => {
  expect(toUnicode("xn--bcher-kva.example")).toBe("bücher.example");
  expect(toUnicode("example.com")).toBe("example.com");
  expect(read(parseTypedDomain(toUnicode("xn--r8jz45g.xn--zckzah")))).toBe(
    "xn--r8jz45g.xn--zckzah",
  );
});

test("only what stands behind www. and is a domain of its own is named", () => {
  expect(removeWww("www.example.com")).toBe("example.com");
  expect(["example.com", "www.com", "www2.example.com", "awww.example.com"].map(removeWww)).toEqual(
    [undefined, undefined, undefined, undefined],
  );
});
