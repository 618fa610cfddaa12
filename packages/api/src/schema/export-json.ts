import { FILTERS } from "@mailproof/core/jobs/export";
import {
  emailOf,
  type ListedRow,
  type ListedRows,
  outcomeOf,
  ROW_OUTCOMES,
  ROW_SELECTIONS,
  type RowSelection,
} from "@mailproof/core/jobs/export-rows";
import type { OwnList } from "@mailproof/core/jobs/own-list";
import * as v from "valibot";
import { Count } from "./common.ts";
import { ResultRow, toRow } from "./jobs.ts";

// The JSON form of an export: what it says of itself, and its rows.

export const ExportFacts = v.object({
  format: v.literal("json"),
  filter: v.picklist(FILTERS),
  rows: v.picklist(ROW_SELECTIONS),
  /** The job is completed, and every row that it counts is here: those that the filter lets through. */
  complete: v.boolean(),
  expected_rows: Count,
  rows_missing: Count,
  rows_pending: Count,
});

export type ExportFacts = v.InferOutput<typeof ExportFacts>;

/** What stood in the list. */
const OWN = {
  submitted: v.optional(v.string()),
  columns: v.optional(v.record(v.string(), v.string())),
};

const [VERIFIED, ...UNVERIFIED] = ROW_OUTCOMES;

export const VerifiedRow = v.object({
  ...ResultRow.entries,
  row_outcome: v.optional(v.literal(VERIFIED)),
  ...OWN,
});

export const UnverifiedRow = v.object({
  row: Count,
  row_outcome: v.picklist(UNVERIFIED),
  duplicate_of: v.optional(Count),
  skip_reason: v.optional(v.string()),
  skip_message: v.optional(v.string()),
  ...OWN,
});

export type ExportRow = v.InferOutput<typeof VerifiedRow> | v.InferOutput<typeof UnverifiedRow>;

export const toExportRow = (
  list: OwnList,
  listed: ListedRow,
  selection: RowSelection,
): ExportRow => {
  const [own, result] = listed;
  const email = emailOf(listed);
  const submitted = list.textOf(own, email);
  const ownFields = {
    ...(submitted !== undefined && { submitted }),
    ...(list.columns.length > 0 && { columns: columnsOf(list, list.cellsOf(own, email)) }),
  };
  if (typeof result !== "string") {
    const said = selection === "all" ? { row_outcome: VERIFIED } : {};
    return { ...toRow(result), ...said, ...ownFields };
  }
  const { row, outcome, exclusion } = outcomeOf(listed);
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

/** A cell beyond the last column is called by its place, such as column_9. */
const columnsOf = ({ fieldNames }: OwnList, cells: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    Array.from({ length: Math.max(cells.length, fieldNames.length) }, (_, at) => [
      fieldNames[at] ?? `column_${at + 1}`,
      cells[at] ?? "",
    ]),
  );

/** The inline form, piece by piece. */
export async function* jsonOf(
  facts: ExportFacts,
  listed: AsyncIterable<ListedRows>,
): AsyncGenerator<string> {
  let text = `${JSON.stringify(facts).slice(0, -1)},"results":[`;
  let isFirst = true;
  for await (const { list, rows } of listed) {
    for (const row of rows) {
      text += `${isFirst ? "" : ","}\n${JSON.stringify(toExportRow(list, row, facts.rows))}`;
      isFirst = false;
    }
    yield text;
    text = "";
  }
  yield `${text}\n]}\n`;
}
