import { randomBytes } from "node:crypto";
import {
  generateKey,
  hashKey,
  isWellFormedKey,
  toKeyHint,
} from "@mailproof/core/accounts/key-format";
import fc from "fast-check";
import { expect, test } from "vitest";

test.each(["live", "test"] as const)("a %s key says what it is, and its form is right", (mode) => {
  const key = generateKey(mode, randomBytes);

  expect(key).toMatch(new RegExp(`^mp_${mode}_[0-9A-Za-z]{28}$`));
  expect(isWellFormedKey(key)).toBe(true);
});

test("keys of the smallest and the largest random values have the same length", () => {
  const [least, most] = [0, 255].map((byte) =>
    generateKey("live", (count) => new Uint8Array(count).fill(byte)),
  );

  expect(least).toHaveLength(36);
  expect(most).toHaveLength(36);
  expect(isWellFormedKey(least ?? "") && isWellFormedKey(most ?? "")).toBe(true);
});

test("the checksum detects one wrong, missing, added or swapped letter", () => {
  const key = generateKey("live", randomBytes);
  fc.assert(
    fc.property(
      fc.nat(key.length - 2),
      fc.constantFrom("0", "9", "A", "Z", "a", "z"),
      (at, letter) => {
        const [before, here, next, after] = [
          key.slice(0, at),
          key[at],
          key[at + 1],
          key.slice(at + 2),
        ];
        const mistakes = [
          before + letter + next + after,
          before + next + after,
          before + letter + here + next + after,
          before + next + here + after,
        ].filter((mistake) => mistake !== key);
        for (const mistake of mistakes) expect(isWellFormedKey(mistake)).toBe(false);
      },
    ),
  );
});

test("a live key with the prefix of a test key has an invalid form", () => {
  expect(isWellFormedKey(generateKey("live", randomBytes).replace("live", "test"))).toBe(false);
});

test("the hash depends on the key and on the pepper", () => {
  const hashes = ["k1 p1", "k1 p2", "k2 p1"].map((pair) =>
    hashKey(...(pair.split(" ") as [string, string])),
  );

  expect(new Set(hashes).size).toBe(3);
  expect(hashKey("k1", "p1")).toBe(hashes[0]);
});

test("the hint shows the kind and four letters, and no more", () => {
  expect(toKeyHint("mp_live_abcdefghijklmnopqrstuvwxyz12")).toBe("mp_live_…yz12");
});
