import { readVendorVerdict } from "../intake/vendors.ts";
import { unpack } from "../verify/pack.ts";
import { joinCells } from "./csv.ts";
import { getEmail, type ListedRow, type RowSelection, toRowOutcome } from "./export-rows.ts";
import { BLANK_CELLS, listResultColumns, toResultCells } from "./result-columns.ts";
import type { SourceList } from "./source-list.ts";

// The table of an export, for CSV and spreadsheets: the list's columns, unchanged, followed by the results.

const OUTCOME_COLUMNS = ["row", "row_outcome", "duplicate_of", "skip_reason", "skip_message"];

export const listExportColumns = (list: SourceList, selection: RowSelection): readonly string[] => {
  const outcome = selection === "all" ? listOutcomeColumns(list) : [];
  const vendor = list.vendor ? [`${list.vendor.name.toLowerCase()}_status`] : [];
  return [...list.columns, ...listResultColumns(list.columns, [...vendor, ...outcome])];
};

const hasOwnColumns = ({ columns }: SourceList): boolean => columns.length > 0;

/** If the list has no e-mail column, we add a column for the submitted text. */
const listOutcomeColumns = (list: SourceList): readonly string[] =>
  hasOwnColumns(list) ? OUTCOME_COLUMNS : [...OUTCOME_COLUMNS, "submitted"];

export const toExportCells = (
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
