import { isDeepStrictEqual } from "node:util";
import { toContentDisposition } from "@mailproof/core/lib/content-disposition";
import { signCursor, verifyCursor } from "@mailproof/core/lib/cursor";
import { fingerprint } from "@mailproof/core/lib/fingerprint";
import { redact } from "@mailproof/core/lib/redact";
import { decryptSecret, encryptSecret } from "@mailproof/core/lib/secret-box";
import fc from "fast-check";
import { expect, test } from "vitest";
import { givenWorld } from "../../app/given.ts";
import { asRows } from "../../runner/as-rows.ts";

const toSettings = (cursorSecret: string, cursorSecretBefore: string | null = null) => ({
  cursorSecret,
  cursorSecretBefore,
});

const SECRET = toSettings("a secret");

test("a cursor returns its signed position for any value", () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), fc.jsonValue(), (secret, bound, position) => {
      const decoded = JSON.parse(JSON.stringify(position));
      const settings = toSettings(secret);
      expect(verifyCursor(settings, bound, signCursor(settings, bound, decoded))).toEqual(decoded);
    }),
  );
});

test("a cursor needs no escaping in a URL", () => {
  expect(signCursor(SECRET, "jobs acc_1", ["ключ", ">>>???", 0])).toMatch(/^[\w-]+$/);
});

const signed = signCursor(SECRET, "jobs acc_1", [1, 2, 3]);

test.each(asRows`
  another list | ${() => verifyCursor(SECRET, "jobs acc_2", signed)}
  another secret | ${() => verifyCursor(toSettings("another"), "jobs acc_1", signed)}
  an empty cursor | ${() => verifyCursor(SECRET, "jobs acc_1", "")}
  a word | ${() => verifyCursor(SECRET, "jobs acc_1", "next")}
  the signature without a position | ${() => verifyCursor(SECRET, "jobs acc_1", signed.slice(0, 16))}
  padding behind it | ${() => verifyCursor(SECRET, "jobs acc_1", `${signed}==`)}
  a blank behind it | ${() => verifyCursor(SECRET, "jobs acc_1", `${signed} `)}
  letters that base64 does not have | ${() => verifyCursor(SECRET, "jobs acc_1", `é${signed}`)}
  the other alphabet of base64 | ${() => verifyCursor(SECRET, "b", toOtherAlphabet())}
`)("the verification of a cursor fails for %s", (_case, open) => {
  expect(open()).toBeUndefined();
});

/** The same bytes, spelled with + and / where a cursor has - and _. */
const toOtherAlphabet = (): string => {
  for (let position = 0; ; position++) {
    const cursor = signCursor(SECRET, "b", position);
    if (/[-_]/.test(cursor)) return cursor.replaceAll("-", "+").replaceAll("_", "/");
  }
};

test("a cursor that was changed anywhere fails verification", () => {
  const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  for (let at = 0; at < signed.length; at++)
    for (const letter of letters) {
      if (letter === signed[at]) continue;
      const changed = signed.slice(0, at) + letter + signed.slice(at + 1);
      expect(verifyCursor(SECRET, "jobs acc_1", changed), `${changed}`).toBeUndefined();
    }
});

test("a cursor separates its owner from its position, so that neither can pose as the other", () => {
  const cursor = signCursor(SECRET, "jobs acc_1", "23");
  const signature = Buffer.from(cursor, "base64url").subarray(0, 12);
  const shifted = Buffer.concat([signature, Buffer.from('3"')]).toString("base64url");

  expect(verifyCursor(SECRET, 'jobs acc_1"2', shifted)).toBeUndefined();
});

test("only its owner can decrypt an encrypted secret, which does not contain the plain text", () => {
  const { world } = givenWorld();

  const encrypted = encryptSecret(world, "acc_1", "whsec_geheim");

  expect(decryptSecret(world, "acc_1", encrypted)).toBe("whsec_geheim");
  expect(Buffer.from(encrypted, "base64url").toString("latin1")).not.toContain("geheim");
});

test("two encryptions of one secret always differ", () => {
  const { world } = givenWorld();

  expect(encryptSecret(world, "acc_1", "s")).not.toBe(encryptSecret(world, "acc_1", "s"));
});

test("the decryption of a secret fails for another owner and with another key", () => {
  const { world } = givenWorld();
  const encrypted = encryptSecret(world, "acc_1", "secret");
  const settings = { ...world.settings, encryptionKey: "another key of the operator" };

  expect(decryptSecret(world, "acc_2", encrypted)).toBeUndefined();
  expect(decryptSecret({ settings }, "acc_1", encrypted)).toBeUndefined();
});

test("the decryption of a secret fails after a change of one bit, and after a cut", () => {
  const { world } = givenWorld();
  const bytes = Buffer.from(encryptSecret(world, "acc_1", "secret"), "base64url");

  for (let at = 0; at < bytes.length; at++) {
    const changed = Buffer.from(bytes);
    changed.writeUInt8(changed.readUInt8(at) ^ 1, at);
    expect(
      decryptSecret(world, "acc_1", changed.toString("base64url")),
      `byte ${at}`,
    ).toBeUndefined();
    const cut = bytes.subarray(0, at).toString("base64url");
    expect(decryptSecret(world, "acc_1", cut), `${at} bytes`).toBeUndefined();
  }
});

