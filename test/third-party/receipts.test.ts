import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkReceipt } from "@mailproof/net/receipt-verifier";
import { createLocalJWKSet, jwtVerify } from "jose";
import { afterAll, beforeAll, expect, test } from "vitest";
import { given } from "../app/given.ts";
import { send, whenVerified } from "../app/send.ts";
import { describeUnless } from "../runner/describe-when.ts";
import { findToolAbsence, getToolFolder } from "./tools.ts";

// Goal: whoever gets a receipt can check it with what they have: a library for Node, one for Python, and OpenSSL.
// Method: a receipt of each status by test keys, and each of these again with one bit changed in a place that is drawn
// by its position; all three and ours say of each whether it is signed.

const EMAILS = [
  "ann@example.com",
  "invalid@example.com",
  "full@example.com",
  "blocked@example.com",
  "catch_all@example.com",
  "ann@disposable.example.com",
  "info@example.com",
  "spam_trap@example.com",
];

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/** The same with the lowest bit of one character changed. That of the last is one to spare, which libraries may ignore. */
const changeAt = (receipt: string, at: number): string => {
  const changed = ALPHABET.charAt(ALPHABET.indexOf(receipt.charAt(at)) ^ 1);
  return `${receipt.slice(0, at)}${changed}${receipt.slice(at + 1)}`;
};

/** In the header, at the start and the end of the claims, and in the signature. */
const listPlaces = (receipt: string): readonly number[] => {
  const [header = "", claims = ""] = receipt.split(".");
  const signatureAt = header.length + claims.length + 2;
  return [10, header.length + 5, signatureAt - 2, signatureAt, receipt.length - 2];
};

type Receipts = { readonly keySet: any; readonly sound: string[]; readonly changed: string[] };

const makeReceipts = async (): Promise<Receipts> => {
  const { world, testKey } = await given();
  const keySet = JSON.parse((await send(world, "GET /.well-known/jwks.json")).text);
  const sound = await Promise.all(
    EMAILS.map(async (email) => {
      const options = { include_receipt: true, include_evidence: true };
      return (await whenVerified(world, testKey, { email, options })).data.receipt as string;
    }),
  );
  const changed = sound.flatMap((one) => listPlaces(one).map((at) => changeAt(one, at)));
  return { keySet, sound, changed };
};

const readPayload = (receipt: string) =>
  JSON.parse(Buffer.from(receipt.split(".")[1] ?? "", "base64url").toString());

let receipts: Receipts;
beforeAll(async () => {
  receipts = await makeReceipts();
});

test("jose takes the receipts, and none with a bit changed", async () => {
  const { keySet, sound, changed } = receipts;
  const keys = createLocalJWKSet(keySet);
  const options = { algorithms: ["EdDSA"], typ: "mailproof-receipt+jwt" };

  for (const one of sound)
    expect((await jwtVerify(one, keys, options)).payload).toEqual(readPayload(one));
  const accepted = changed.map((one) =>
    jwtVerify(one, keys, options).then(
      () => true,
      () => false,
    ),
  );
  expect(await Promise.all(accepted)).not.toContain(true);
  for (const one of sound)
    expect(await checkReceipt(one, keySet)).toMatchObject({ kind: "signed" });
  expect(sound).toHaveLength(EMAILS.length);
  expect(changed).toHaveLength(EMAILS.length * 5);
});

describeUnless(findToolAbsence("joserfc"), "receipts beside joserfc", () => {
  test("joserfc takes the receipts, and none with a bit changed", () => {
    const { keySet, sound, changed } = receipts;

    const { status, stdout, stderr } = spawnSync(
      join(getToolFolder("joserfc"), "bin/python"),
      // It warns that RFC 9864 would have EdDSA called Ed25519, which older libraries do not know.
      ["-W", "ignore", join(import.meta.dirname, "tools/joserfc/run.py")],
      { input: [JSON.stringify(keySet), ...sound, ...changed, ""].join("\n"), encoding: "utf8" },
    );

    expect([status, stderr]).toEqual([0, ""]);
    const answers = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(answers.slice(0, sound.length)).toEqual(
      sound.map((one) => ({ typ: "mailproof-receipt+jwt", claims: readPayload(one) })),
    );
    const others = answers.slice(sound.length);
    expect(others).toHaveLength(changed.length);
    expect(others.filter(({ error }) => error === undefined)).toEqual([]);
  });
});

/** What stands before a public key of Ed25519 in SubjectPublicKeyInfo (RFC 8410 §4). */
const SPKI_HEAD = Buffer.from("302a300506032b6570032100", "hex");

const VERIFY =
  "pkeyutl -verify -pubin -keyform DER -inkey key -rawin -in signed -sigfile signature";

const findOpensslAbsence = (): string | null =>
  spawnSync("openssl", ["version"]).status === 0 ? null : "this machine has no openssl";

describeUnless(findOpensslAbsence(), "receipts beside OpenSSL", () => {
  const folder = mkdtempSync(join(tmpdir(), "mailproof-receipts-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const isSigned = (receipt: string): boolean => {
    const at = receipt.lastIndexOf(".");
    const [{ x }] = receipts.keySet.keys;
    const files = {
      key: Buffer.concat([SPKI_HEAD, Buffer.from(x, "base64url")]),
      signed: receipt.slice(0, at),
      signature: Buffer.from(receipt.slice(at + 1), "base64url"),
    };
    for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
    const { status, stdout } = spawnSync("openssl", VERIFY.split(" "), {
      cwd: folder,
      encoding: "utf8",
    });
    return status === 0 && stdout.includes("Signature Verified Successfully");
  };

  test("openssl takes the receipts by the x of the key that they name, and none with a bit changed", () => {
    const { keySet, sound, changed } = receipts;
    const named = sound.map((one) =>
      JSON.parse(Buffer.from(one.split(".")[0] ?? "", "base64url").toString()),
    );

    expect(new Set(named.map(({ kid }) => kid))).toEqual(new Set([keySet.keys[0].kid]));
    expect(sound.map(isSigned)).toEqual(sound.map(() => true));
    expect(changed.filter(isSigned)).toEqual([]);
  });
});
