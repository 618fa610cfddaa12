import { readFileSync } from "node:fs";
import { SETTINGS } from "@mailproof/local/environment";
import { expect, test } from "vitest";

test("docs/settings.md names every setting that the code reads, and no other", () => {
  const rows = readFileSync("docs/settings.md", "utf8").matchAll(/^\| `([A-Z_]+)` +\|/gm);

  expect(new Set([...rows].map(([, name]) => name))).toEqual(new Set(SETTINGS));
});
