// Writes packages/core/src/find/spelling/pinyin.ts again: node scripts/made/pinyin.mjs. Needs uconv of ICU (Debian: icu-devtools),
// whose Han-Latin transform has the readings of the Unicode CLDR.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";

const FILE = "packages/core/src/find/spelling/pinyin.ts";
const COLUMNS = 118;

/** All characters that an encoding of two bytes has between two lead bytes. */
const listCharacters = (encoding, from, to) => {
  const decoder = new TextDecoder(encoding);
  const bytes = (first, last) => Array.from({ length: last - first + 1 }, (_, at) => first + at);
  return bytes(from, to).flatMap((lead) =>
    [...bytes(0x40, 0x7e), ...bytes(0xa1, 0xfe)].map((trail) =>
      decoder.decode(Uint8Array.of(lead, trail)),
    ),
  );
};

// GB 2312 is rows B0 to F7 of its successor with trail bytes from A1; Big5 has the common characters in A4 to C6.
const simplified = listCharacters("gb18030", 0xb0, 0xf7).filter((_, at) => at % 157 >= 63);
const traditional = listCharacters("big5", 0xa4, 0xc6);
const characters = [...new Set([...simplified, ...traditional])]
  .filter((one) => /^[\u4e00-\u9fff]$/.test(one))
  .toSorted();

const readings = execFileSync("uconv", ["-x", "Han-Latin", "-f", "utf8", "-t", "utf8"], {
  input: characters.join("\n"),
})
  .toString()
  .split("\n");

const bySyllable = new Map();
for (const [at, character] of characters.entries()) {
  const syllable = (readings[at] ?? "")
    .trim()
    .normalize("NFD")
    .replaceAll("u\u0308", "v")
    .replaceAll(/\p{M}/gu, "");
  bySyllable.set(syllable, (bySyllable.get(syllable) ?? "") + character);
}

const getWidth = (text) =>
  Array.from(text, (one) => (one > "\u2e80" ? 2 : 1)).reduce((a, b) => a + b, 0);
const rows = [...bySyllable]
  .toSorted(([a], [b]) => (a < b ? -1 : 1))
  .flatMap(([syllable, all]) =>
    (all.match(/.{1,55}/gu) ?? []).map((characters) => syllable + characters),
  );
const lines = [];
for (const row of rows) {
  const longer = `${lines.at(-1)} ${row}`;
  if (lines.length > 0 && getWidth(longer) <= COLUMNS) lines[lines.length - 1] = longer;
  else lines.push(row);
}

const [before] = readFileSync(FILE, "utf8").split("`\n");
writeFileSync(FILE, `${before}\`\n${lines.map((line) => `  ${line}\n`).join("")}\`;\n`);