test.each([
  ["the order of fields", { a: 1, b: { c: 2, d: 3 } }, { b: { d: 3, c: 2 }, a: 1 }],
  ["a field that is undefined", { a: 1, b: undefined }, { a: 1 }],
  ["the spelling of a number", { a: 1.0 }, { a: 1 }],
])("fingerprint ignores %s", (_case, one, other) => {
  expect(fingerprint(one)).toBe(fingerprint(other));
});

test.each<[string, Parameters<typeof fingerprint>[0], Parameters<typeof fingerprint>[0]]>([
  ["the order of a list", [1, 2], [2, 1]],
  ["a word and a number", { a: "1" }, { a: 1 }],
  ["null and nothing", { a: null }, {}],
  ["a list and its element", [["a"]], ["a"]],
  ["an empty list and an empty object", [], {}],
  ["the place of a field", { a: { b: 1 }, c: 2 }, { a: { b: 1, c: 2 } }],
  ["letter case", "a", "A"],
  ["a quote in a name", { 'a":1,"b': 2 }, { a: 1, b: 2 }],
  ["the end of a word", ["a,b"], ["a", "b"]],
])("fingerprint distinguishes values by %s", (_case, one, other) => {
  expect(fingerprint(one)).not.toBe(fingerprint(other));
});

test("values have the same fingerprint exactly when they are equal", () => {
  const value = fc.jsonValue({ maxDepth: 2 }).map((one) => JSON.parse(JSON.stringify(one)));
  fc.assert(
    fc.property(value, value, (one, other) => {
      const prints = [fingerprint(one), fingerprint(other)];
      expect(new Set(prints).size).toBe(isDeepStrictEqual(one, other) ? 1 : 2);
      expect(fingerprint(structuredClone(one))).toBe(fingerprint(one));
    }),
  );
});

test("a fingerprint is short, reveals nothing of its value, and fits a key", () => {
  const print = fingerprint({
    email: "ann@example.com",
    list: Array.from({ length: 9_999 }, () => 1),
  });

  expect(print).toMatch(/^[\w-]{43}$/);
});

const KEY = "mp_live_4gdBlMBzgKh5AYrHyhuzHd12XFan";

test.each(asRows`
  an address | ann.lee+x@example.com | ann.lee
  an address in a sentence | 550 <ann@example.com>: unknown | ann@
  an address with a quoted part | "ann lee"@example.com | example.com
  an address in a link | GET /v1/activity/ann%40example.com | ann%40
  an address in another script | анна@пример.рф | анна
  a key | ${KEY} | 4gdBl
  a key in a header | ${`X-Api-Key: ${KEY}`} | 4gdBl
  an access token | Bearer eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJhbm4ifQ.c2lnbmVk | c2lnbmVk
  an access token without its end | got eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJhbm4ifQ and no more | zdWIi
  a signing secret | whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD | b5sSY
  a signed link | http://127.0.0.1/blobs/a?until=1&signature=c2VjcmV0 | c2VjcmV0
  an AWS link | https://s3/x?X-Amz-Credential=AKIA1&X-Amz-Signature=abcd | AKIA1
`)("the log omits %s", (_, text, secret) => {
  expect(redact(text)).not.toContain(secret);
});

test("the log hashes an address without regard to case, so that a reader can match lines", () => {
  expect(redact("to Ann@Example.com")).toBe(redact("to ann@example.COM"));
  expect(redact("to ann@example.com")).not.toBe(redact("to bo@example.com"));
});

test("the redaction covers lists, objects, their names and errors", () => {
  const redacted = JSON.stringify(
    redact({
      deep: [{ "ann@example.com": 1, cause: new Error("no ann@example.com") }],
      n: 5,
      none: null,
    }),
  );

  expect(redacted).not.toContain("ann@");
  expect(redacted).toContain('"n":5,"none":null');
});

test("the redaction keeps ordinary words", () => {
  const line = { event: "failure", requestId: "req_1", code: "INTERNAL", path: "/v1/jobs/job_1" };

  expect(redact(line)).toEqual(line);
});

test("the redaction keeps a long line without an address", () => {
  const line = "a".repeat(1_000_000);

  expect(redact(line)).toBe(line);
});

test.each(asRows`
  list.csv | ${`attachment; filename="list.csv"; filename*=UTF-8''list.csv`}
  a"b.csv | ${`attachment; filename="a_b.csv"; filename*=UTF-8''a%22b.csv`}
  ${"a\r\nset-cookie: x.csv"} | ${`attachment; filename="a__set-cookie_ x.csv"; filename*=UTF-8''a%0D%0Aset-cookie%3A%20x.csv`}
  прайс (1).csv | ${`attachment; filename="_____ _1_.csv"; filename*=UTF-8''%D0%BF%D1%80%D0%B0%D0%B9%D1%81%20%281%29.csv`}
  ${"half \ud800"} | ${`attachment; filename="half _"; filename*=UTF-8''half%20%EF%BF%BD`}
`)("a browser saves %j under its name, and the name ends no header", (fileName, header) => {
  expect(toContentDisposition(fileName)).toBe(header);
});
