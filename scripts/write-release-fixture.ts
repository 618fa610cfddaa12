// Writes test/fixtures/release-<version>.json.br: the state that this release leaves behind, for every later one to open.
// Once for each release, when it is made; those of earlier releases stay as they are:
// node --import ./scripts/need-node.mjs scripts/write-release-fixture.ts
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliCompressSync } from "node:zlib";
import { createBackup } from "@mailproof/local/storage/backup";
import { playRelease } from "../test/fixtures/play-release.ts";

const work = mkdtempSync(join(tmpdir(), "mailproof-release-"));
const [state, copy] = [join(work, "state"), join(work, "copy")];
const recorded = await playRelease(state);
await createBackup(state, copy);

const files = readdirSync(copy, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name))
  .map((file) => [file.slice(copy.length + 1), readFileSync(file).toString("latin1")]);

const fixture = join("test/fixtures", `release-${recorded.release}.json.br`);
const fixtureContent = {
  recorded,
  files: Object.fromEntries(files) as Record<string, string>,
};
writeFileSync(fixture, brotliCompressSync(JSON.stringify(fixtureContent)));
rmSync(work, { recursive: true });
process.stdout.write(`${fixture} is written.\n`);
process.exit(0);
