import { readFileSync } from "node:fs";
import { getPeople } from "@mailproof/lab/companies";
import { allDomains } from "@mailproof/lab/domains";
import { formatLabTables } from "@mailproof/lab/lab-tables";
import { expect, test } from "vitest";

const squeezeSpaces = (text: string) => text.replaceAll(/ +/g, " ").replaceAll(/-{2,}/g, "--");

test("docs/lab.md has the tables as the lab serves them", () => {
  const [, written = ""] = readFileSync("docs/lab.md", "utf8").split("## What to expect\n\n");

  expect(squeezeSpaces(written.trimEnd()), "run: npx node scripts/write-lab-tables.mjs").toBe(
    squeezeSpaces(formatLabTables()),
  );
});

test("every domain has a name of its own and an address to try", () => {
  const names = allDomains.map(({ name }) => name);

  expect(new Set(names).size).toBe(names.length);
  expect(allDomains.filter(({ examples }) => examples.length === 0)).toEqual([]);
});

test("every mail host that an MX of the lab names is described", () => {
  const missing = allDomains.flatMap(({ name, mx = [[10, "mx"]], hosts = {}, records, aliasOf }) =>
    typeof records === "string" || aliasOf
      ? []
      : mx
          .filter(([, host]) => host !== "" && !(host in hosts))
          .map(([, host]) => `${host} at ${name}`),
  );

  expect(missing.filter((one) => !/^gone|^spare/.test(one))).toEqual([]);
});

test("a company has from a few to sixty people, each with an address of their own", () => {
  for (let number = 1; number <= 300; number += 1) {
    const staff = getPeople(`c${String(number).padStart(4, "0")}`);

    expect(staff.length).toBeGreaterThanOrEqual(3);
    expect(staff.length).toBeLessThanOrEqual(60);
    expect(new Set(staff.map(({ local }) => local)).size).toBe(staff.length);
  }
});
