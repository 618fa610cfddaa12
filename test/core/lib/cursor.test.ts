import { signCursor, verifyCursor } from "@mailproof/core/lib/cursor";
import fc from "fast-check";
import { expect, test } from "vitest";

const SECRET = "a secret";

test("a signed position is read back from its cursor, whatever it is", () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), fc.jsonValue(), (secret, bound, position) => {
      const decoded = JSON.parse(JSON.stringify(position));
      expect(verifyCursor(secret, bound, signCursor(secret, bound, decoded))).toEqual(decoded);
    }),
  );
});

test("a cursor is a word that needs no escaping in an address", () => {
  expect(signCursor(SECRET, "jobs acc_1", ["ключ", ">>>???", 0])).toMatch(/^[\w-]+$/);
});

const signed = signCursor(SECRET, "jobs acc_1", [1, 2, 3]);

test.each([
  ["another list", () => verifyCursor(SECRET, "jobs acc_2", signed)],
  ["another secret", () => verifyCursor("another", "jobs acc_1", signed)],
  ["nothing", () => verifyCursor(SECRET, "jobs acc_1", "")],
  ["a word", () => verifyCursor(SECRET, "jobs acc_1", "next")],
  [
    "the signature without a position",
    () => verifyCursor(SECRET, "jobs acc_1", signed.slice(0, 16)),
  ],
  ["padding behind it", () => verifyCursor(SECRET, "jobs acc_1", `${signed}==`)],
  ["a blank behind it", () => verifyCursor(SECRET, "jobs acc_1", `${signed} `)],
  ["letters that base64 does not have", () => verifyCursor(SECRET, "jobs acc_1", `é${signed}`)],
  ["the other alphabet of base64", () => verifyCursor(SECRET, "b", toOtherAlphabet())],
])("%s opens nothing", (_case, open) => {
  expect(open()).toBeUndefined();
});

/** The same bytes, spelled with + and / where a cursor has - and _. */
const toOtherAlphabet = (): string => {
  for (let position = 0; ; position++) {
    const cursor = signCursor(SECRET, "b", position);
    if (/[-_]/.test(cursor)) return cursor.replaceAll("-", "+").replaceAll("_", "/");
  }
};

test("a cursor that was changed anywhere opens nothing", () => {
  const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  for (let at = 0; at < signed.length; at++)
    for (const letter of letters) {
      if (letter === signed[at]) continue;
      const changed = signed.slice(0, at) + letter + signed.slice(at + 1);
      expect(verifyCursor(SECRET, "jobs acc_1", changed), `${changed}`).toBeUndefined();
    }
});

test("what it belongs to and what it says cannot be shifted into each other", () => {
  const cursor = signCursor(SECRET, "jobs acc_1", "23");
  const signature = Buffer.from(cursor, "base64url").subarray(0, 12);
  const shifted = Buffer.concat([signature, Buffer.from('3"')]).toString("base64url");

  expect(verifyCursor(SECRET, 'jobs acc_1"2', shifted)).toBeUndefined();
});
