import { globSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { expect, test } from "vitest";
import { BUDGETS, GROUPS } from "../../bench/budgets.ts";
import {
  BENCHES,
  buildTable,
  compareToBudgets,
  formatPage,
  PAGE,
  readResults,
} from "../../bench/performance.ts";

const results = readResults();

test("docs/performance.md tells what bench/results holds", () => {
  expect(
    readFileSync(PAGE, "utf8"),
    `docs/performance.md is stale: run "npx node scripts/write-performance.mjs"`,
  ).toBe(formatPage(results));
});

test("every line with a budget was measured, and every bench that was run has one", () => {
  const measured = results.flatMap(({ rows }) => rows.flatMap(({ line }) => line ?? []));

  expect(measured.toSorted()).toEqual(Object.keys(BUDGETS).toSorted());
  expect(
    globSync("bench/results/*.json")
      .map((file) => basename(file, ".json"))
      .toSorted(),
  ).toEqual(BENCHES.toSorted());
});

test("nine rows are the design's, and each of them says what bounds it", () => {
  expect(Object.values(GROUPS).filter(({ boundBy }) => boundBy !== "")).toHaveLength(9);
});

test.each([
  ["intakeSeconds", 2.5, true],
  ["intakeSeconds", 2.51, false],
  ["oneServerRate", 420, true],
  ["oneServerRate", 419, false],
  ["falseValid", 0, true],
  ["falseValid", 1, false],
] as const)("%s of %d: met is %s", (line, value, isMet) => {
  const rows = [{ line, what: "", value, unit: "" }];
  const bench = GROUPS[BUDGETS[line].of].bench;
  const [verdict] = compareToBudgets([{ name: bench, machine: [], at: "", rows }]).filter(
    (one) => one.line === BUDGETS[line],
  );

  expect(verdict?.isMet).toBe(isMet);
});

test("what a bench should have measured and did not is missed", () => {
  const verdicts = compareToBudgets([{ name: "intake", machine: [], at: "", rows: [] }]);

  expect(verdicts.map(({ isMet }) => isMet)).toEqual([false, false]);
});

test("a figure stands beside its budget, and beside the peer that was measured with it", () => {
  const beside = { who: "a peer", value: 100 };
  const rows = [{ line: "oneServerRate", what: "", value: 840, unit: "", beside } as const];
  const [cells] = buildTable(
    compareToBudgets([{ name: "engine", machine: [], at: "", rows }]),
  ).rows;

  expect(cells).toEqual([
    "engine",
    "one MX",
    "840",
    "addresses/s",
    "at least 420",
    "2 ×",
    "a peer: 100",
    "8.4 ×",
    "met",
  ]);
});
