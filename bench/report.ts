import { writeFileSync } from "node:fs";
import { cpus, totalmem } from "node:os";
import { LINES, type Line, type LineName } from "./budgets.ts";

/** One line of a bench. Where it is held to a budget, that is the line of bench/budgets.ts with this name. */
export type Measured = {
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  readonly line?: LineName;
  /** Who else does it, measured with ours. */
  readonly beside?: Line["beside"];
};

export const held = (line: LineName, value: number, beside?: Line["beside"]): Measured => {
  const { what, unit } = LINES[line];
  return { line, what, value, unit, ...(beside && { beside }) };
};

/** What is compared. It is kept as text, a row a line. */
export type Compared = {
  readonly title: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
};

/** What a bench comes to: its lines alone, or with what they are drawn from. */
export type Report = {
  readonly rows: readonly Measured[];
  readonly tables: readonly Compared[];
};

/** Figures mean nothing without the machine they were taken on. */
export const machine = (): readonly string[] => [
  `${cpus().length} × ${cpus()[0]?.model.trim() ?? "unknown processor"}`,
  `${Math.round(totalmem() / 2 ** 30)} GiB`,
  `Node ${process.version}`,
  `${process.platform} ${process.arch}`,
];

export const isWithin = (value: number, { least, most }: Pick<Line, "least" | "most">): boolean =>
  (least === undefined || value >= least) && (most === undefined || value <= most);

export const budgetOf = ({ least, most }: Pick<Line, "least" | "most">): string =>
  least === undefined ? `at most ${format(most ?? 0)}` : `at least ${format(least)}`;

export const print = (name: string, rows: readonly Measured[]): void => {
  const width = Math.max(...rows.map(({ what }) => what.length));
  process.stdout.write(`\n${name}\n`);
  for (const row of rows) {
    const value = `${format(row.value).padStart(12)} ${row.unit.padEnd(12)}`;
    process.stdout.write(`  ${row.what.padEnd(width)} ${value} ${verdictOf(row)}\n`);
  }
};

export const printTable = (table: Compared): void => {
  process.stdout.write(`\n${table.title}\n`);
  for (const line of linesOf(table)) process.stdout.write(`  ${line}\n`);
};

const linesOf = ({ head, rows }: Compared): readonly string[] => {
  const all = [head, ...rows];
  const widths = head.map((_, at) => Math.max(...all.map((row) => row[at]?.length ?? 0)));
  return all.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join("  ")
      .trimEnd(),
  );
};

/** What stands in bench/results/. */
export type Kept = {
  readonly name: string;
  readonly machine: readonly string[];
  readonly at: string;
  readonly rows: readonly Measured[];
  readonly tables?: readonly { readonly title: string; readonly lines: readonly string[] }[];
};

export const save = (name: string, { rows, tables }: Report): void => {
  const file = new URL(`results/${name}.json`, import.meta.url);
  const texts = tables.map((table) => ({ title: table.title, lines: linesOf(table) }));
  const compared = texts.length > 0 && { tables: texts };
  const report: Kept = {
    name,
    machine: machine(),
    at: new Date().toISOString(),
    rows,
    ...compared,
  };
  writeFileSync(file, `${JSON.stringify(report, null, 2)}\n`);
};

const verdictOf = ({ line, value }: Measured): string => {
  if (!line) return "";
  const budget = LINES[line];
  return `${isWithin(value, budget) ? "within" : "MISSES"} the budget of ${budgetOf(budget)}`;
};

export const format = (value: number): string =>
  value.toLocaleString("en", { maximumFractionDigits: value < 100 ? 2 : 0 });

export const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
