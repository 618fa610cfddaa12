import { isDeepStrictEqual } from "node:util";
import { fingerprint } from "@mailproof/core/lib/fingerprint";
import fc from "fast-check";
import { expect, test } from "vitest";

test.each([
  ["the order of fields", { a: 1, b: { c: 2, d: 3 } }, { b: { d: 3, c: 2 }, a: 1 }],
  ["a field that is undefined", { a: 1, b: undefined }, { a: 1 }],
  ["how a number is written", { a: 1.0 }, { a: 1 }],
])("%s makes no difference", (_case, one, other) => {
  expect(fingerprint(one)).toBe(fingerprint(other));
});

test.each<[string, Parameters<typeof fingerprint>[0], Parameters<typeof fingerprint>[0]]>([
  ["the order of a list", [1, 2], [2, 1]],
  ["a word and a number", { a: "1" }, { a: 1 }],
  ["null and nothing", { a: null }, {}],
  ["a list and what it holds", [["a"]], ["a"]],
  ["an empty list and an empty object", [], {}],
  ["where a field stands", { a: { b: 1 }, c: 2 }, { a: { b: 1, c: 2 } }],
  ["letter case", "a", "A"],
  ["a quote in a name", { 'a":1,"b': 2 }, { a: 1, b: 2 }],
  ["where one word ends", ["a,b"], ["a", "b"]],
])("%s makes a difference", (_case, one, other) => {
  expect(fingerprint(one)).not.toBe(fingerprint(other));
});

test("values have the same fingerprint exactly when they are the same", () => {
  const value = fc.jsonValue({ maxDepth: 2 }).map((one) => JSON.parse(JSON.stringify(one)));
  fc.assert(
    fc.property(value, value, (one, other) => {
      const prints = [fingerprint(one), fingerprint(other)];
      expect(new Set(prints).size).toBe(isDeepStrictEqual(one, other) ? 1 : 2);
      expect(fingerprint(structuredClone(one))).toBe(fingerprint(one));
    }),
  );
});

test("it is short, says nothing of the value, and fits a key", () => {
  const print = fingerprint({
    email: "ann@example.com",
    list: Array.from({ length: 9_999 }, () => 1),
  });

  expect(print).toMatch(/^[\w-]{43}$/);
});
