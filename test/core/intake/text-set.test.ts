import { createTextSet } from "@mailproof/core/intake/text-set";
import { expect, test } from "vitest";

test.each<[what: string, texts: readonly string[], areNew: readonly boolean[]]>([
  ["is new once", ["a@b.example", "a@b.example", "a@b.example"], [true, false, false]],
  ["is another in another case", ["a@b.example", "A@b.example"], [true, true]],
  ["may be empty", ["", ""], [true, false]],
  ["may go beyond ASCII", ["ü@b.example", "ü@b.example", "u@b.example"], [true, false, true]],
  ["may differ beyond one byte", ["\u0141", "A", "\u0141"], [true, true, false]],
  ["may be long", ["x".repeat(300), "x".repeat(301), "x".repeat(300)], [true, true, false]],
  [
    "may be as long as fits",
    ["x".repeat(255), "x".repeat(254), "x".repeat(255)],
    [true, true, false],
  ],
  [
    "is not another with the same hash",
    ["user449599@example.com", "user612382@example.com", "user449599@example.com"],
    [true, true, false],
  ],
])("a text %s", (_, texts, areNew) => {
  const seen = createTextSet(10);

  expect(texts.map((text, index) => seen.add(text, index + 1) === 0)).toEqual(areNew);
});

test("a set stays exact far beyond its planned size, and over its pages", () => {
  const seen = createTextSet(1);
  const texts = Array.from({ length: 60_000 }, (_, index) => `someone.${index}@example.com`);

  expect(texts.every((text, index) => seen.add(text, index + 1) === 0)).toBe(true);
  expect(texts.map((text) => seen.add(text, 70_000))).toEqual([...texts.keys()].map((n) => n + 1));
});
