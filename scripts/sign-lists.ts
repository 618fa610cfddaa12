// npx node scripts/sign-lists.ts FILE signs the lists of this tree with the private key in FILE, and writes the signature into
// the source. A build then needs no key. docs/lists.md has the steps before.
import { createPrivateKey, createPublicKey, sign } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { LISTS_PUBLIC_KEY } from "../packages/mail/src/lists/public-key.ts";
import { formatShippedLists } from "../packages/mail/src/lists/shipped-edition.ts";

const SOURCE = "packages/mail/src/lists/signature.ts";

const [, , file] = process.argv;
if (!file) throw new Error("With the key in which file?");
const key = createPrivateKey(readFileSync(file, "utf8"));
const publicKey = createPublicKey(key).export({ format: "der", type: "spki" }).toString("base64");
if (publicKey !== LISTS_PUBLIC_KEY)
  throw new Error(`${file} is not the private key of the public key in the source.`);

// Ed25519 has one signature for a key and a text (RFC 8032).
const signature = sign(null, Buffer.from(formatShippedLists(), "latin1"), key).toString("base64");
writeFileSync(
  SOURCE,
  `// Written by scripts/sign-lists.ts.

/** The signature of the shipped edition, by the key of public-key.ts. */
export const EDITION_SIGNATURE =
  "${signature}";
`,
);
console.log(`The signature is in ${SOURCE}.`);
