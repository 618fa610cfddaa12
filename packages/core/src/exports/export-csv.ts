import { formatCsvRecord, formatHeader, getDelimiter, joinCells } from "./csv.ts";
import {
  getEmail,
  type ListedRow,
  type ListedRows,
  type RowSelection,
  toRowOutcome,
} from "./export-rows.ts";
import { BLANK_CELLS, toResultCells } from "./result-columns.ts";
import type { SourceList } from "./source-list.ts";

/** The columns of an export of every row that precede the result. */
const OUTCOME_COLUMNS = ["row", "row_outcome", "duplicate_of", "skip_reason", "skip_message"];

export type CsvExportOptions = {
  readonly selection: RowSelection;
  /** Null: the list's delimiter. */
  readonly delimiter: string | null;
};

/** The list's columns, unchanged, with the results beside them: one piece per chunk, the header in the first. */
export async function* formatCsv(
  listed: AsyncIterable<ListedRows>,
  { selection, delimiter: requestedDelimiter }: CsvExportOptions,
): AsyncGenerator<string> {
  let isFirst = true;
  for await (const { list, rows } of listed) {
    const delimiter = requestedDelimiter ?? getDelimiter(list.delimiter);
    const outcome = selection === "all" ? listOutcomeColumns(list) : [];
    let text = isFirst ? formatHeader(list.columns, delimiter, list.isAscii, outcome) : "";
    isFirst = false;
    for (const row of rows) text += formatCsvRecord(toCells(list, row, selection), delimiter);
    if (text !== "") yield text;
  }
}

const hasOwnColumns = ({ columns }: SourceList): boolean => columns.length > 0;

/** If the list has no e-mail column, the submitted text gets a column of ours. */
const listOutcomeColumns = (list: SourceList): readonly string[] =>
  hasOwnColumns(list) ? OUTCOME_COLUMNS : [...OUTCOME_COLUMNS, "submitted"];

const toCells = (list: SourceList, row: ListedRow, selection: RowSelection): readonly string[] => {
  const [listRow, outcome] = row;
  const email = getEmail(row);
  const verificationCells =
    typeof outcome === "string" ? BLANK_CELLS : toResultCells(outcome.result);
  const resultCells =
    selection === "all"
      ? toOutcomeCells(list, row, email).concat(verificationCells)
      : verificationCells;
  return joinCells(list.columns.length, list.getCells(listRow, email), resultCells);
};

const toOutcomeCells = (list: SourceList, listed: ListedRow, email: string): readonly string[] => {
  const { row, outcome, exclusion } = toRowOutcome(listed);
  const { duplicateOf = null, reason = null, message = null } = exclusion ?? {};
  const cells = [row, outcome, duplicateOf, reason, message].map((cell) => String(cell ?? ""));
  return hasOwnColumns(list) ? cells : [...cells, list.getEmailCell(listed[0], email) ?? ""];
};
