import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const OURSELVES = "test/architecture/tests.test.ts";

const testsWith = (pattern: RegExp) =>
  globSync("test/**/*.ts")
    .filter((file) => file !== OURSELVES)
    .filter((file) => pattern.test(readFileSync(file, "utf8")));

test("no test is left out in silence: skip, only and todo have no place here", () => {
  expect(testsWith(/\.(?:skip|only|todo|skipIf|runIf)\b|\bx(?:it|test|describe)\(/)).toEqual([]);
});

test("no test is tried again until it passes", () => {
  expect(testsWith(/\bretry:\s*\d/)).toEqual([]);
});
