import { formatNumber, printTable, type ReportTable } from "../report.ts";
import { TREE } from "../server.ts";
import { type Comparison, compareRounds, formatSentence, judge, pickBest } from "./judge.ts";
import { FIGURES, type FigureName, type RowName } from "./ratios.ts";
import { type Figures, runScenario, type ScenarioName } from "./scenarios.ts";

// The server of another commit and that of this tree, in turns: bench/run.ts starts this with the folder of the other one.

const ROUNDS = 3;
const FIGURE_NAMES = Object.keys(FIGURES) as readonly FigureName[];

type RowRounds = { readonly reference: Figures[]; readonly here: Figures[] };
type Measured = { readonly comparisons: readonly Comparison[]; readonly problem: string | null };

/** Each begins every other round, so that neither is always the one that comes after the other. */
const measureScenario = async (name: ScenarioName, reference: string): Promise<Measured> => {
  const rounds = new Map<RowName, RowRounds>();
  for (let round = 0; round < ROUNDS; round++) {
    const turns = [
      ["reference", reference],
      ["here", TREE],
    ] as const;
    for (const [side, tree] of round % 2 === 0 ? turns : turns.toReversed()) {
      try {
        const rows = await runScenario(name, tree);
        for (const [row, figures] of Object.entries(rows) as [RowName, Figures][]) {
          process.stdout.write(`${formatRun(row, side, round, figures)}\n`);
          const of = rounds.get(row) ?? { reference: [], here: [] };
          of[side].push(figures);
          rounds.set(row, of);
        }
      } catch (error) {
        // An old commit may lack what is measured. This tree may not.
        if (side === "here") throw error;
        return { comparisons: [], problem: `${name} was not measured: ${String(error)}` };
      }
    }
  }
  return {
    comparisons: [...rounds].flatMap(([row, of]) => compareRounds(row, of)),
    problem: null,
  };
};

/** What a run came to, so that one that was disturbed can be seen. */
const formatRun = (row: RowName, side: string, round: number, figures: Figures): string => {
  const toText = (name: FigureName) => `${FIGURES[name].what} ${formatNumber(figures[name])}`;
  return `${row}, round ${round + 1}, ${side}: ${FIGURE_NAMES.map(toText).join(", ")}`;
};

const toKey = ({ row, figure }: Comparison): string => `${row} ${figure}`;

const buildTable = (comparisons: readonly Comparison[], commit: string): ReportTable => {
  const rows = [...new Set(comparisons.map(({ row }) => row))];
  const toCells = (row: RowName): readonly string[] =>
    FIGURE_NAMES.map((figure) => {
      const one = comparisons.find((other) => other.row === row && other.figure === figure);
      // Where there is nothing to count, such as sessions of a cached call, there is no ratio.
      if (!one || !Number.isFinite(one.ratio)) return "–";
      return `${formatNumber(one.ratio)} × (${formatNumber(one.reference)} : ${formatNumber(one.here)})`;
    });
  return {
    title: `${commit.slice(0, 8)} to this tree: below 1 this tree is worse (medians of ${ROUNDS} rounds)`,
    head: ["", ...FIGURE_NAMES.map((name) => FIGURES[name].what)],
    rows: rows.map((row) => [row, ...toCells(row)]),
  };
};

const compareTrees = async (
  scenarios: readonly ScenarioName[],
  reference: { readonly tree: string; readonly commit: string },
  isHeld: boolean,
): Promise<boolean> => {
  const measurements = new Map<string, Comparison[]>();
  let pending = scenarios;
  while (pending.length > 0) {
    const again: ScenarioName[] = [];
    const printed: Comparison[] = [];
    for (const name of pending) {
      const { comparisons, problem } = await measureScenario(name, reference.tree);
      if (problem !== null) process.stdout.write(`${problem}\n`);
      for (const one of comparisons) {
        const all = measurements.get(toKey(one)) ?? [];
        all.push(one);
        measurements.set(toKey(one), all);
      }
      printed.push(...comparisons);
      const judged = comparisons.map((one) => judge(measurements.get(toKey(one)) ?? []));
      if (judged.includes("again")) again.push(name);
    }
    printTable(buildTable(printed, reference.commit));
    pending = isHeld ? again : [];
  }
  if (!isHeld) return true;
  const print = (wanted: "warning" | "red"): number => {
    const found = [...measurements.values()].filter((all) => judge(all) === wanted);
    for (const all of found) {
      const best = pickBest(all);
      if (best)
        process.stdout.write(`${wanted === "red" ? "Red" : "Warning"}: ${formatSentence(best)}\n`);
    }
    return found.length;
  };
  print("warning");
  return print("red") === 0;
};

const [, , tree = "", commit = "", isHeld, ...names] = process.argv;
const isGood = await compareTrees(names as ScenarioName[], { tree, commit }, isHeld === "held");
process.exitCode = isGood ? 0 : 1;
