import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

/** This file names the words it bans; the helper leaves a suite out loudly, and never in CI. */
const MAY_NAME_THEM = ["test/architecture/tests.test.ts", "test/available.ts"];

const testsWith = (pattern: RegExp) =>
  globSync("test/**/*.ts", { exclude: ["**/node_modules/**", "**/generated/**"] })
    .filter((file) => !MAY_NAME_THEM.includes(file))
    .filter((file) => pattern.test(readFileSync(file, "utf8")));

test("no test is left out in silence: skip, only and todo have no place here", () => {
  expect(testsWith(/\.(?:skip|only|todo|skipIf|runIf)\b|\bx(?:it|test|describe)\(/)).toEqual([]);
});

test("no test is tried again until it passes", () => {
  expect(testsWith(/\bretry:\s*\d/)).toEqual([]);
});
