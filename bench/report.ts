import { readFileSync, writeFileSync } from "node:fs";
import { cpus, totalmem } from "node:os";
import { BUDGETS, type Budget, type BudgetName } from "./budgets.ts";

/** One line of a bench. Where it is held to a budget, that is the line of bench/budgets.ts with this name. */
export type ReportRow = {
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  readonly line?: BudgetName;
  /** Who else does it, measured with ours. */
  readonly beside?: Budget["beside"];
};

export const createRow = (
  line: BudgetName,
  value: number,
  beside?: Budget["beside"],
): ReportRow => {
  const { what, unit } = BUDGETS[line];
  return { line, what, value, unit, ...(beside && { beside }) };
};

/** What is compared. It is kept as text, a row a line. */
export type ReportTable = {
  readonly title: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
};

/** What a bench comes to: its lines alone, or with what they are drawn from. */
export type Report = {
  readonly rows: readonly ReportRow[];
  readonly tables: readonly ReportTable[];
};

/** Figures mean nothing without the machine they were taken on. */
export const describeMachine = (): readonly string[] => [
  `${cpus().length} × ${cpus()[0]?.model.trim() ?? "unknown processor"}`,
  `${Math.round(totalmem() / 2 ** 30)} GiB`,
  `Node ${process.version}`,
  `${process.platform} ${process.arch}`,
];

export const isWithin = (value: number, { least, most }: Pick<Budget, "least" | "most">): boolean =>
  (least === undefined || value >= least) && (most === undefined || value <= most);

export const formatBudget = ({ least, most }: Pick<Budget, "least" | "most">): string =>
  least === undefined ? `at most ${formatNumber(most ?? 0)}` : `at least ${formatNumber(least)}`;

export const printRows = (name: string, rows: readonly ReportRow[]): void => {
  const width = Math.max(...rows.map(({ what }) => what.length));
  process.stdout.write(`\n${name}\n`);
  for (const row of rows) {
    const value = `${formatNumber(row.value).padStart(12)} ${row.unit.padEnd(12)}`;
    process.stdout.write(`  ${row.what.padEnd(width)} ${value} ${formatVerdict(row)}\n`);
  }
};

export const printTable = (table: ReportTable): void => {
  process.stdout.write(`\n${table.title}\n`);
  for (const line of formatLines(table)) process.stdout.write(`  ${line}\n`);
};

const formatLines = ({ head, rows }: ReportTable): readonly string[] => {
  const all = [head, ...rows];
  const widths = head.map((_, at) => Math.max(...all.map((row) => row[at]?.length ?? 0)));
  return all.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join("  ")
      .trimEnd(),
  );
};

/** One entry of bench/results.json: the last result of a bench. */
export type BenchResult = {
  readonly name: string;
  readonly machine: readonly string[];
  readonly at: string;
  readonly rows: readonly ReportRow[];
  readonly tables?: readonly { readonly title: string; readonly lines: readonly string[] }[];
};

const RESULTS = new URL("results.json", import.meta.url);

export const readResults = (): readonly BenchResult[] => JSON.parse(readFileSync(RESULTS, "utf8"));

export const saveResult = (name: string, { rows, tables }: Report): void => {
  const texts = tables.map((table) => ({ title: table.title, lines: formatLines(table) }));
  const compared = texts.length > 0 && { tables: texts };
  const report: BenchResult = {
    name,
    machine: describeMachine(),
    at: new Date().toISOString(),
    rows,
    ...compared,
  };
  const others = readResults().filter((one) => one.name !== name);
  const results = [...others, report].toSorted((a, b) => (a.name < b.name ? -1 : 1));
  writeFileSync(RESULTS, `${JSON.stringify(results, null, 2)}\n`);
};

const formatVerdict = ({ line, value }: ReportRow): string => {
  if (!line) return "";
  const budget = BUDGETS[line];
  return `${isWithin(value, budget) ? "within" : "MISSES"} the budget of ${formatBudget(budget)}`;
};

export const formatNumber = (value: number): string =>
  value.toLocaleString("en", { maximumFractionDigits: value < 100 ? 2 : 0 });

export const computeMedian = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

export const computePercentile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? Number.NaN;
