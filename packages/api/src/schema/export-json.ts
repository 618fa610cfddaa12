import { ROW_OUTCOMES, ROW_SELECTIONS } from "@mailproof/core/exports/export-rows";
import { SEND_ADVICES } from "@mailproof/core/verify/send-advice";
import * as v from "valibot";
import { describe } from "./common.ts";
import * as field from "./fields.ts";
import { OWN_COLUMNS, ResultRow } from "./jobs.ts";

// The schemas of the JSON form of an export, which core/src/exports/export-json.ts writes.

export const ExportMetadata = v.object({
  format: describe(v.literal("json"), "The format of the export."),
  filter: field.text("Which results the export has: the `filter` of the request."),
  selection: describe(v.picklist(ROW_SELECTIONS), "Which rows of the list the export has."),
  complete: field.boolean(
    "True when the job is completed and every row it counts was read. Look at this field first.",
  ),
  expected_rows: field.count(
    "Rows with a result that the filter selects. The number grows while the job runs.",
  ),
  rows_missing: field.count("Rows among them that could not be read."),
  rows_pending: field.count("Addresses of the job without a result yet."),
});

/** The row's submitted text and its cells. */
const OWN = {
  submitted: field.maybeText(
    "The submitted text. `email` holds the address that was read from it.",
  ),
  columns: OWN_COLUMNS,
  elsewhere: ResultRow.entries.elsewhere,
};

const [VERIFIED, ...UNVERIFIED] = ROW_OUTCOMES;

export const VerifiedRow = field.object("A row with its result and its own cells.", {
  ...v.omit(ResultRow, ["cells"]).entries,
  send: describe(
    v.picklist(SEND_ADVICES),
    "Whether to send mail to the address: it follows from `status`.",
  ),
  row_outcome: describe(
    v.optional(v.literal(VERIFIED)),
    "`verified`: the row has a result. Present with `selection=all`.",
  ),
  ...OWN,
});

export const UnverifiedRow = field.object("A row of the list without a result.", {
  row: field.count("The row's number in the submitted list, from 1."),
  row_outcome: describe(
    v.picklist(UNVERIFIED),
    "`pending`: the row has no result yet. `duplicate`: its address is that of the row `duplicate_of`. `skipped`: it holds no address, or several. `not_queued`: it could not be queued and was refunded. `cancelled`: it had no result when the job was cancelled, and was refunded. `missing`: its result cannot be read.",
  ),
  duplicate_of: field.maybeCount("Number of the row with the same address, which has the result."),
  skip_reason: field.maybeText("Code for what is wrong with the email cell."),
  skip_message: field.maybeText("What is wrong with the email cell, in a sentence."),
  ...OWN,
});
