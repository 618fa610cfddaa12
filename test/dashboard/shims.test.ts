import { domainToASCII, domainToUnicode } from "node:url";
import * as core from "@mailproof/core/intake/latin1";
import { latin1ToText, textToLatin1 } from "@mailproof/core/intake/latin1";
import { countOctets } from "@mailproof/mail/octets";
import fc from "fast-check";
import { expect, test } from "vitest";
import * as latin1 from "../../packages/dashboard/src/shims/latin1.ts";
import * as octets from "../../packages/dashboard/src/shims/octets.ts";
import * as url from "../../packages/dashboard/src/shims/url.ts";

// What a browser has in the place of Node's functions does what they do: a list is read there as the service reads it.

test.each([
  "example.com",
  "münchen.example",
  "xn--mnchen-3ya.example",
  "ÄÖÜ.example",
  "faß.example",
  "例え.jp",
  "xn--r8jz45g.jp",
  "пример.рф",
  "xn--e1afmkfd.xn--p1ai",
  "a-.example",
  "xn--a.example",
  "xn--99999999.example",
  "☃.example",
  "😀.example",
  "xn--e28h.example",
  "عربي.example",
])("the URL shim converts the labels of %s as Node does", (domain) => {
  expect(url.domainToASCII(domain)).toBe(domainToASCII(domain));
  expect(url.domainToUnicode(domain)).toBe(domainToUnicode(domain));
});

test("the URL shim converts labels of many scripts to ASCII and back unchanged", () => {
  const letter = fc.constantFrom(...Array.from("abzäöüßñçéřšñδλжщя例文字中한글กขไทי"));
  const label = fc
    .array(letter, { minLength: 1, maxLength: 12 })
    .map((letters) => letters.join(""));
  fc.assert(
    fc.property(label, (one) => {
      const ascii = domainToASCII(`${one}.example`);
      expect(url.domainToASCII(`${one}.example`)).toBe(ascii);
      expect(url.domainToUnicode(ascii)).toBe(domainToUnicode(ascii));
    }),
  );
});

test("the text shims convert any bytes and texts as Node does", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "grapheme" }),
      fc.uint8Array({ maxLength: 20_000 }),
      (text, bytes) => {
        expect(latin1.textToLatin1(text)).toBe(textToLatin1(text));
        expect(octets.countOctets(text)).toBe(countOctets(text));
        expect(octets.countOctets(`${text}\ud800a\udc00`)).toBe(
          countOctets(`${text}\ud800a\udc00`),
        );
        expect(latin1.bytesToLatin1(bytes)).toBe(core.bytesToLatin1(bytes));
        const one = core.bytesToLatin1(bytes);
        expect(latin1.latin1ToText(one)).toBe(latin1ToText(one));
      },
    ),
  );
});
