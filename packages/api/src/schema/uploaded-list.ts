import { toExclusion } from "@mailproof/core/intake/exclusion";
import { LIST_ENCODINGS } from "@mailproof/core/intake/list-decoder";
import type { ListSummary } from "@mailproof/core/intake/list-summary";
import * as v from "valibot";
import { describe } from "./common.ts";
import * as field from "./fields.ts";

export const UploadedList = field.object(
  "What was found in a file, and its first rows without an address.",
  {
    email_column: field.text("The name of the column with the addresses."),
    email_column_index: field.count("The number of that column, from 0."),
    email_columns: describe(
      v.optional(v.array(v.string())),
      "With `email_columns`: the names of all columns that are verified. Left out for one column.",
    ),
    other_email_columns: describe(
      v.array(v.string()),
      "Names of other columns that hold addresses. They are not verified.",
    ),
    vendor: describe(
      v.optional(
        v.object({
          name: field.text("The name of the service."),
          column: field.text("The name of the column."),
          settled_emails: field.count(
            "Addresses that all of their verdicts settle: `skip_settled` leaves them out, for a credit less each.",
          ),
        }),
      ),
      "The column with the verdicts of another service. Left out when none is recognized.",
    ),
    has_header: field.boolean("True when the first row names the columns."),
    columns: describe(v.array(v.string()), "The names of the first 20 columns."),
    column_count: field.count("Number of columns in the file."),
    encoding: describe(v.picklist(LIST_ENCODINGS), "The character encoding of the file."),
    delimiter: field.text(
      "`comma`, `semicolon`, `tab`, `pipe`, `none` in a file of one column, or the character itself.",
    ),
    skipped_rows: field.objects(
      "The first 10 rows without an address. For all of them export the job with `selection=all`.",
      {
        row: field.count(
          "The number of the row in the file, from 1. The header counts; blank lines do not.",
        ),
        text: field.text("The text of the email cell, cut after 100 characters."),
        reason: field.text("Code for what is wrong with the cell."),
        message: field.text("What is wrong with the cell, in a sentence."),
      },
    ),
  },
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
  ...(list.emailColumns && { email_columns: list.emailColumns }),
  other_email_columns: list.otherEmailColumns,
  ...(list.vendor && {
    vendor: {
      name: list.vendor.name,
      column: list.vendor.column,
      settled_emails: list.vendor.settled,
    },
  }),
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
