import { generateKeyPairSync } from "node:crypto";

/** A key whose private half is thrown away, as p= has it. */
const rsa = (modulusLength: number, type: "spki" | "pkcs1" = "spki"): string =>
  generateKeyPairSync("rsa", { modulusLength })
    .publicKey.export({ type, format: "der" })
    .toString("base64");

export const RSA_512 = rsa(512);
export const RSA_1024 = rsa(1024);
export const RSA_2048 = rsa(2048);
export const RSA_2048_PKCS1 = rsa(2048, "pkcs1");

const ED25519_SPKI = generateKeyPairSync("ed25519").publicKey.export({
  type: "spki",
  format: "der",
});
/** The 32 bytes of the key come last. */
export const ED25519 = ED25519_SPKI.subarray(-32).toString("base64");
export const ED25519_WRAPPED = ED25519_SPKI.toString("base64");
