import { formatRecord } from "@mailproof/core/intake/spreadsheet/csv-record";
import { readSpreadsheet } from "@mailproof/core/intake/spreadsheet/read-spreadsheet";
import { openZipBlob } from "./zip-blob.ts";

/** The first visible sheet of an .xlsx file as CSV, by the reader that the command line uses. */
export const convertSpreadsheet = async (file: Blob): Promise<Blob> => {
  const lines: string[] = [];
  const zip = await openZipBlob(file);
  await readSpreadsheet(zip, (cells) => void lines.push(formatRecord(cells)));
  return new Blob(lines);
};
