import { formatRecord } from "@mailproof/core/intake/spreadsheet/csv-record";
import { readSpreadsheet } from "@mailproof/core/intake/spreadsheet/read-spreadsheet";

export const convertSpreadsheet = async (file: Blob): Promise<Blob> => {
  const lines: string[] = [];
  await readSpreadsheet(file, (cells) => void lines.push(formatRecord(cells)));
  return new Blob(lines);
};
