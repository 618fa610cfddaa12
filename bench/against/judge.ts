import { computeMedian, formatNumber } from "../report.ts";
import { FIGURES, type FigureName, RATIOS, type RowName } from "./ratios.ts";
import type { Figures } from "./scenarios.ts";

// What two trees came to, as ratios, and which of them are too low.

/** One row of one measurement, in its rounds. */
export type Rounds = { readonly reference: readonly Figures[]; readonly here: readonly Figures[] };

/** `ratio` is the reference's figure to this tree's, so below 1 this tree is worse. Not a number: it was not measured. */
export type Comparison = {
  readonly row: RowName;
  readonly figure: FigureName;
  readonly reference: number;
  readonly here: number;
  readonly ratio: number;
};

const FIGURE_NAMES = Object.keys(FIGURES) as readonly FigureName[];

export const compareRounds = (row: RowName, rounds: Rounds): readonly Comparison[] =>
  FIGURE_NAMES.map((figure) => {
    const getMedian = (all: readonly Figures[]) => computeMedian(all.map((one) => one[figure]));
    const [reference, here] = [getMedian(rounds.reference), getMedian(rounds.here)];
    return { row, figure, reference, here, ratio: reference / here };
  });

/** The least that a ratio may be, or undefined where it is held to nothing. */
const getLeastRatio = ({ row, figure }: Comparison): number | undefined =>
  (RATIOS[row] as Partial<Record<FigureName, number>>)[figure];

/** So often a figure is measured that is too low: other work on the machine does not come three times in a row. */
const MEASUREMENTS_MAX = 3;

/** From here on a figure is as good as the reference's. */
const WARNING_BELOW = 0.97;

export type Judgement = "good" | "warning" | "again" | "red";

/** One figure in the measurements so far. One that was good enough once is never red. */
export const judge = (measurements: readonly Comparison[]): Judgement => {
  const best = pickBest(measurements);
  const least = best && getLeastRatio(best);
  // 0 of both is as good; where only this tree has any, the ratio is 0.
  if (!best || least === undefined || Number.isNaN(best.ratio)) return "good";
  if (best.ratio >= least) return best.ratio < WARNING_BELOW ? "warning" : "good";
  return measurements.length < MEASUREMENTS_MAX ? "again" : "red";
};

export const pickBest = (measurements: readonly Comparison[]): Comparison | undefined =>
  measurements.toSorted((a, b) => b.ratio - a.ratio)[0];

export const formatSentence = (comparison: Comparison): string => {
  const { row, figure, reference, here, ratio } = comparison;
  const { what, unit } = FIGURES[figure];
  const format = (value: number) => `${formatNumber(value)} ${unit}`.trim();
  const least = formatNumber(getLeastRatio(comparison) ?? 0);
  return `${what} of ${row}: ratio ${formatNumber(ratio)}, at least ${least} is required (reference ${format(reference)}, here ${format(here)}).`;
};
