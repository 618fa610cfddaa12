import { readFileSync } from "node:fs";
import { SETTINGS } from "@mailproof/local/environment";
import { expect, test } from "vitest";

test("the README's table names every setting, and none that nobody reads", () => {
  const rows = readFileSync("README.md", "utf8").matchAll(/^\| `([A-Z_]+)` +\|/gm);

  expect(new Set([...rows].map(([, name]) => name))).toEqual(new Set(SETTINGS));
});
