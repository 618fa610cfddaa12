import { writeZip, type ZipPart } from "./write-zip.ts";

export const SPREADSHEET_ROWS_MAX = 1_048_576;
const TEXT_LENGTH_MAX = 32_767;

/**
 * Writes an .xlsx file of one sheet (ECMA-376), whose first row is the header. Every cell is a text or a number, so a
 * spreadsheet never runs a formula.
 */
export const writeSpreadsheet = (
  rows: AsyncIterable<readonly string[]>,
): AsyncGenerator<Uint8Array> =>
  writeZip(
    [
      createPart("[Content_Types].xml", CONTENT_TYPES),
      createPart("_rels/.rels", RELATIONS),
      createPart("xl/workbook.xml", WORKBOOK),
      createPart("xl/_rels/workbook.xml.rels", WORKBOOK_RELATIONS),
      createPart("xl/styles.xml", STYLES),
      { name: "xl/worksheets/sheet1.xml", pieces: formatSheet(rows) },
    ],
    "The results are too large for a spreadsheet. Choose CSV.",
  );

const HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const DOCUMENT = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const PACKAGE = "http://schemas.openxmlformats.org/package/2006";
const TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml";

const CONTENT_TYPES = `<Types xmlns="${PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/xl/workbook.xml" ContentType="${TYPE}.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="${TYPE}.worksheet+xml"/><Override PartName="/xl/styles.xml" ContentType="${TYPE}.styles+xml"/></Types>`;
const RELATIONS = `<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" Type="${DOCUMENT}/officeDocument" Target="xl/workbook.xml"/></Relationships>`;
const WORKBOOK = `<workbook xmlns="${MAIN}" xmlns:r="${DOCUMENT}"><sheets><sheet name="Results" sheetId="1" r:id="rId1"/></sheets></workbook>`;
const WORKBOOK_RELATIONS = `<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" Type="${DOCUMENT}/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="${DOCUMENT}/styles" Target="styles.xml"/></Relationships>`;
/** Style 1 has the format "text" (49), so a cell stays a text when a person edits it. */
const STYLES = `<styleSheet xmlns="${MAIN}"><fonts count="1"><font><sz val="11"/><name val="Calibri"/></font></fonts><fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders><cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs><cellXfs count="2"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/><xf numFmtId="49" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/></cellXfs></styleSheet>`;

const createPart = (name: string, text: string): ZipPart => ({ name, pieces: toPieces(text) });

async function* toPieces(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(HEAD + text);
}

const PIECE_LENGTH = 65_536;

async function* formatSheet(rows: AsyncIterable<readonly string[]>): AsyncGenerator<Uint8Array> {
  let text = `${HEAD}<worksheet xmlns="${MAIN}"><sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews><sheetData>`;
  let count = 0;
  for await (const cells of rows) {
    count++;
    if (count > SPREADSHEET_ROWS_MAX)
      throw new Error(
        `A spreadsheet has at most ${SPREADSHEET_ROWS_MAX} rows, and there are more results. Choose CSV.`,
      );
    text += formatRow(cells);
    if (text.length < PIECE_LENGTH) continue;
    yield Buffer.from(text);
    text = "";
  }
  yield Buffer.from(`${text}</sheetData></worksheet>`);
}

const formatRow = (cells: readonly string[]): string =>
  `<row>${cells.map(formatCell).join("")}</row>`;

/** A number that a spreadsheet displays unchanged. It would round a longer one, such as a card or telephone number. */
const NUMBER = /^-?(?:0|[1-9]\d{0,9})(?:\.\d{0,5}[1-9])?$/;

const formatCell = (cell: string): string => {
  if (cell === "") return "<c/>";
  if (NUMBER.test(cell)) return `<c><v>${cell}</v></c>`;
  return `<c t="inlineStr" s="1"><is><t xml:space="preserve">${escapeXml(cell)}</t></is></c>`;
};

const ESCAPES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

const escapeXml = (cell: string): string =>
  cell
    .slice(0, TEXT_LENGTH_MAX)
    .toWellFormed()
    .replaceAll(/_(?=x[\dA-Fa-f]{4}_)/g, "_x005F_")
    .replaceAll(/[&<>]/g, (character) => ESCAPES[character] ?? character)
    // XML 1.0 cannot contain these characters.
    .replaceAll(
      /(?![\t\n])[\p{Cc}\uFFFE\uFFFF]/gu,
      (character) => `_x${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}_`,
    );
