import { readVendorVerdict } from "../intake/vendors.ts";
import { unpack } from "../verify/pack.ts";
import { formatCsvRecord, formatHeader, getDelimiter, joinCells } from "./csv.ts";
import {
  getEmail,
  type ListedRow,
  type ListedRows,
  type RowSelection,
  toRowOutcome,
} from "./export-rows.ts";
import { BLANK_CELLS, listResultColumns, toResultCells } from "./result-columns.ts";
import type { SourceList } from "./source-list.ts";
import { writeSpreadsheet } from "./write-spreadsheet.ts";

// The table of an export, for CSV and spreadsheets: the list's columns, unchanged, followed by the results.

const OUTCOME_COLUMNS = ["row", "row_outcome", "duplicate_of", "skip_reason", "skip_message"];

const listExportColumns = (list: SourceList, selection: RowSelection): readonly string[] => {
  const outcome = selection === "all" ? listOutcomeColumns(list) : [];
  const vendor = list.vendor ? [`${list.vendor.name.toLowerCase()}_status`] : [];
  return [...list.columns, ...listResultColumns(list.columns, [...vendor, ...outcome])];
};

const hasOwnColumns = ({ columns }: SourceList): boolean => columns.length > 0;

/** If the list has no e-mail column, we add a column for the submitted text. */
const listOutcomeColumns = (list: SourceList): readonly string[] =>
  hasOwnColumns(list) ? OUTCOME_COLUMNS : [...OUTCOME_COLUMNS, "submitted"];

const toExportCells = (
  list: SourceList,
  row: ListedRow,
  selection: RowSelection,
): readonly string[] => {
  const [listRow, outcome] = row;
  const email = getEmail(row);
  const verificationCells =
    typeof outcome === "string" ? BLANK_CELLS : toResultCells(unpack(outcome[1]));
  const resultCells =
    selection === "all"
      ? toOutcomeCells(list, row, email).concat(verificationCells)
      : verificationCells;
  const cells = list.getCells(listRow, email);
  // The vendor's verdict in our words stands next to ours.
  const status = readVendorVerdict(list.vendor, cells)?.status ?? "";
  const added = list.vendor ? [status, ...resultCells] : resultCells;
  return joinCells(list.columns.length, cells, added);
};

const toOutcomeCells = (list: SourceList, listed: ListedRow, email: string): readonly string[] => {
  const { row, outcome, exclusion } = toRowOutcome(listed);
  const { duplicateOf = null, reason = null, message = null } = exclusion ?? {};
  const cells = [row, outcome, duplicateOf, reason, message].map((cell) => String(cell ?? ""));
  return hasOwnColumns(list) ? cells : [...cells, list.getEmailCell(listed[0], email) ?? ""];
};

type CsvExportOptions = {
  readonly selection: RowSelection;
  readonly delimiter: string | null;
  readonly hasHeader: boolean;
};

/** The header is in the first piece. */
export async function* formatCsv(
  listed: AsyncIterable<ListedRows>,
  { selection, delimiter: requestedDelimiter, hasHeader }: CsvExportOptions,
): AsyncGenerator<string> {
  let isHeaderDue = hasHeader;
  for await (const { list, rows } of listed) {
    const delimiter = requestedDelimiter ?? getDelimiter(list.delimiter);
    let text = isHeaderDue
      ? formatHeader(listExportColumns(list, selection), delimiter, list.isAscii)
      : "";
    isHeaderDue = false;
    for (const row of rows) text += formatCsvRecord(toExportCells(list, row, selection), delimiter);
    if (text !== "") yield text;
  }
}

/** Formats the CSV's table as an .xlsx file. Its cells are texts and numbers, so no formula needs a guard. */
export const formatXlsx = (
  listed: AsyncIterable<ListedRows>,
  selection: RowSelection,
): AsyncGenerator<Uint8Array> => writeSpreadsheet(listTableRows(listed, selection));

async function* listTableRows(
  listed: AsyncIterable<ListedRows>,
  selection: RowSelection,
): AsyncGenerator<readonly string[]> {
  let isHeaderDue = true;
  for await (const { list, rows } of listed) {
    if (isHeaderDue) yield listExportColumns(list, selection);
    isHeaderDue = false;
    for (const row of rows) yield toExportCells(list, row, selection);
  }
}
