import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { formatLicencesPage, loadShipped, readDataLicences } from "../../scripts/made/licences.ts";

/** All of them allow everyone to use, change and ship the work as a part of anything. */
const ALLOWED: readonly string[] = [
  "0BSD",
  "Apache-2.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "BlueOak-1.0.0",
  "CC0-1.0",
  "ISC",
  "MIT",
  "MIT-0",
  "Unicode-DFS-2016",
  "Unlicense",
];

test("docs/licences.md lists the packages that we ship now", async () => {
  expect(
    await formatLicencesPage(),
    `docs/licences.md is stale: run "npx node scripts/write.ts licences"`,
  ).toBe(readFileSync("docs/licences.md", "utf8"));
});

test("every shipped package has a licence that fits ours", async () => {
  const all = [...(await loadShipped()), ...readDataLicences()];
  const others = all.filter(({ licence }) => !ALLOWED.includes(licence));

  expect(others).toEqual([]);
  expect(all.length).toBeGreaterThan(20);
});

test("the lock file and the packages themselves state the same licence", async () => {
  const differing = (await loadShipped()).filter(({ name, version, licence }) => {
    const own = JSON.parse(readFileSync(`node_modules/${name}/package.json`, "utf8")) as {
      license: string;
      version: string;
    };
    return own.version === version && own.license !== licence;
  });

  expect(differing).toEqual([]);
});

test("the client depends on no package", () => {
  const { dependencies = {} } = JSON.parse(
    readFileSync("packages/client/package.json", "utf8"),
  ) as {
    dependencies?: object;
  };

  expect(dependencies).toEqual({});
});
