import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import {
  type Comparison,
  compareRounds,
  formatSentence,
  judge,
  pickBest,
} from "../../bench/against/judge.ts";
import { RATIOS } from "../../bench/against/ratios.ts";
import type { Figures } from "../../bench/against/scenarios.ts";
import { BUDGETS, GROUPS } from "../../bench/budgets.ts";
import type { BenchVerdict } from "../../bench/engine/job.ts";
import { type Cell, situations, toCell } from "../../bench/engine/matrix.ts";
import { generateList, type ListCounts, pickDomain, toBytes } from "../../bench/list-generator.ts";
import {
  BENCHES,
  buildTable,
  compareToBudgets,
  formatPage,
  PAGE,
} from "../../bench/performance.ts";
import { readResults } from "../../bench/report.ts";
import { ingestRows } from "../core/intake/ingest-content.ts";

const NOTHING: Figures = {
  seconds: Number.NaN,
  processorSeconds: Number.NaN,
  peakMegabytes: Number.NaN,
  sessions: 0,
  queries: 0,
  bytesWritten: Number.NaN,
};

const givenTime = (ratio: number): Comparison => ({
  row: "export",
  figure: "processorSeconds",
  reference: 2,
  here: 2 / ratio,
  ratio,
});

const TIMES = [
  [[1], "good"],
  [[1.4], "good"],
  [[0.97], "good"],
  [[0.96], "warning"],
  [[0.9], "warning"],
  [[0.89], "again"],
  [[0.5, 0.5], "again"],
  [[0.5, 0.5, 0.5], "red"],
  [[0.89, 0.7, 0.89], "red"],
  [[0.5, 0.95], "warning"],
  [[0.5, 0.5, 1], "good"],
  [[Number.NaN], "good"],
  [[], "good"],
] as const;

test.each(TIMES)("a time with the ratios %j is %s", (ratios, judgement) => {
  expect(judge(ratios.map(givenTime))).toBe(judgement);
});

test("a benchmark figure without a limit passes at any ratio", () => {
  expect(judge([{ ...givenTime(0.1), figure: "peakMegabytes" }])).toBe("good");
});

const givenSessions = (reference: number, here: number) =>
  compareRounds("one-server", {
    reference: [{ ...NOTHING, sessions: reference }],
    here: [{ ...NOTHING, sessions: here }],
  }).filter(({ figure }) => figure === "sessions");

test.each([
  [20, 20, "good"],
  [20, 30, "warning"],
  [20, 40, "again"],
  [0, 0, "good"],
  [0, 1, "again"],
] as const)("of %d sessions at the reference, %d here are %s", (reference, here, judgement) => {
  expect(judge(givenSessions(reference, here))).toBe(judgement);
});

test("a benchmark's ratio divides the medians, and is below 1 when this tree is slower", () => {
  const toRounds = (seconds: readonly number[]) =>
    seconds.map((one) => ({ ...NOTHING, seconds: one }));
  const [time] = compareRounds("list", {
    reference: toRounds([2, 90, 1]),
    here: toRounds([4, 3, 80]),
  });

  expect(time).toEqual({ row: "list", figure: "seconds", reference: 2, here: 4, ratio: 0.5 });
});

test("the sentence of a comparison states the ratio, the required ratio and both figures", () => {
  const worst = pickBest([0.5, 0.625, 0.55].map(givenTime));

  expect(worst && formatSentence(worst)).toBe(
    "processor time of export: ratio 0.63, at least 0.9 is required (reference 2 s, here 3.2 s).",
  );
});

test("no limit exceeds 1, because an unchanged commit would fail it by chance", () => {
  expect(
    Object.values(RATIOS)
      .flatMap((row) => Object.values(row))
      .filter((least) => least > 1),
  ).toEqual([]);
});

const shape = (seed: number) => ({
  seed,
  rows: 5_000,
  duplicatePercent: 10,
  invalidPercent: 5,
  domain: pickDomain,
});

test.each([1, 2, 3])(
  "a list made from seed %i contains the rows that its counts state",
  async (seed) => {
    let expectedCounts: ListCounts | undefined;
    const result = await ingestRows(
      toBytes(generateList(shape(seed)), (counts) => {
        expectedCounts = counts;
      }),
    );

    expect(expectedCounts).toEqual({
      rows: result.totalSubmitted,
      duplicates: result.duplicatesRemoved,
      invalid: result.invalidSkipped,
      unique: result.unique,
    });
    expect(result).toMatchObject({
      totalSubmitted: 5_000,
      format: { emailColumns: [3], delimiter: "," },
    });
    expect(result.duplicatesRemoved).toBeGreaterThan(400);
    expect(result.invalidSkipped).toBeGreaterThan(150);
  },
);

test("the list generator repeats the list of a seed and changes it for another seed", () => {
  const getText = (seed: number) => [...generateList(shape(seed))].join("");

  expect(getText(1)).toBe(getText(1));
  expect(getText(1)).not.toBe(getText(2));
});

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

test("the comparison counts valid as right when only the catch-all question is open", () => {
  const shy = { address: "", label: "", status: "risky", reason: "catch_all_unverified" } as const;

  expect(toCell(shy, "valid")).toBe("ok");
  expect(toCell(shy, "invalid")).toBe("false invalid");
});

test("the matrix lists each ordinary and each broken situation once", () => {
  const shown = situations.map((situation) => situation.label);

  expect(new Set(shown).size).toBe(shown.length);
  expect(shown.length).toBeGreaterThan(25);
  expect(shown).toContain("ada.lovelace@valid");
  expect(shown).toContain("ada.lovelace@greylist");
});

const results = readResults();

test("docs/performance.md states the figures of bench/results.json", () => {
  expect(
    readFileSync(PAGE, "utf8"),
    `docs/performance.md is stale: run "npx node scripts/write.ts performance"`,
  ).toBe(formatPage(results));
});

test("every line with a budget has a measurement, and every executed bench has a budget", () => {
  const measured = results.flatMap(({ rows }) => rows.flatMap(({ line }) => line ?? []));

  expect(measured.toSorted()).toEqual(Object.keys(BUDGETS).toSorted());
  expect(results.map(({ name }) => name).toSorted()).toEqual(BENCHES.toSorted());
});

test("nine groups of benchmarks state a bound", () => {
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

test("a bench without its budgeted figures misses its budgets", () => {
  const verdicts = compareToBudgets([{ name: "intake", machine: [], at: "", rows: [] }]);

  expect(verdicts.map(({ isMet }) => isMet)).toEqual([false, false]);
});

test("the page shows each figure with its budget and its peer's figure", () => {
  const beside = { who: "a peer", value: 100 };
  const rows = [{ line: "oneServerRate", what: "", value: 840, unit: "", beside } as const];
  const [cells] = buildTable(
    compareToBudgets([{ name: "engine", machine: [], at: "", rows }]),
  ).rows;

  expect(cells).toEqual([
    "engine",
    "one MX",
    "840 addresses/s",
    "at least 420 (2 ×)",
    "a peer: 100 (8.4 ×)",
  ]);
});
