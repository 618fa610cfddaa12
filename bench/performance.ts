import { readFileSync, writeFileSync } from "node:fs";
import { LINES, type Line, type LineName, ROWS, type RowName } from "./budgets.ts";
import { budgetOf, type Compared, format, isWithin, type Kept } from "./report.ts";

// What all benches came to, beside what they are held to: as the table that a run ends with, and as a page.

export const PAGE = "docs/performance.md";

/** In the order in which they are told. */
export const BENCHES: readonly string[] = [
  ...new Set(Object.values(ROWS).map(({ bench }) => bench)),
];

const root = new URL("..", import.meta.url);

export const readKept = (): readonly Kept[] =>
  BENCHES.map((name) =>
    JSON.parse(readFileSync(new URL(`bench/results/${name}.json`, root), "utf8")),
  );

export const writePage = (): void => writeFileSync(new URL(PAGE, root), pageOf(readKept()));

type Verdict = {
  readonly row: RowName;
  readonly line: Line;
  readonly value: number;
  readonly beside: Line["beside"];
  readonly isMet: boolean;
};

/** Every line of some benches that has a budget; in one that was not measured the figure is not a number. */
export const verdictsOf = (kept: readonly Kept[]): readonly Verdict[] => {
  const lines = Object.entries(LINES) as (readonly [LineName, Line])[];
  return lines.flatMap(([name, line]) => {
    const bench = kept.find((one) => one.name === ROWS[line.of].bench);
    if (!bench) return [];
    const found = bench.rows.find((row) => row.line === name);
    const value = found?.value ?? Number.NaN;
    const beside = found?.beside ?? line.beside;
    return [{ row: line.of, line, value, beside, isMet: isWithin(value, line) }];
  });
};

export const tableOfAll = (verdicts: readonly Verdict[]): Compared => ({
  title: "figures and budgets",
  head: ["bench", ...HEAD],
  rows: verdicts.map((one) => [ROWS[one.row].bench, ...cellsOf(one)]),
});

const HEAD = ["", "figure", "", "budget", "to the budget", "beside", "to that", ""];

/** What stands in a table about a line; the page and the terminal tell the same. */
const cellsOf = ({ line, value, beside, isMet }: Verdict): readonly string[] => [
  line.what,
  format(value),
  line.unit,
  budgetOf(line),
  ratio(value, line.least ?? line.most ?? 0),
  beside ? `${beside.who}: ${format(beside.value)}` : "",
  beside ? ratio(value, beside.value) : "",
  isMet ? "met" : "MISSED",
];

const ratio = (value: number, to: number): string => (to === 0 ? "" : `${format(value / to)} ×`);

const NAMES = Object.keys(ROWS) as RowName[];
const OF_DESIGN = NAMES.filter((name) => ROWS[name].boundBy !== "");
const OTHERS = NAMES.filter((name) => ROWS[name].boundBy === "");

export const pageOf = (kept: readonly Kept[]): string => {
  const verdicts = verdictsOf(kept);
  const missed = verdicts.filter(({ isMet }) => !isMet);
  return `# How fast it is

Written by \`npm run bench\` from \`bench/results/\` and \`bench/budgets.ts\`, where the budgets and the words stand. A whole
run takes about ten minutes, ends with these figures, and with an error where a budget is missed; \`npm run bench intake\`
is one bench alone. The peers and the load generator come with \`npm install --prefix bench\`. Figures belong to their
machine; what tells more is the ratio to the budget, or to what was measured beside them.

${missed.length === 0 ? "Every budget is met." : `Missed: ${missed.map(shortly).join(", ")}.`}

## The budgets of the design

${tableOf(OF_DESIGN, verdicts)}

## What bounds each of them

${OF_DESIGN.map((name) => `- **${ROWS[name].what}.** ${ROWS[name].boundBy}`).join("\n")}

## Budgets beside them

${tableOf(OTHERS, verdicts)}

## Where and when

${markdown(["command", "when", "where"], kept.map(takenAt))}
`;
};

const shortly = ({ line, row }: Verdict): string => `${line.what} (\`${ROWS[row].bench}\`)`;

const takenAt = ({ name, at, machine }: Kept): readonly string[] => [
  `\`npm run bench ${name}\``,
  at.slice(0, 16).replace("T", " "),
  machine.join(", "),
];

/** A row of the table says what it is about once, above its lines. */
const tableOf = (names: readonly RowName[], verdicts: readonly Verdict[]): string =>
  markdown(
    HEAD.toSpliced(2, 1),
    names.flatMap((name) => {
      const { what, bench } = ROWS[name];
      const lines = verdicts.filter(({ row }) => row === name).map(cellsOf);
      return [
        [`**${what}**`, `\`npm run bench ${bench}\``],
        ...lines.map(([line = "", figure = "", unit = "", ...others]) => [
          line,
          `${figure} ${unit}`,
          ...others,
        ]),
      ];
    }),
  );

/** As the formatter leaves it: every column as wide as its widest cell. */
const markdown = (head: readonly string[], rows: readonly (readonly string[])[]): string => {
  const widths = head.map((_, at) =>
    Math.max(3, ...[head, ...rows].map((cells) => cells[at]?.length ?? 0)),
  );
  const rule = widths.map((width) => "-".repeat(width));
  return [head, rule, ...rows]
    .map((cells) => widths.map((width, at) => (cells[at] ?? "").padEnd(width)))
    .map((cells) => `| ${cells.join(" | ")} |`)
    .join("\n");
};
