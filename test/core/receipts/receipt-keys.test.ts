import { listReceiptKeys } from "@mailproof/core/receipts/receipt-keys";
import { calculateJwkThumbprint } from "jose";
import { expect, test } from "vitest";
import { given } from "../../app/given.ts";

const listIn = async (day: string, encryptionKey = "a sealing key for tests") => {
  const { world } = await given();
  const settings = { ...world.settings, encryptionKey };
  return listReceiptKeys({ settings, now: () => new Date(day) }).keys;
};

const idsIn = async (day: string) => (await listIn(day)).map(({ kid }) => kid.slice(0, 4));

test("a year's receipt key is public from a year before it signs", async () => {
  expect(await idsIn("2026-01-01T00:00:00Z")).toEqual(["2026", "2027"]);
  expect(await idsIn("2026-12-31T23:59:59Z")).toEqual(["2026", "2027"]);
  expect(await idsIn("2029-06-01T00:00:00Z")).toEqual(["2026", "2027", "2028", "2029", "2030"]);
});

test("one setting always derives the same receipt keys, and another setting derives different keys", async () => {
  const now = await listIn("2026-06-01T00:00:00Z");
  const later = await listIn("2028-06-01T00:00:00Z");
  const others = await listIn("2028-06-01T00:00:00Z", "another sealing key");

  expect(later.slice(0, 2)).toEqual(now);
  const all = [...later, ...others];
  expect(new Set(all.map(({ x }) => x)).size).toBe(8);
  expect(new Set(all.map(({ kid }) => kid)).size).toBe(8);
});

test("the id of a receipt key contains the start of its RFC 7638 thumbprint", async () => {
  const [key] = await listIn("2026-06-01T00:00:00Z");
  if (!key) throw new Error("There is no key.");
  const thumbprint = await calculateJwkThumbprint(key);

  expect(key.kid).toBe(`2026-${thumbprint.slice(0, 8)}`);
  expect(key).toEqual({
    kty: "OKP",
    crv: "Ed25519",
    alg: "EdDSA",
    use: "sig",
    x: expect.stringMatching(/^[\w-]{43}$/),
    kid: key.kid,
  });
});

test("the receipt key of a year is equal in every release, so that old receipts stay valid", async () => {
  const [key] = await listIn("2026-06-01T00:00:00Z");

  // By `openssl kdf` (HKDF) and `openssl pkey`.
  expect(key).toMatchObject({
    x: "7iCzr1pjQvNL7-iaJ7TfbF7WrL5OK-vc8dmghXQUx4k",
    kid: "2026-OQWcu8bT",
  });
});
