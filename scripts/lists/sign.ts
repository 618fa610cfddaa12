// npx node scripts/lists/sign.ts FILE signs the lists of this tree with the private key in FILE, and writes the signature into
// the source. A build then needs no key. docs/lists.md has the steps before.
//
// npx node scripts/lists/sign.ts --new-key FILE makes a pair of keys: the private key goes into FILE, which must be outside of
// the repository, and the public key into the source. A release with the new public key refuses editions that the former
// key signed.
import { createPrivateKey, createPublicKey, generateKeyPairSync, sign } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import { LISTS_PUBLIC_KEY } from "../../packages/mail/src/lists/public-key.ts";
import { formatShippedLists } from "../../packages/mail/src/lists/shipped-edition.ts";

const PUBLIC_KEY = "packages/mail/src/lists/public-key.ts";
const SIGNATURE = "packages/mail/src/lists/signature.ts";

const makeKey = (file: string): void => {
  if (!relative(process.cwd(), resolve(file)).startsWith(".."))
    throw new Error(`${file} is inside of the repository. The private key must never be in it.`);
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  // The flag refuses an existing file, so an older key is never lost.
  writeFileSync(file, privateKey.export({ format: "pem", type: "pkcs8" }), {
    flag: "wx",
    mode: 0o600,
  });
  const key = publicKey.export({ format: "der", type: "spki" }).toString("base64");
  writeFileSync(
    PUBLIC_KEY,
    `/** The Ed25519 key (SPKI in base64) that signs editions of the lists. Its private key is the maintainers' own (docs/lists.md). */
export const LISTS_PUBLIC_KEY = "${key}";
`,
  );
  console.log(`The private key is in ${file}, the public key in ${PUBLIC_KEY}.`);
};

const signLists = (file: string): void => {
  const key = createPrivateKey(readFileSync(file, "utf8"));
  const publicKey = createPublicKey(key).export({ format: "der", type: "spki" }).toString("base64");
  if (publicKey !== LISTS_PUBLIC_KEY)
    throw new Error(`${file} is not the private key of the public key in the source.`);
  // Ed25519 has one signature for a key and a text (RFC 8032).
  const signature = sign(null, Buffer.from(formatShippedLists(), "latin1"), key).toString("base64");
  writeFileSync(
    SIGNATURE,
    `// Written by scripts/lists/sign.ts.

/** The signature of the shipped edition, by the key of public-key.ts. */
export const EDITION_SIGNATURE =
  "${signature}";
`,
  );
  console.log(`The signature is in ${SIGNATURE}.`);
};

const { values, positionals } = parseArgs({
  options: { "new-key": { type: "string" } },
  allowPositionals: true,
});
const [file] = positionals;
if (values["new-key"] !== undefined) makeKey(values["new-key"]);
else if (file !== undefined) signLists(file);
else throw new Error("Name the file of the private key.");
