import { writeZip } from "@mailproof/core/exports/write-zip";

type Rows = readonly (readonly string[])[];

const RELATION = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet";

const escapeXml = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

const toSheet = (rows: Rows): string => {
  const lines = rows.map(
    (cells) =>
      `<row>${cells.map((cell) => `<c t="inlineStr"><is><t>${escapeXml(cell)}</t></is></c>`).join("")}</row>`,
  );
  return `<worksheet><sheetData>${lines.join("")}</sheetData></worksheet>`;
};

async function* toPieces(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

/** An .xlsx file with these sheets, in their order. */
export const createWorkbook = async (sheets: Readonly<Record<string, Rows>>): Promise<Buffer> => {
  const names = Object.keys(sheets);
  const entries = names.map((name, at) => `<sheet name="${escapeXml(name)}" r:id="rId${at}"/>`);
  const targets = names.map(
    (_, at) => `<Relationship Id="rId${at}" Type="${RELATION}" Target="worksheets/${at}.xml"/>`,
  );
  const parts = {
    "xl/workbook.xml": `<workbook xmlns:r="r"><sheets>${entries.join("")}</sheets></workbook>`,
    "xl/_rels/workbook.xml.rels": `<Relationships>${targets.join("")}</Relationships>`,
    ...Object.fromEntries(
      Object.values(sheets).map((rows, at) => [`xl/worksheets/${at}.xml`, toSheet(rows)]),
    ),
  };
  const files = Object.entries(parts).map(([name, text]) => ({ name, pieces: toPieces(text) }));
  return Buffer.concat(await Array.fromAsync(writeZip(files)));
};

/** A cover sheet, and three lists whose columns have other names and places. */
export const createSheets = (domain: string) => ({
  Cover: [["Customers of 2026"], ["Questions?", `office@${domain}`], ["Printed in May"], ["-"]],
  Berlin: [
    ["name", "E-Mail"],
    ["Ann", `ann@${domain}`],
    ["Bob", `bob@${domain}`],
  ],
  Paris: [
    ["Courriel", "Name", "city"],
    [`cy@${domain}`, "Cy", "Paris"],
    [`ann@${domain}`, "Ann", "Lyon"],
  ],
  Notes: [["n"], ["1"]],
});
