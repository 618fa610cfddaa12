import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const tests = globSync("test/**/*.ts");

test("no test is left out in silence: skip, only and todo have no place here", () => {
  const left = tests.filter((file) =>
    /\.(?:skip|only|todo|skipIf|runIf)\b|\bx(?:it|test|describe)\(/.test(
      readFileSync(file, "utf8"),
    ),
  );

  expect(left).toEqual(["test/architecture/tests.test.ts"].filter((file) => left.includes(file)));
});

test("no test is tried again until it passes", () => {
  const retried = tests.filter((file) => /\bretry:\s*\d/.test(readFileSync(file, "utf8")));

  expect(retried).toEqual([]);
});
