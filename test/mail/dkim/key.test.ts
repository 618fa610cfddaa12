import { parseDkimKey } from "@mailproof/mail/dkim/key";
import { expect, test } from "vitest";
import { ED25519, ED25519_WRAPPED, RSA_512, RSA_1024, RSA_2048, RSA_2048_PKCS1 } from "./keys.ts";

test.each([
  ["a key of 2048 bits", `v=DKIM1; k=rsa; p=${RSA_2048}`, { kind: "rsa", bits: 2048 }],
  ["a key of 1024 bits", `v=DKIM1; p=${RSA_1024}`, { kind: "rsa", bits: 1024 }],
  ["a key of 512 bits", `v=DKIM1; p=${RSA_512}`, { kind: "rsa", bits: 512 }],
  ["the form that RFC 6376 describes", `v=DKIM1; p=${RSA_2048_PKCS1}`, { kind: "rsa", bits: 2048 }],
  ["a key without a version", `k=rsa; p=${RSA_2048}`, { kind: "rsa" }],
  ["a key whose type is in capitals", `v=DKIM1; k=RSA; p=${RSA_2048}`, { kind: "rsa" }],
  [
    "white space within the key and round the tags",
    ` v = DKIM1 ;\tk=rsa;\r\n p=${RSA_2048.replaceAll(/(.{70})/g, "$1 ")};`,
    { kind: "rsa", bits: 2048 },
  ],
  ["a key without its padding", `v=DKIM1; p=${RSA_2048.replace(/=+$/, "")}`, { kind: "rsa" }],
  ["an Ed25519 key", `v=DKIM1; k=ed25519; p=${ED25519}`, { kind: "ed25519", bits: null }],
  ["a revoked key", "v=DKIM1; p=", { kind: "revoked" }],
  ["a revoked key without a semicolon to its end", "v=DKIM1;p= ", { kind: "revoked" }],

  ["an Ed25519 key in ASN.1", `k=ed25519; p=${ED25519_WRAPPED}`, { kind: "broken" }],
  ["an Ed25519 key that is called RSA", `k=rsa; p=${ED25519_WRAPPED}`, { kind: "broken" }],
  ["a key of an unknown kind", `v=DKIM1; k=dsa; p=${RSA_2048}`, { kind: "broken" }],
  ["a key that is no base64", "v=DKIM1; p=YOUR-KEY-HERE!", { kind: "broken" }],
  ["base64 that is no key", "v=DKIM1; p=aGVsbG8gd29ybGQ=", { kind: "broken" }],
  ["a key that was cut off", `v=DKIM1; p=${RSA_2048.slice(0, 255)}`, { kind: "broken" }],
  ["no p=", "v=DKIM1; k=rsa", { kind: "broken" }],
  ["another version", `v=DKIM2; p=${RSA_2048}`, { kind: "broken" }],
  ["a version in small letters", `v=dkim1; p=${RSA_2048}`, { kind: "broken" }],
  ["a version that is not first", `k=rsa; v=DKIM1; p=${RSA_2048}`, { kind: "broken" }],
  ["a tag that stands twice", `v=DKIM1; p=${RSA_2048}; p=${RSA_1024}`, { kind: "broken" }],
  ["a part that is no tag", `v=DKIM1; rsa; p=${RSA_2048}`, { kind: "broken" }],

  ["a key in test mode", `v=DKIM1; t=y; p=${RSA_2048}`, { isTesting: true }],
  ["a key in test mode among other flags", `v=DKIM1; t=s : y; p=${RSA_2048}`, { isTesting: true }],
  ["a key for this domain only", `v=DKIM1; t=s; p=${RSA_2048}`, { isTesting: false }],
  ["a key for sha1 only", `v=DKIM1; h=sha1; p=${RSA_2048}`, { allowsSha256: false }],
  ["a key for both hashes", `v=DKIM1; h=sha1:sha256; p=${RSA_2048}`, { allowsSha256: true }],
  ["a key for mail", `v=DKIM1; s=email; p=${RSA_2048}`, { isForMail: true }],
  ["a key for everything", `v=DKIM1; s=*; p=${RSA_2048}`, { isForMail: true }],
  ["a key for another service", `v=DKIM1; s=tlsrpt; p=${RSA_2048}`, { isForMail: false }],
  ["a key with a note and an unknown tag", `v=DKIM1; n=hi; x=y; p=${RSA_2048}`, { kind: "rsa" }],
])("%s", (_, text, key) => {
  expect(parseDkimKey(text)).toMatchObject(key);
});

test.each(["", "v=spf1 -all", "google-site-verification=abc", "hello; world", "v=DMARC1; p=none"])(
  "%j is no key",
  (text) => {
    expect(parseDkimKey(text)).toBeUndefined();
  },
);
