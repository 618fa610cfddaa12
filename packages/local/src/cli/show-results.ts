import type { VerificationResult } from "@mailproof/api/schema/verification";
import {
  formatCsvRecord,
  formatHeader,
  getDelimiter,
  joinCells,
} from "@mailproof/core/exports/csv";
import { toPublicCells } from "@mailproof/core/exports/result-columns";
import type { ListFormat } from "@mailproof/core/intake/open-list";
import type { Status } from "@mailproof/core/verify/result";
import { formatEvidence } from "./show-evidence.ts";
import { type Paint, replaceControls, type Style } from "./terminal.ts";

/** One way to print results: what stands first, and a line for each. */
export type ResultFormat = {
  readonly first: string;
  readonly line: (result: VerificationResult, cells: readonly string[]) => string;
};

/** All fields, as the API has them: one JSON object on each line. */
export const jsonFormat: ResultFormat = {
  first: "",
  line: (result) => `${JSON.stringify(result)}\n`,
};

/** The list's own columns come back as they were, with ours behind them, as an export has them. */
export const createCsvFormat = ({ columns, delimiter, isAscii }: CsvList): ResultFormat => ({
  first: formatHeader(columns, getDelimiter(delimiter), isAscii),
  line: (result, own) =>
    formatCsvRecord(joinCells(columns.length, own, toPublicCells(result)), getDelimiter(delimiter)),
});

export type CsvList = Pick<ListFormat, "columns" | "delimiter" | "isAscii">;

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
export const createTextFormat = (paint: Paint): ResultFormat => ({
  first: "",
  line: ({ email, status, quality_score, reason, sub_status, ai, evidence }) => {
    const verdict = paint(status.padEnd(10), STYLES[status]);
    const reasonText = sub_status === null ? reason : `${reason} (${sub_status})`;
    const meant = ai?.typo_suggestion ? `, meant ${ai.typo_suggestion}?` : "";
    const line = `${verdict} ${String(quality_score).padStart(3)}  ${replaceControls(email)}  ${reasonText}${replaceControls(meant)}\n`;
    return evidence === undefined ? line : `${line}${formatEvidence(evidence, paint)}`;
  },
});
