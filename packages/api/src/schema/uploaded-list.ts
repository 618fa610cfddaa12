import { ENCODINGS } from "@mailproof/core/jobs/decode";
import { readExclusion } from "@mailproof/core/jobs/exclusion";
import type { ListSummary } from "@mailproof/core/jobs/list-summary";
import * as v from "valibot";
import { Count } from "./common.ts";

/** What was found in a file, and its first rows without an address. */
export const ListFacts = v.object({
  email_column: v.string(),
  email_column_index: Count,
  other_email_columns: v.array(v.string()),
  has_header: v.boolean(),
  columns: v.array(v.string()),
  column_count: Count,
  encoding: v.picklist(ENCODINGS),
  delimiter: v.string(),
  skipped_rows: v.array(
    v.object({ row: Count, text: v.string(), reason: v.string(), message: v.string() }),
  ),
});

const DELIMITER_NAMES: Readonly<Record<string, string>> = {
  "": "none",
  ",": "comma",
  ";": "semicolon",
  "\t": "tab",
  "|": "pipe",
};

export const toListFacts = (list: ListSummary): v.InferOutput<typeof ListFacts> => ({
  email_column: list.emailColumn.name,
  email_column_index: list.emailColumn.index,
  other_email_columns: list.otherEmailColumns,
  has_header: list.hasHeader,
  columns: list.columns,
  column_count: list.columnCount,
  encoding: list.encoding,
  delimiter: DELIMITER_NAMES[list.delimiter] ?? list.delimiter,
  skipped_rows: list.skipped.map(({ row, text, reason }) => {
    const { message } = readExclusion(reason);
    return { row, text, reason, message: message ?? "" };
  }),
});
