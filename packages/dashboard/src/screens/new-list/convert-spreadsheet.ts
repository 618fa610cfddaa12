import { formatRecord } from "@mailproof/core/intake/spreadsheet/csv-record";
import { readSpreadsheet } from "@mailproof/core/intake/spreadsheet/read-spreadsheet";

/** The first visible sheet of an .xlsx file as CSV, by the reader that the command line uses. */
export const convertSpreadsheet = async (file: Blob): Promise<Blob> => {
  const lines: string[] = [];
  await readSpreadsheet(file, (cells) => void lines.push(formatRecord(cells)));
  return new Blob(lines);
};
