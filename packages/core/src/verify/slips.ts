import { areNeighbours } from "./keyboard.ts";

/** What a slip of the fingers that happens by itself costs: half a key aside, two keys swapped, one held down. */
const EASY_SLIP = 0.75;
/** Any other single change. */
const SLIP = 1;
/** More than this is another word. As an easy slip costs 0.75, it means two slips at the most. */
const SLIPS_MAX = 2;

/**
 * How many slips lead from what was meant to what was typed: optimal string alignment (Damerau's four edits,
 * no letter touched twice), with cheaper edits for likely slips. Infinity beyond SLIPS_MAX.
 * Only the diagonal band that two insertions can reach is filled, so the work is linear in the length.
 */
export const slipsBetween = (typed: string, meant: string): number => {
  if (Math.abs(typed.length - meant.length) > SLIPS_MAX) return Infinity;
  let beforeLast: number[] = [];
  let last = firstRow(typed, meant);
  for (let i = 1; i <= typed.length; i++) {
    const row = nextRow(typed, meant, i, last, beforeLast);
    if (row.every((cost) => cost > SLIPS_MAX)) return Infinity;
    beforeLast = last;
    last = row;
  }
  return within(costAt(last, typed.length, meant.length));
};

const within = (cost: number): number => (cost <= SLIPS_MAX ? cost : Infinity);

/** A row holds only the cells j = i - 2 … i + 2 of the table. */
const WIDTH = 2 * SLIPS_MAX + 1;
const costAt = (row: readonly number[], i: number, j: number): number =>
  row[j - i + SLIPS_MAX] ?? Infinity;

const firstRow = (typed: string, meant: string): number[] => {
  const row: number[] = Array(WIDTH).fill(Infinity);
  row[SLIPS_MAX] = 0;
  for (let j = 1; j <= Math.min(SLIPS_MAX, meant.length); j++)
    row[j + SLIPS_MAX] = costAt(row, 0, j - 1) + oneMore(meant, j - 1);
  return row;
};

const nextRow = (
  typed: string,
  meant: string,
  i: number,
  last: readonly number[],
  beforeLast: readonly number[],
): number[] => {
  const row: number[] = Array(WIDTH).fill(Infinity);
  for (let j = Math.max(0, i - SLIPS_MAX); j <= Math.min(meant.length, i + SLIPS_MAX); j++) {
    let cost = costAt(last, i - 1, j) + oneMore(typed, i - 1);
    if (j > 0) {
      cost = Math.min(
        cost,
        costAt(row, i, j - 1) + oneMore(meant, j - 1),
        costAt(last, i - 1, j - 1) + instead(typed[i - 1] ?? "", meant[j - 1] ?? ""),
      );
    }
    if (areSwapped(typed, i, meant, j))
      cost = Math.min(cost, costAt(beforeLast, i - 2, j - 2) + EASY_SLIP);
    row[j - i + SLIPS_MAX] = cost;
  }
  return row;
};

/** A letter too many or too few is the likelier when it doubles the one before it. */
const oneMore = (text: string, at: number): number =>
  at > 0 && text[at] === text[at - 1] ? EASY_SLIP : SLIP;

const instead = (typed: string, meant: string): number => {
  if (typed === meant) return 0;
  return areNeighbours(typed, meant) ? EASY_SLIP : SLIP;
};

const areSwapped = (typed: string, i: number, meant: string, j: number): boolean =>
  i > 1 &&
  j > 1 &&
  typed[i - 1] === meant[j - 2] &&
  typed[i - 2] === meant[j - 1] &&
  typed[i - 1] !== typed[i - 2];
