import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { findFaults, findUnreleased } from "../../scripts/build/release.ts";

const SECTION = "## [1.2.3] - 2026-11-23\n\n### For callers\n\n- A change.\n";

/** A repository with everything committed, of version 1.2.3. */
const givenRepository = ({ changelog = SECTION, packageVersion = "1.2.3" } = {}) => {
  const root = mkdtempSync(join(tmpdir(), "mailproof-release-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  mkdirSync(join(root, "packages/core"), { recursive: true });
  const write = (name: string, text: string) => writeFileSync(join(root, name), text);
  write("package.json", JSON.stringify({ version: "1.2.3" }));
  write("packages/core/package.json", JSON.stringify({ version: packageVersion }));
  write("CHANGELOG.md", `# Changelog\n\n${changelog}`);
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=A", "-c", "user.email=a@b.c", ...args], { cwd: root });
  git("init", "--quiet");
  git("add", ".");
  git("commit", "--quiet", "--message", "all");
  return { root, write };
};

test("the release check accepts a committed tree whose changelog lists its version", () => {
  expect(findFaults(givenRepository().root)).toEqual([]);
});

test("the release check lists a changed file and a new one", () => {
  const { root, write } = givenRepository();
  write("CHANGELOG.md", `# Changelog\n\n${SECTION}- More.\n`);
  write("new.ts", "");

  expect(findFaults(root)).toEqual([
    expect.stringMatching(/not committed:\n\n {5}M CHANGELOG\.md\n {4}\?\? new\.ts/),
  ]);
});

test.each([
  ["no section for the version", "## [1.2.2] - 2026-11-01\n\n- Old.\n"],
  ["a section without a date", "## [1.2.3]\n\n- A change.\n"],
  ["a section without entries", "## [1.2.3] - 2026-11-23\n\n## [1.2.2] - 2026-11-01\n\n- Old.\n"],
])("the release check refuses a changelog with %s", (_case, changelog) => {
  expect(findFaults(givenRepository({ changelog }).root)).toEqual([
    'CHANGELOG.md needs a section "## [1.2.3] - YYYY-MM-DD" that lists what changed.',
  ]);
});

test("the release check refuses a package of another version", () => {
  expect(findFaults(givenRepository({ packageVersion: "1.2.2" }).root)).toEqual([
    "packages/core/package.json has version 1.2.2, and package.json 1.2.3.",
  ]);
});

test("the release check points out changes under [Unreleased]", () => {
  const listed = givenRepository({ changelog: `## [Unreleased]\n\n- Later.\n\n${SECTION}` });
  const empty = givenRepository({ changelog: `## [Unreleased]\n\n${SECTION}` });

  expect(findUnreleased(listed.root)).toContain("under [Unreleased]");
  expect(findUnreleased(empty.root)).toBeUndefined();
});

test("the release check accepts this repository's versions and changelog", () => {
  expect(findFaults(process.cwd()).filter((one) => !one.includes("not committed"))).toEqual([]);
});
