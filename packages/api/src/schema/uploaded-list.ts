import { toExclusion } from "@mailproof/core/intake/exclusion";
import { LIST_ENCODINGS } from "@mailproof/core/intake/list-decoder";
import type { ListSummary } from "@mailproof/core/intake/list-summary";
import * as v from "valibot";
import { Count, describe } from "./common.ts";

export const UploadedList = describe(
  v.object({
    email_column: describe(v.string(), "The name of the column with the addresses."),
    email_column_index: describe(Count, "The number of that column, from 0."),
    other_email_columns: describe(
      v.array(v.string()),
      "Names of other columns that hold addresses. They are not verified.",
    ),
    has_header: describe(v.boolean(), "True when the first row names the columns."),
    columns: describe(v.array(v.string()), "The names of the first 20 columns."),
    column_count: describe(Count, "Number of columns in the file."),
    encoding: describe(v.picklist(LIST_ENCODINGS), "The character encoding of the file."),
    delimiter: describe(
      v.string(),
      "`comma`, `semicolon`, `tab`, `pipe`, `none` in a file of one column, or the character itself.",
    ),
    skipped_rows: describe(
      v.array(
        v.object({
          row: describe(
            Count,
            "The number of the row in the file, from 1. The header counts; blank lines do not.",
          ),
          text: describe(v.string(), "The text of the email cell, cut after 100 characters."),
          reason: describe(v.string(), "Code for what is wrong with the cell."),
          message: describe(v.string(), "What is wrong with the cell, in a sentence."),
        }),
      ),
      "The first 10 rows without an address. For all of them export the job with `selection=all`.",
    ),
  }),
  "What was found in a file, and its first rows without an address.",
);

const DELIMITER_NAMES: Readonly<Record<string, string>> = {
  "": "none",
  ",": "comma",
  ";": "semicolon",
  "\t": "tab",
  "|": "pipe",
};

export const toUploadedList = (list: ListSummary): v.InferOutput<typeof UploadedList> => ({
  email_column: list.emailColumn.name,
  email_column_index: list.emailColumn.index,
  other_email_columns: list.otherEmailColumns,
  has_header: list.hasHeader,
  columns: list.columns,
  column_count: list.columnCount,
  encoding: list.encoding,
  delimiter: DELIMITER_NAMES[list.delimiter] ?? list.delimiter,
  skipped_rows: list.skipped.map(({ row, text, reason }) => {
    const { message } = toExclusion(reason);
    return { row, text, reason, message: message ?? "" };
  }),
});
