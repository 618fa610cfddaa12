import { existsSync, globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const page = readFileSync("SECURITY.md", "utf8");

test("SECURITY.md names files and tests that are there", () => {
  const named = [...page.matchAll(/`((?:packages|test|infra|docs)\/[^`]+)`/g)].map(
    ([, file = ""]) => file,
  );

  expect(named.filter((file) => !existsSync(file))).toEqual([]);
  expect(named.length).toBeGreaterThan(40);
});

test("every test of security is what shows some boundary, or holds the page itself", () => {
  const unlisted = globSync("test/security/*.test.ts").filter(
    (file) => !page.includes(file) && !file.endsWith("/page.test.ts"),
  );

  expect(unlisted).toEqual([]);
});

test("it can be read in one go", () => {
  expect(page.split("\n").length).toBeLessThan(150);
});
