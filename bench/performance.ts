import { writeFileSync } from "node:fs";
import { formatMarkdownTable } from "@mailproof/lab/markdown-table";
import { BUDGETS, type Budget, type BudgetName, GROUPS, type GroupName } from "./budgets.ts";
import {
  type BenchResult,
  formatBudget,
  formatNumber,
  isWithin,
  type ReportTable,
  readResults,
} from "./report.ts";

// What all benches came to, beside what they are held to: as the table that a run ends with, and as a page.

export const PAGE = "docs/performance.md";

/** In the order of the page. */
export const BENCHES: readonly string[] = [
  ...new Set(Object.values(GROUPS).map(({ bench }) => bench)),
];

const root = new URL("..", import.meta.url);

export const writePage = (): void => writeFileSync(new URL(PAGE, root), formatPage(readResults()));

type BudgetVerdict = {
  readonly row: GroupName;
  readonly line: Budget;
  readonly value: number;
  readonly beside: Budget["beside"];
  readonly isMet: boolean;
};

/** Every line of some benches that has a budget; in one that was not measured the figure is not a number. */
export const compareToBudgets = (results: readonly BenchResult[]): readonly BudgetVerdict[] => {
  const lines = Object.entries(BUDGETS) as (readonly [BudgetName, Budget])[];
  return lines.flatMap(([name, line]) => {
    const bench = results.find((one) => one.name === GROUPS[line.of].bench);
    if (!bench) return [];
    const found = bench.rows.find((row) => row.line === name);
    const value = found?.value ?? Number.NaN;
    const beside = found?.beside ?? line.beside;
    return [{ row: line.of, line, value, beside, isMet: isWithin(value, line) }];
  });
};

export const buildTable = (verdicts: readonly BudgetVerdict[]): ReportTable => ({
  title: "figures and budgets",
  head: ["bench", ...HEAD],
  rows: verdicts.map((one) => [GROUPS[one.row].bench, ...toCells(one)]),
});

const HEAD = ["", "figure", "budget", "compared with"];

/** What stands in a table about a line; the page and the terminal tell the same. */
const toCells = ({ line, value, beside, isMet }: BudgetVerdict): readonly string[] => [
  line.what,
  `${formatNumber(value)} ${line.unit}`,
  `${formatBudget(line)}${formatRatio(value, line.least ?? line.most ?? 0)}${isMet ? "" : " MISSED"}`,
  beside ? `${beside.who}: ${formatNumber(beside.value)}${formatRatio(value, beside.value)}` : "",
];

const formatRatio = (value: number, to: number): string =>
  to === 0 ? "" : ` (${formatNumber(value / to)} ×)`;

const NAMES = Object.keys(GROUPS) as GroupName[];
const OF_DESIGN = NAMES.filter((name) => GROUPS[name].boundBy !== "");
const OTHERS = NAMES.filter((name) => GROUPS[name].boundBy === "");

export const formatPage = (results: readonly BenchResult[]): string => {
  const verdicts = compareToBudgets(results);
  const missed = verdicts.filter(({ isMet }) => !isMet);
  return `# Performance

Written by \`npm run bench\` from \`bench/results.json\` and the budgets in \`bench/budgets.ts\`. A full run takes about twenty
minutes and fails if a budget is missed; \`npm run bench intake\` runs one bench. The figures depend on the machine: the ratios
to another commit (\`npm run bench -- --against REV\`) say more.

${missed.length === 0 ? "Every budget is met." : `Missed: ${missed.map(formatShort).join(", ")}.`}

## The budgets of the design

${formatTable(OF_DESIGN, verdicts)}

## What limits each of them

${OF_DESIGN.map((name) => `- **${GROUPS[name].what}.** ${GROUPS[name].boundBy}`).join("\n")}

## Other budgets

${formatTable(OTHERS, verdicts)}

## Receivers: this engine and its peers

The same lists in one run, before the same receivers of the lab ([receivers.md](receivers.md)). Right is the verdict that the
scenario expects; a peer without a word for it counts as right where its word is no worse. "Unknown" is where a better engine
could have known. This engine is tested with these scenarios and its peers are not: the table shows what they do with documented
replies, not how often they are right about a list of real addresses.

\`\`\`
${formatBlock(results, "receivers")}
\`\`\`

## Measurements

${formatRuns(results)}
`;
};

/** The tables of one bench, as the terminal shows them. */
const formatBlock = (results: readonly BenchResult[], name: string): string => {
  const { tables = [] } = results.find((one) => one.name === name) ?? {};
  return tables
    .filter(({ lines }) => lines.length > 1)
    .map(({ title, lines }) => [title, "", ...lines].join("\n"))
    .join("\n\n");
};

const formatShort = ({ line, row }: BudgetVerdict): string =>
  `${line.what} (\`${GROUPS[row].bench}\`)`;

/** The day and the machine of each bench; benches of one day and machine share a line. */
const formatRuns = (results: readonly BenchResult[]): string => {
  const runs = Map.groupBy(
    results.toSorted((one, other) => one.at.localeCompare(other.at)),
    ({ at, machine }) => `${at.slice(0, 10)}, ${machine.join(", ")}`,
  );
  return [...runs]
    .map(([run, benches]) => `- ${run}: ${benches.map(({ name }) => `\`${name}\``).join(", ")}`)
    .join("\n");
};

/** A row of the table says what it is about once, above its lines. */
const formatTable = (names: readonly GroupName[], verdicts: readonly BudgetVerdict[]): string =>
  formatMarkdownTable(
    HEAD,
    names.flatMap((name) => {
      const { what, bench } = GROUPS[name];
      const lines = verdicts.filter(({ row }) => row === name).map(toCells);
      return [[`**${what}** (\`${bench}\`)`], ...lines];
    }),
  );
