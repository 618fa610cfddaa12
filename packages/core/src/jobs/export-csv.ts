import { csvLine, delimiterFor, headerOf, recordOf } from "./csv-out.ts";
import {
  emailOf,
  type ListedRow,
  type ListedRows,
  outcomeOf,
  type RowSelection,
} from "./export-rows.ts";
import type { OwnList } from "./own-list.ts";
import { BLANK_CELLS, cellsOf } from "./result-columns.ts";

/** What an export of every row says of a row, before its result. */
const OUTCOME_COLUMNS = ["row", "row_outcome", "duplicate_of", "skip_reason", "skip_message"];

export type CsvOptions = {
  readonly selection: RowSelection;
  /** Null: that of the list. */
  readonly delimiter: string | null;
};

/**
 * The rows beside the list's own columns, which come back as they were: a piece for each chunk, the header in the
 * first.
 */
export async function* csvOf(
  listed: AsyncIterable<ListedRows>,
  { selection, delimiter: wanted }: CsvOptions,
): AsyncGenerator<string> {
  let isFirst = true;
  for await (const { list, rows } of listed) {
    const delimiter = wanted ?? delimiterFor(list.delimiter);
    const outcome = selection === "all" ? outcomeColumnsOf(list) : [];
    let text = isFirst ? headerOf(list.columns, delimiter, list.isAscii, outcome) : "";
    isFirst = false;
    for (const row of rows) text += csvLine(cellsIn(list, row, selection), delimiter);
    if (text !== "") yield text;
  }
}

const hasColumns = ({ columns }: OwnList): boolean => columns.length > 0;

/** Where there is no column for the text that was sent, it has one of ours. */
const outcomeColumnsOf = (list: OwnList): readonly string[] =>
  hasColumns(list) ? OUTCOME_COLUMNS : [...OUTCOME_COLUMNS, "submitted"];

const cellsIn = (list: OwnList, row: ListedRow, selection: RowSelection): readonly string[] => {
  const [own, outcome] = row;
  const email = emailOf(row);
  const ours = typeof outcome === "string" ? BLANK_CELLS : cellsOf(outcome.result);
  const said = selection === "all" ? outcomeCellsOf(list, row, email).concat(ours) : ours;
  return recordOf(list.columns.length, list.cellsOf(own, email), said);
};

const outcomeCellsOf = (list: OwnList, listed: ListedRow, email: string): readonly string[] => {
  const { row, outcome, exclusion } = outcomeOf(listed);
  const { duplicateOf = null, reason = null, message = null } = exclusion ?? {};
  const cells = [row, outcome, duplicateOf, reason, message].map((cell) => String(cell ?? ""));
  return hasColumns(list) ? cells : [...cells, list.textOf(listed[0], email) ?? ""];
};
