import { formatRecord } from "@mailproof/core/intake/spreadsheet/csv-record";
import { readSpreadsheet } from "@mailproof/core/intake/spreadsheet/read-spreadsheet";

/** Converts the first visible sheet of an .xlsx file to CSV, with the command line's reader. */
export const convertSpreadsheet = async (file: Blob): Promise<Blob> => {
  const lines: string[] = [];
  await readSpreadsheet(file, (cells) => void lines.push(formatRecord(cells)));
  return new Blob(lines);
};
