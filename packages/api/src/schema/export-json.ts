import {
  getEmail,
  type ListedRow,
  type ListedRows,
  ROW_OUTCOMES,
  ROW_SELECTIONS,
  type RowSelection,
  toRowOutcome,
} from "@mailproof/core/exports/export-rows";
import { EXPORT_FILTERS } from "@mailproof/core/exports/exported-rows";
import type { SourceList } from "@mailproof/core/exports/source-list";
import * as v from "valibot";
import { Count, describe } from "./common.ts";
import { ResultRow, toRow } from "./jobs.ts";

// The JSON form of an export: its metadata and its rows.

export const ExportMetadata = v.object({
  format: describe(v.literal("json"), "The format of the export."),
  filter: describe(v.picklist(EXPORT_FILTERS), "Which results the export has."),
  rows: describe(v.picklist(ROW_SELECTIONS), "Which rows of the list the export has."),
  complete: describe(
    v.boolean(),
    "True when the job is completed and every row it counts was read. Look at this field first.",
  ),
  expected_rows: describe(
    Count,
    "Rows with a result that the filter selects. The number grows while the job runs.",
  ),
  rows_missing: describe(Count, "Rows among them that could not be read."),
  rows_pending: describe(Count, "Addresses of the job without a result yet."),
});

export type ExportMetadata = v.InferOutput<typeof ExportMetadata>;

/** The row's own text and cells. */
const OWN = {
  submitted: describe(
    v.optional(v.string()),
    "The submitted text. `email` holds the address that was read from it.",
  ),
  columns: describe(
    v.optional(v.record(v.string(), v.string())),
    "The cells of the row, by the names of the list's columns.",
  ),
};

const [VERIFIED, ...UNVERIFIED] = ROW_OUTCOMES;

export const VerifiedRow = describe(
  v.object({
    ...ResultRow.entries,
    row_outcome: describe(
      v.optional(v.literal(VERIFIED)),
      "`verified`: the row has a result. Present with `rows=all`.",
    ),
    ...OWN,
  }),
  "A row with its result and its own cells.",
);

export const UnverifiedRow = describe(
  v.object({
    row: describe(Count, "The row's number in the submitted list, from 1."),
    row_outcome: describe(
      v.picklist(UNVERIFIED),
      "`pending`: the row has no result yet. `duplicate`: its address is that of the row `duplicate_of`. `skipped`: it holds no address, or several. `not_queued`: it could not be queued and was refunded. `cancelled`: it had no result when the job was cancelled, and was refunded. `missing`: its result cannot be read.",
    ),
    duplicate_of: describe(
      v.optional(Count),
      "Number of the row with the same address, which has the result.",
    ),
    skip_reason: describe(v.optional(v.string()), "Code for what is wrong with the email cell."),
    skip_message: describe(
      v.optional(v.string()),
      "What is wrong with the email cell, in a sentence.",
    ),
    ...OWN,
  }),
  "A row of the list without a result.",
);

export type ExportRow = v.InferOutput<typeof VerifiedRow> | v.InferOutput<typeof UnverifiedRow>;

export const toExportRow = (
  list: SourceList,
  listed: ListedRow,
  selection: RowSelection,
): ExportRow => {
  const [own, result] = listed;
  const email = getEmail(listed);
  const submitted = list.getEmailCell(own, email);
  const ownFields = {
    ...(submitted !== undefined && { submitted }),
    ...(list.columns.length > 0 && { columns: toColumns(list, list.getCells(own, email)) }),
  };
  if (typeof result !== "string") {
    const ownOutcome = selection === "all" ? { row_outcome: VERIFIED } : {};
    return { ...toRow(result), ...ownOutcome, ...ownFields };
  }
  const { row, outcome, exclusion } = toRowOutcome(listed);
  const { duplicateOf, reason, message } = exclusion ?? {};
  return {
    row,
    row_outcome: outcome === VERIFIED ? "missing" : outcome,
    ...(typeof duplicateOf === "number" && { duplicate_of: duplicateOf }),
    ...(reason && { skip_reason: reason }),
    ...(message && { skip_message: message }),
    ...ownFields,
  };
};

/** A cell beyond the last column is named by its number, such as column_9. */
const toColumns = ({ fieldNames }: SourceList, cells: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    Array.from({ length: Math.max(cells.length, fieldNames.length) }, (_, at) => [
      fieldNames[at] ?? `column_${at + 1}`,
      cells[at] ?? "",
    ]),
  );

/** The inline form, as a stream. */
export async function* formatJson(
  metadata: ExportMetadata,
  listed: AsyncIterable<ListedRows>,
): AsyncGenerator<string> {
  let text = `${JSON.stringify(metadata).slice(0, -1)},"results":[`;
  let isFirst = true;
  for await (const { list, rows } of listed) {
    for (const row of rows) {
      text += `${isFirst ? "" : ","}\n${JSON.stringify(toExportRow(list, row, metadata.rows))}`;
      isFirst = false;
    }
    yield text;
    text = "";
  }
  yield `${text}\n]}\n`;
}
