import { formatCsvRecord, formatHeader, getDelimiter } from "./csv.ts";
import { listExportColumns, toExportCells } from "./export-cells.ts";
import type { ListedRows, RowSelection } from "./export-rows.ts";

export type CsvExportOptions = {
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
