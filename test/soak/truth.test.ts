import { expect, test } from "vitest";
import { judge } from "./truth.ts";

test.each([
  ["valid", "valid", "right"],
  ["valid", "pending", "undecided"],
  ["valid", "risky", "undecided"],
  ["valid", "invalid", "wrong"],
  ["invalid", "valid", "wrong"],
  ["catch_all", "valid", "wrong"],
  ["unknown", "valid", "right"],
  ["unknown", "invalid", "wrong"],
  ["valid", "missing", "wrong"],
] as const)("%s that was reported as %s is %s", (truth, reported, judged) => {
  expect(judge(truth, reported)).toBe(judged);
});
