import { toWire } from "@mailproof/api/verification";
import { csvLine } from "@mailproof/core/jobs/csv-out";
import { cellsOf, namesBeside } from "@mailproof/core/jobs/result-columns";
import type { Status, Verification } from "@mailproof/core/verify/result";
import { shown } from "./terminal.ts";

/** One way to print results: what stands first, and a line for each. */
export type Show = {
  readonly first: string;
  readonly line: (result: Verification, cells: readonly string[]) => string;
};

/** All fields, as the API has them: one JSON object on each line. */
export const asJson: Show = { first: "", line: (result) => `${JSON.stringify(toWire(result))}\n` };

/** The list's own columns come back as they were, with ours behind them. */
export const asCsv = (columns: readonly string[]): Show => ({
  first: csvLine([...columns, ...namesBeside(columns)]),
  line: (result, cells) =>
    csvLine([...columns.map((_, place) => cells[place] ?? ""), ...cellsOf(result)]),
});

const GREEN = 32;
const YELLOW = 33;
const RED = 31;
const COLOUR: Readonly<Record<Status, number>> = {
  valid: GREEN,
  catch_all: YELLOW,
  role: YELLOW,
  risky: YELLOW,
  unknown: YELLOW,
  disposable: RED,
  invalid: RED,
  spam_trap: RED,
};

/** For eyes: the verdict first, in a colour, then why. */
export const asText: Show = {
  first: "",
  line: ({ email, status, score, reason, subStatus, ai }) => {
    const verdict = `\u001b[${COLOUR[status]}m${status.padEnd(10)}\u001b[0m`;
    const why = subStatus === null ? reason : `${reason} (${subStatus})`;
    const meant = ai?.typoSuggestion ? `, meant ${ai.typoSuggestion}?` : "";
    return `${verdict} ${String(score).padStart(3)}  ${shown(email)}  ${why}${shown(meant)}\n`;
  },
};
