import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

type Manifest = Partial<
  Record<"dependencies" | "devDependencies" | "optionalDependencies", Record<string, string>>
>;

const manifests = ["package.json", "bench/package.json", ...globSync("packages/*/package.json")];

test.each(manifests)("%s names exact versions", (file) => {
  const { dependencies, devDependencies, optionalDependencies } = JSON.parse(
    readFileSync(file, "utf8"),
  ) as Manifest;
  const versions = Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies });

  expect(versions.filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([]);
});

test("the lock file holds no address to download from", () => {
  expect(readFileSync("package-lock.json", "utf8")).not.toMatch(/"resolved": "https?:/);
});
