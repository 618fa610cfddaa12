import { existsSync, globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { STORIES_ON_AWS } from "../aws/second-stack.ts";
import { readInTest } from "../runner/describe-when.ts";
import { formatLeftOut } from "../runner/results.reporter.ts";

/** This file names the words it bans; the helper leaves a suite out loudly, and never in CI. */
const EXEMPT = ["test/architecture/tests.test.ts", "test/runner/describe-when.ts"];

const testsWith = (pattern: RegExp) =>
  globSync("test/**/*.ts", { exclude: ["**/node_modules/**", "**/generated/**"] })
    .filter((file) => !EXEMPT.includes(file))
    .filter((file) => pattern.test(readFileSync(file, "utf8")));

test("no test file uses skip, only or todo, which would leave out tests in silence", () => {
  expect(testsWith(/\.(?:skip|only|todo|skipIf|runIf)\b|\bx(?:it|test|describe)\(/)).toEqual([]);
});

test("each story that the second stack lists exists", () => {
  const missing = STORIES_ON_AWS.filter((name) => !existsSync(`test/story/${name}.test.ts`));

  expect(missing).toEqual([]);
});

test("no test retries until it passes", () => {
  expect(testsWith(/\bretry:\s*\d/)).toEqual([]);
});

test("no test names a file outside this repository, which describeOver reads inside a test", () => {
  expect(testsWith(/["'`/]\.\.\/(?:\.\.\/)*shared\//)).toEqual([]);
});

const readManifest = readInTest("package.json");
const whileCollecting = Promise.try(readManifest).catch(String);

test("a test file fails to read a file outside this repository during collection", async () => {
  expect(await whileCollecting).toBe("Error: package.json may be absent: read it inside a test.");
  expect(readManifest()).toContain('"mailproof"');
});

test("the last lines of a run list each suite that was left out, with the reason", () => {
  const leftOut = { name: "Exim on loopback", tests: 14, reason: "there is no Exim" };

  expect(formatLeftOut([leftOut])).toEqual([
    "Left out:",
    "  Exim on loopback (14 tests): there is no Exim.",
  ]);
  expect(formatLeftOut([])).toEqual([]);
});
