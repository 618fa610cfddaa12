import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

type Manifest = Partial<
  Record<"dependencies" | "devDependencies" | "optionalDependencies", Record<string, string>>
>;

const manifests = [
  "package.json",
  "bench/package.json",
  "infra/package.json",
  "tools/package.json",
  "test/clients/package.json",
  ...globSync("packages/*/package.json"),
];

test.each(manifests)("%s names exact versions", (file) => {
  const { dependencies, devDependencies, optionalDependencies } = JSON.parse(
    readFileSync(file, "utf8"),
  ) as Manifest;
  const versions = Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies });

  expect(versions.filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([]);
});

test.each(["package-lock.json", "tools/package-lock.json", "infra/package-lock.json"])(
  "%s holds no address to download from",
  (file) => {
    expect(readFileSync(file, "utf8")).not.toMatch(/"resolved": "https?:/);
  },
);
