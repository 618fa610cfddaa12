// npx node scripts/build/release.ts: what npm run build writes into dist/, of exactly what is committed, for the version in package.json.
import { execFileSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Sentences about what keeps this folder from being released. */
export const findFaults = (root: string): readonly string[] => {
  const version = readVersion(join(root, "package.json"));
  return [
    ...findUncommitted(root),
    ...findOtherVersions(root, version),
    ...findChangelogFaults(root, version),
  ];
};

/** A sentence, if changes are listed that the section of the version does not have. */
export const findUnreleased = (root: string): string | undefined =>
  isListed(readSections(root).find((one) => one.startsWith("[Unreleased]")))
    ? "CHANGELOG.md lists changes under [Unreleased]: they are in these files, and not in the section of their version."
    : undefined;

const readSections = (root: string): readonly string[] =>
  readFileSync(join(root, "CHANGELOG.md"), "utf8").split(/^## /m).slice(1);

const isListed = (section = ""): boolean => /^- /m.test(section);

const readVersion = (file: string): string =>
  (JSON.parse(readFileSync(file, "utf8")) as { version: string }).version;

const findUncommitted = (root: string): readonly string[] => {
  const changed = execFileSync("git", ["status", "--porcelain"], { cwd: root, encoding: "utf8" });
  if (changed === "") return [];
  return [`These changes are not committed:\n\n${changed.trimEnd().replaceAll(/^/gm, "    ")}\n`];
};

/** Each package reports its own version: the server in its responses, the client in its requests. */
const findOtherVersions = (root: string, version: string): readonly string[] =>
  globSync("packages/*/package.json", { cwd: root })
    .toSorted()
    .map((file) => ({ file, own: readVersion(join(root, file)) }))
    .filter(({ own }) => own !== version)
    .map(({ file, own }) => `${file} has version ${own}, and package.json ${version}.`);

const findChangelogFaults = (root: string, version: string): readonly string[] => {
  const section = readSections(root).find((one) => one.startsWith(`[${version}] - `));
  return isListed(section) && /^\S+ - \d{4}-\d\d-\d\d\n/.test(section ?? "")
    ? []
    : [`CHANGELOG.md needs a section "## [${version}] - YYYY-MM-DD" that lists what changed.`];
};

if (import.meta.main) {
  const faults = findFaults(process.cwd());
  if (faults.length > 0) {
    process.stderr.write(`No release was made.\n\n${faults.map((one) => `- ${one}\n`).join("")}`);
    process.exit(1);
  }
  execFileSync(process.execPath, ["scripts/build/build.ts"], { stdio: "inherit" });

  const unreleased = findUnreleased(process.cwd());
  if (unreleased !== undefined) process.stderr.write(`\n${unreleased}\n`);
}
