import { openCursor, sealCursor } from "@mailproof/core/cursor";
import fc from "fast-check";
import { expect, test } from "vitest";

const SECRET = "a secret";

test("what was sealed is opened again, whatever it is", () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), fc.jsonValue(), (secret, bound, place) => {
      const told = JSON.parse(JSON.stringify(place));
      expect(openCursor(secret, bound, sealCursor(secret, bound, told))).toEqual(told);
    }),
  );
});

test("a cursor is a word that needs no escaping in an address", () => {
  expect(sealCursor(SECRET, "jobs acc_1", ["ключ", ">>>???", 0])).toMatch(/^[\w-]+$/);
});

const sealed = sealCursor(SECRET, "jobs acc_1", [1, 2, 3]);

test.each([
  ["another list", () => openCursor(SECRET, "jobs acc_2", sealed)],
  ["another secret", () => openCursor("another", "jobs acc_1", sealed)],
  ["nothing", () => openCursor(SECRET, "jobs acc_1", "")],
  ["a word", () => openCursor(SECRET, "jobs acc_1", "next")],
  ["the seal without a place", () => openCursor(SECRET, "jobs acc_1", sealed.slice(0, 16))],
  ["padding behind it", () => openCursor(SECRET, "jobs acc_1", `${sealed}==`)],
  ["a blank behind it", () => openCursor(SECRET, "jobs acc_1", `${sealed} `)],
  ["letters that base64 does not have", () => openCursor(SECRET, "jobs acc_1", `é${sealed}`)],
  ["the other alphabet of base64", () => openCursor(SECRET, "b", toOtherAlphabet())],
])("%s opens nothing", (_case, open) => {
  expect(open()).toBeUndefined();
});

/** The same bytes, spelled with + and / where a cursor has - and _. */
const toOtherAlphabet = (): string => {
  for (let place = 0; ; place++) {
    const cursor = sealCursor(SECRET, "b", place);
    if (/[-_]/.test(cursor)) return cursor.replaceAll("-", "+").replaceAll("_", "/");
  }
};

test("a cursor that was changed anywhere opens nothing", () => {
  const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  for (let at = 0; at < sealed.length; at++)
    for (const letter of letters) {
      if (letter === sealed[at]) continue;
      const changed = sealed.slice(0, at) + letter + sealed.slice(at + 1);
      expect(openCursor(SECRET, "jobs acc_1", changed), `${changed}`).toBeUndefined();
    }
});

test("what it belongs to and what it says cannot be shifted into each other", () => {
  const cursor = sealCursor(SECRET, "jobs acc_1", "23");
  const seal = Buffer.from(cursor, "base64url").subarray(0, 12);
  const shifted = Buffer.concat([seal, Buffer.from('3"')]).toString("base64url");

  expect(openCursor(SECRET, 'jobs acc_1"2', shifted)).toBeUndefined();
});
