import { listExportColumns, toExportCells } from "./export-cells.ts";
import type { ListedRows, RowSelection } from "./export-rows.ts";
import { writeSpreadsheet } from "./write-spreadsheet.ts";

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
