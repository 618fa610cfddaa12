import { areNeighbours } from "./keyboard.ts";

/** A likely slip of the fingers: a neighbouring key, two keys swapped, a key pressed twice. */
const EASY_EDIT_COST = 0.75;
const EDIT_COST = 1;
/** A finger may skip two letters in a row: more than one slip, but less than two. */
const SKIP_COST = 1.5;
/** A text with one more slip is thirty times rarer. Copy typists err about once in thirty words of a domain's length. */
export const RARITY_PER_EDIT = 30;
/** A higher cost means another word. An easy slip costs 0.75, so this allows at most two slips. */
const EDIT_COST_MAX = 2;

/**
 * Measures the slips from the intended to the typed text: optimal string alignment (Damerau's four edits, no letter touched twice), with
 * cheaper edits for likely slips. Infinity beyond EDIT_COST_MAX. It fills only the diagonal band that two insertions can reach, so the work
 * is linear in the length.
 */
export const measureEditDistance = (typed: string, meant: string): number => {
  if (Math.abs(typed.length - meant.length) > EDIT_COST_MAX) return Infinity;
  let beforeLast: number[] = [];
  let last = createFirstRow(meant);
  for (let i = 1; i <= typed.length; i++) {
    const row = createNextRow(typed, meant, i, last, beforeLast);
    if (row.every((cost) => cost > EDIT_COST_MAX)) return Infinity;
    beforeLast = last;
    last = row;
  }
  return capCost(getCost(last, typed.length, meant.length));
};

const capCost = (cost: number): number => (cost <= EDIT_COST_MAX ? cost : Infinity);

/** A row holds only the cells j = i - 2 … i + 2 of the table. */
const WIDTH = 2 * EDIT_COST_MAX + 1;
const getCost = (row: readonly number[], i: number, j: number): number =>
  row[j - i + EDIT_COST_MAX] ?? Infinity;

const createFirstRow = (meant: string): number[] => {
  const row: number[] = Array(WIDTH).fill(Infinity);
  row[EDIT_COST_MAX] = 0;
  for (let j = 1; j <= Math.min(EDIT_COST_MAX, meant.length); j++)
    row[j + EDIT_COST_MAX] = getCost(row, 0, j - 1) + getInsertCost(meant, j - 1);
  return row;
};

const createNextRow = (
  typed: string,
  meant: string,
  i: number,
  last: readonly number[],
  beforeLast: readonly number[],
): number[] => {
  const row: number[] = Array(WIDTH).fill(Infinity);
  for (
    let j = Math.max(0, i - EDIT_COST_MAX);
    j <= Math.min(meant.length, i + EDIT_COST_MAX);
    j++
  ) {
    let cost = getCost(last, i - 1, j) + getInsertCost(typed, i - 1);
    if (j > 0) {
      cost = Math.min(
        cost,
        getCost(row, i, j - 1) + getInsertCost(meant, j - 1),
        getCost(row, i, j - 2) + SKIP_COST,
        getCost(last, i - 1, j - 1) + getSubstituteCost(typed[i - 1] ?? "", meant[j - 1] ?? ""),
      );
    }
    if (areSwapped(typed, i, meant, j))
      cost = Math.min(cost, getCost(beforeLast, i - 2, j - 2) + EASY_EDIT_COST);
    row[j - i + EDIT_COST_MAX] = cost;
  }
  return row;
};

/** An extra or a missing letter is likelier when it doubles the letter before. */
const getInsertCost = (text: string, at: number): number =>
  at > 0 && text[at] === text[at - 1] ? EASY_EDIT_COST : EDIT_COST;

const getSubstituteCost = (typed: string, meant: string): number => {
  if (typed === meant) return 0;
  return areNeighbours(typed, meant) ? EASY_EDIT_COST : EDIT_COST;
};

const areSwapped = (typed: string, i: number, meant: string, j: number): boolean =>
  i > 1 &&
  j > 1 &&
  typed[i - 1] === meant[j - 2] &&
  typed[i - 2] === meant[j - 1] &&
  typed[i - 1] !== typed[i - 2];
