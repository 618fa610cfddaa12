import { readFileSync } from "node:fs";
import { CANDIDATES_MAX } from "@mailproof/core/find/candidates";
import {
  CATCH_ALL_WEIGHT,
  IDENTITY_SHARES,
  VERDICT_WEIGHTS,
} from "@mailproof/core/find/confidence";
import { listNameForms } from "@mailproof/core/find/name-forms";
import { PATTERNS } from "@mailproof/mail/signals/address-patterns";
import { expect, test } from "vitest";

// Goal: docs/scores.md describes a search as the tables in core/find do.

const page = readFileSync("docs/scores.md", "utf8");
const part = page.slice(page.indexOf("## Finding an address"), page.indexOf("## Deliverability"));

test("the page shows every pattern and its share", () => {
  const shown = [...part.matchAll(/^\| `([a-z0-9._-]+)` +\| ([\d.]+) +\|$/gm)].map(
    ([, pattern = "", share]) => [pattern, Number(share)],
  );

  expect(shown).toEqual(Object.entries(PATTERNS));
});

test("the page shows how each reply lowers the confidence", () => {
  const percent = (weight: number) => Math.round(weight * 100);

  expect(part).toMatch(new RegExp(`valid\\W+${percent(VERDICT_WEIGHTS.valid)} × own`));
  expect(part).toMatch(new RegExp(`risky\\W+${percent(VERDICT_WEIGHTS.there)} × own`));
  expect(part).toMatch(
    new RegExp(`\\| ${percent(VERDICT_WEIGHTS.unproven)} × own .* would not show`),
  );
  expect(part).toMatch(new RegExp(`role\\W+${percent(VERDICT_WEIGHTS.role)} × own`));
  expect(part).toMatch(new RegExp(`catch_all\\W+${percent(CATCH_ALL_WEIGHT)} × p`));
  for (const identity of Object.values(IDENTITY_SHARES))
    expect(part).toContain(identity.toFixed(2));
  expect(part).toContain(`At most ${CANDIDATES_MAX} guesses`);
});

test.each([
  ["Jean-Luc", "first"],
  ["Anna Maria", "first"],
  ["van der Berg", "last"],
  ["da Silva Santos", "last"],
  ["Smith-Jones", "last"],
  ["García López", "last"],
  ["Müller", "last"],
  ["Дмитрий", "first"],
] as const)("the page shows how %s is written", (name, as) => {
  const forms = listNameForms({ first: "Ann", last: "Lee", [as]: name }, "example.com")?.[as] ?? [];

  const row = part.split("\n").find((line) => line.startsWith(`| ${name} `)) ?? "";
  for (const { text, weight } of forms) expect(row).toContain(`${text} ${weight.toFixed(2)}`);
});
