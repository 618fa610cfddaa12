import {
  convertSheets,
  type SheetSummary,
} from "@mailproof/core/intake/spreadsheet/convert-sheets";

/** A workbook and the sheets that its list is made of. */
export type Workbook = { readonly file: Blob; readonly sheets: readonly SheetSummary[] };

/** `sheets`: the names of the chosen sheets. Undefined means the first sheet with addresses. */
export const convertSpreadsheet = async (
  file: Blob,
  sheets: readonly string[] | undefined,
): Promise<{ readonly file: Blob; readonly workbook: Workbook }> => {
  const lines: string[] = [];
  const converted = await convertSheets(file, { sheets }, (line) => void lines.push(line));
  return { file: new Blob(lines), workbook: { file, sheets: converted.sheets } };
};
