import { createPrivateKey, sign } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { formatEdition, LIST_NAMES } from "../../packages/mail/src/lists/edition-file.ts";
import { readDomains } from "../../packages/mail/src/lists/pack.ts";
import { WHOLE_EDITION } from "../../packages/mail/src/lists/whole-edition.ts";

/** A PEM file with the private key, outside of the repository. Without it the lists are not signed. */
const { LISTS_SIGNING_KEY_FILE: keyFile } = process.env;

/** The lists of this tree as one file. The same tree and the same key give the same bytes. */
export const createEditionFile = (privateKey: string | undefined): string => {
  const { version, lists } = WHOLE_EDITION;
  const body = formatEdition(
    version,
    LIST_NAMES.map((name) => {
      const { list, source, version: of, entries, sha256 } = lists[name];
      return { list, source, version: of, entries, sha256, domains: readDomains(lists[name]) };
    }),
  );
  return privateKey === undefined ? body : body + signEdition(body, privateKey);
};

/** The last line: Ed25519 has one signature for a key and a text (RFC 8032). */
const signEdition = (body: string, privateKey: string): string =>
  `${sign(null, Buffer.from(body, "latin1"), createPrivateKey(privateKey)).toString("base64")}\n`;

/** Returns the name of the file. */
export const writeEdition = (folder: string): string => {
  const key = keyFile === undefined ? undefined : readFileSync(keyFile, "utf8");
  const name = `mailproof-lists-${WHOLE_EDITION.version}${key === undefined ? "-unsigned" : ""}.txt`;
  writeFileSync(join(folder, name), createEditionFile(key), "latin1");
  return name;
};
