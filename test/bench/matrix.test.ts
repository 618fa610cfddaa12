import { expect, test } from "vitest";
import type { BenchVerdict } from "../../bench/engine/job.ts";
import { type Cell, situations, toCell } from "../../bench/engine/matrix.ts";

const JUDGED: readonly (readonly [
  status: BenchVerdict,
  verdict: BenchVerdict | undefined,
  cell: Cell,
])[] = [
  ["valid", "valid", "ok"],
  ["valid", "invalid", "false invalid"],
  ["valid", "unknown", "unknown"],
  ["invalid", "invalid", "ok"],
  ["invalid", "valid", "false valid"],
  ["invalid", undefined, "unknown"],
  ["unknown", "unknown", "ok"],
  ["unknown", undefined, "ok"],
  ["unknown", "invalid", "false invalid"],
  ["unknown", "valid", "false valid"],
  ["unknown", "risky", "unknown"],
  ["catch_all", "valid", "false valid"],
  ["catch_all", "catch_all", "ok"],
  ["risky", "invalid", "false invalid"],
];

test.each(JUDGED)("where %s is true and %s is the verdict, that is %s", (status, verdict, cell) => {
  expect(toCell({ address: "", label: "", status, reason: "" }, verdict)).toBe(cell);
});

test("valid is right enough where only catch-all stays open", () => {
  const shy = { address: "", label: "", status: "risky", reason: "catch_all_unverified" } as const;

  expect(toCell(shy, "valid")).toBe("ok");
  expect(toCell(shy, "invalid")).toBe("false invalid");
});

test("the matrix has ordinary and broken situations, each once", () => {
  const shown = situations.map((situation) => situation.label);

  expect(new Set(shown).size).toBe(shown.length);
  expect(shown.length).toBeGreaterThan(25);
  expect(shown).toContain("ada.lovelace@valid");
  expect(shown).toContain("ada.lovelace@greylist");
});
