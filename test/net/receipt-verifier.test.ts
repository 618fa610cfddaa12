import { sign } from "node:crypto";
import { credits } from "@mailproof/core/money/credits";
import type { World } from "@mailproof/core/ports/world";
import { signClaims } from "@mailproof/core/receipts/create-receipt";
import { encodeClaims, type ReceiptFacts } from "@mailproof/core/receipts/receipt-claims";
import { deriveReceiptKey, listReceiptKeys } from "@mailproof/core/receipts/receipt-keys";
import { createUnprobedResult } from "@mailproof/core/verify/verify";
import { checkReceipt } from "@mailproof/net/receipt-verifier";
import { calculateJwkThumbprint } from "jose";
import { expect, test } from "vitest";
import { given } from "../app/given.ts";

const signReceipt = (world: World, facts: ReceiptFacts): string =>
  signClaims(world, encodeClaims(world, facts));

const NOW = new Date("2026-11-21T10:00:00Z");

const setup = async () => {
  const { world } = await given();
  const facts: ReceiptFacts = {
    id: "job_1",
    account: "acct_1",
    at: NOW,
    mode: "live",
    email: "ann@example.com",
    result: createUnprobedResult(world.engine, "ann@example.com", "timeout"),
    includeEvidence: false,
    cached: false,
    price: credits(1),
    ledgerEntry: "job_1.end.settle",
  };
  return { world, facts, keySet: listReceiptKeys({ ...world, now: () => NOW }) };
};

test("the same facts produce the same receipt, and the verifier returns its claims", async () => {
  const { world, facts, keySet } = await setup();
  const page = { origin: "https://shop.example" };

  const receipt = signReceipt(world, { ...facts, ...page });

  expect(signReceipt(world, { ...facts, ...page })).toBe(receipt);
  expect(await checkReceipt(receipt, keySet)).toMatchObject({
    kind: "signed",
    kid: keySet.keys[0]?.kid,
    claims: { jti: "job_1", iat: NOW.getTime() / 1_000, status: "unknown", credits: 1, ...page },
  });
});

test("a visitor's receipt is valid, although it states no verdict", async () => {
  const { world, facts, keySet } = await setup();

  const checked = await checkReceipt(signReceipt(world, { ...facts, isForVisitor: true }), keySet);

  expect(checked).toMatchObject({ kind: "signed", claims: { class: "go", reason: null } });
  expect(checked).not.toHaveProperty("claims.status");
});

test("the key of the answer's year signs the receipt, and is public a year before", async () => {
  const { world, facts, keySet } = await setup();
  const receipt = signReceipt(world, { ...facts, at: new Date("2027-01-01T00:00:00Z") });
  const old = { keys: keySet.keys.slice(0, 1) };

  expect(await checkReceipt(receipt, keySet)).toMatchObject({ kid: keySet.keys[1]?.kid });
  expect(await checkReceipt(receipt, old)).toEqual({ kind: "refused", fault: "unknown_key" });
});

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

test("the verifier refuses a receipt with one flipped bit anywhere", async () => {
  const { world, facts, keySet } = await setup();
  const receipt = signReceipt(world, facts);
  const accepted: string[] = [];
  let tried = 0;

  for (let at = 0; at < receipt.length; at++) {
    const digit = ALPHABET.indexOf(receipt.charAt(at));
    // Of a dot every bit is one of its code, of any other character one of the six that it stands for.
    const changed =
      digit === -1
        ? Array.from({ length: 8 }, (_, bit) => String.fromCharCode(".".charCodeAt(0) ^ (1 << bit)))
        : Array.from({ length: 6 }, (_, bit) => ALPHABET.charAt(digit ^ (1 << bit)));
    for (const character of changed) {
      const text = `${receipt.slice(0, at)}${character}${receipt.slice(at + 1)}`;
      tried += 1;
      if ((await checkReceipt(text, keySet)).kind === "signed") accepted.push(text);
    }
  }

  expect(tried).toBeGreaterThan(3_000);
  expect(accepted).toEqual([]);
});

test("the verifier refuses a text without a signature, of another algorithm or of another token type", async () => {
  const { world, facts, keySet } = await setup();
  const receipt = signReceipt(world, facts);
  const [, payload = ""] = receipt.split(".");
  const { privateKey, jwk } = deriveReceiptKey(world, 2026);
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const signAs = (header: object, claims = payload, key = privateKey) => {
    const signed = `${encode(header)}.${claims}`;
    return `${signed}.${sign(null, Buffer.from(signed), key).toString("base64url")}`;
  };
  const header = { alg: "EdDSA", typ: "mailproof-receipt+jwt", kid: jwk.kid };
  const check = async (text: string) => (await checkReceipt(text, keySet)).kind;

  expect(await check(signAs(header))).toBe("signed");
  expect(await check(signAs({ ...header, typ: "JWT" }))).toBe("refused");
  expect(await check(signAs({ ...header, alg: "none" }))).toBe("refused");
  expect(await check(signAs({ ...header, alg: "HS256" }))).toBe("refused");
  expect(await check(`${encode({ ...header, alg: "none" })}.${payload}.`)).toBe("refused");
  expect(await check(signAs(header, encode({ jti: "job_1" })))).toBe("refused");
  const other = deriveReceiptKey({ settings: { encryptionKey: "another key" } }, 2026).privateKey;
  expect(await checkReceipt(signAs(header, payload, other), keySet)).toEqual({
    kind: "refused",
    fault: "forged",
  });
  const texts = ["", "x", "a.b", "a.b.c", "a.b.c.d", `${receipt}=`, ` ${receipt}`];
  expect(new Set(await Promise.all(texts.map(check)))).toEqual(new Set(["refused"]));
});

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
