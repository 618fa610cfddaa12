import { Failure } from "../lib/failure.ts";
import type { ExportedRows, ExportSummary } from "./exported-rows.ts";

/** Throws when a stored row is missing: a truncated file must not pass for a complete one. */
export async function* assertComplete(
  { expected }: Pick<ExportSummary, "expected">,
  exported: AsyncIterable<ExportedRows>,
): AsyncGenerator<ExportedRows> {
  for await (const one of exported) {
    if (one.read < one.chunk.rows) throw createShortFailure(expected, one.chunk.rows - one.read);
    yield one;
  }
}

export const createShortFailure = (expected: number, missing: number): Failure => {
  const rows = missing === 1 ? "row" : "rows";
  const what = `${missing} of ${expected} ${rows} cannot be read, which a CSV or a spreadsheet cannot show. Retry in a few seconds, or use format=json, which reports missing rows.`;
  return createUnreadyFailure(what, expected, missing);
};

/** The export is not possible now; the client may request it again. */
export const createUnreadyFailure = (what: string, expected: number, missing: number): Failure =>
  new Failure("NOT_READY", "nothing_charged", what, {
    retryable: true,
    details: { expected_rows: expected, rows_missing: missing },
  });
