import { toWire } from "@mailproof/api/schema/verification";
import { csvLine, delimiterFor, headerOf, recordOf } from "@mailproof/core/jobs/csv-out";
import type { ListFacts } from "@mailproof/core/jobs/list";
import { cellsOf } from "@mailproof/core/jobs/result-columns";
import type { Status, Verification } from "@mailproof/core/verify/result";
import { evidenceText } from "./show-evidence.ts";
import { type Paint, type Style, shown } from "./terminal.ts";

/** One way to print results: what stands first, and a line for each. */
export type Show = {
  readonly first: string;
  readonly line: (result: Verification, cells: readonly string[]) => string;
};

/** All fields, as the API has them: one JSON object on each line. */
export const asJson: Show = { first: "", line: (result) => `${JSON.stringify(toWire(result))}\n` };

/** The list's own columns come back as they were, with ours behind them, as an export has them. */
export const asCsv = ({ columns, delimiter, isAscii }: CsvList): Show => ({
  first: headerOf(columns, delimiterFor(delimiter), isAscii),
  line: (result, own) =>
    csvLine(recordOf(columns.length, own, cellsOf(result)), delimiterFor(delimiter)),
});

export type CsvList = Pick<ListFacts, "columns" | "delimiter" | "isAscii">;

/** Addresses that came without a list. */
export const NO_LIST: CsvList = { columns: [], delimiter: ",", isAscii: true };

const STYLES: Readonly<Record<Status, Style>> = {
  valid: "green",
  catch_all: "yellow",
  role: "yellow",
  risky: "yellow",
  unknown: "yellow",
  disposable: "red",
  invalid: "red",
  spam_trap: "red",
};

/** For a terminal: the verdict first, in a colour, then the reason, and below it the evidence where there is any. */
export const asText = (paint: Paint): Show => ({
  first: "",
  line: ({ email, status, score, reason, subStatus, ai, evidence }) => {
    const verdict = paint(status.padEnd(10), STYLES[status]);
    const why = subStatus === null ? reason : `${reason} (${subStatus})`;
    const meant = ai?.typoSuggestion ? `, meant ${ai.typoSuggestion}?` : "";
    const line = `${verdict} ${String(score).padStart(3)}  ${shown(email)}  ${why}${shown(meant)}\n`;
    return evidence === undefined ? line : `${line}${evidenceText(evidence, paint)}`;
  },
});
