// npx node scripts/new-lists-key.ts FILE makes the pair of keys that signs editions of the lists: the private key into FILE,
// which must be outside of the repository, and the public key into the source. A release with the new public key refuses
// editions that the former key signed.
import { generateKeyPairSync } from "node:crypto";
import { writeFileSync } from "node:fs";
import { relative, resolve } from "node:path";

const SOURCE = "packages/mail/src/lists/public-key.ts";

const [, , file] = process.argv;
if (!file) throw new Error("Into which file?");
if (!relative(process.cwd(), resolve(file)).startsWith(".."))
  throw new Error(`${file} is inside of the repository. The private key must never be in it.`);

const { privateKey, publicKey } = generateKeyPairSync("ed25519");
// It fails where there is a file: an older key is never lost.
writeFileSync(file, privateKey.export({ format: "pem", type: "pkcs8" }), {
  flag: "wx",
  mode: 0o600,
});
const key = publicKey.export({ format: "der", type: "spki" }).toString("base64");
writeFileSync(
  SOURCE,
  `/** The Ed25519 key (SPKI in base64) that signs editions of the lists. Its private key is the maintainers' own (docs/lists.md). */
export const LISTS_PUBLIC_KEY = "${key}";
`,
);
console.log(`The private key is in ${file}, the public key in ${SOURCE}.`);
