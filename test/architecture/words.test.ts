import { existsSync, globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { findOldWords } from "./old-words.ts";
import { OLD_WORDS } from "./words.ts";

/** Generated, or lists of words and names. */
const LISTS =
  /^packages\/(?:client\/src\/(?:types|operations)|api\/src\/openapi\/examples|mail\/src\/(?:lists\/data\/|signals\/name-words)|lab\/src\/companies)|\/generated\/|node_modules/;

/** Files in which an old word is another thing, each with its reason. */
const EXEMPT: readonly string[] = [
  // Lists of role words, and ids and fields of the contract: `says`, `DMARC_WRONG_PLACE`, `nobody_there`.
  "packages/mail/src/lists/roles.ts",
  "packages/mail/src/dmarc/rules.ts",
  "packages/mail/src/smtp/reply-rules/mailbox.ts",
  // Names of domains: law.com, weather.com.
  "docs/lists.md",
  "test/mail/lists/ordinary-domains.ts",
  // What mail servers write: `said`.
  "packages/mail/src/smtp/reply-rules/quotes.ts",
  "packages/mail/src/blocklists/analyse.ts",
  "packages/mail/src/blocklists/lists.ts",
  // `nobody` is a name in lists and addresses.
  "test/local/service-commands.test.ts",
  "test/local/wrong-usages.test.ts",
  // The list of the old words, and this page of exceptions to it.
  "test/architecture/words.ts",
  "test/architecture/words.test.ts",
];

const files = globSync([
  "packages/*/src/**/*.{ts,tsx}",
  "infra/**/*.ts",
  "bench/**/*.ts",
  "scripts/*.{ts,mjs,sh}",
  "test/**/*.ts",
  ".ci/run",
  "docs/**/*.md",
  "README.md",
  "SECURITY.md",
  "CONTRIBUTING.md",
]).filter((file) => !LISTS.test(file) && file !== "docs/glossary.md");

test("no old word is in a name, a comment, a text or a page", () => {
  const read = files.filter((file) => !EXEMPT.some((room) => file.startsWith(room)));

  expect(read.flatMap(findOldWords)).toEqual([]);
  expect(EXEMPT.filter((room) => !existsSync(room))).toEqual([]);
});

test("each old word would be found, and the word that replaced it would not", () => {
  for (const { word } of OLD_WORDS) expect(word.global).toBe(false);
  expect(OLD_WORDS.length).toBeGreaterThan(25);
});

test("every word of the glossary occurs in the code", () => {
  const page = readFileSync("docs/glossary.md", "utf8");
  const words = [...page.matchAll(/^\| ([^|]+) \|/gm)]
    .flatMap(([, cell = ""]) => cell.split(","))
    .map((word) => word.trim())
    .filter((word) => word !== "word" && !word.startsWith("-"));
  const code = globSync(["packages/*/src/**/*.ts", "test/simulation/*.ts"])
    .map((file) => readFileSync(file, "utf8"))
    .join("\n")
    .replaceAll(/([a-z\d])([A-Z])/g, "$1 $2")
    .replaceAll(/[-_]/g, " ")
    .toLowerCase();
  const absent = words.filter((word) => !code.includes(word.toLowerCase().replaceAll("-", " ")));

  expect(words.length).toBeGreaterThan(40);
  expect(absent).toEqual([]);
});
