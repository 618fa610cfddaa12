import { readAttribute } from "@mailproof/mail/lib/scan-xml";
import { openZip, ZipFault, type ZipFile } from "../../lib/zip.ts";
import { type CellFormats, formatSerialDate, readCellFormats } from "./cell-formats.ts";
import {
  createDamagedFault,
  createTooLargeFault,
  fromZipFault,
  SpreadsheetFault,
} from "./fault.ts";
import { scanXml } from "./scan-xml.ts";

// Reads the visible sheets of an .xlsx file (ECMA-376) as rows of texts, one row at a time. It runs nothing: a formula
// yields its stored result.

const SMALL_PART_BYTES_MAX = 16_000_000;
const TEXTS_BYTES_MAX = 128_000_000;
const SHEET_BYTES_MAX = 1_000_000_000;
/** A million cells may show one text of a few bytes. */
const ROWS_LENGTH_MAX = 500_000_000;
const COLUMNS_MAX = 16_384;
/** The row limit of spreadsheet programs. ECMA-376 has none, and a larger row number would write empty rows up to it. */
const ROWS_MAX = 1_048_576;

export type Workbook = {
  /** The names of the visible sheets; at least one. */
  readonly sheets: readonly string[];
  /**
   * Calls `write` with each row from the first row with cells on. Empty rows in between have no cells. Returns how many formulas
   * have no stored result.
   */
  readonly read: (sheet: string, write: WriteRow) => Promise<number>;
};

export type WriteRow = (cells: readonly string[]) => void;

export const openWorkbook = (file: Blob): Promise<Workbook> =>
  openZip(file).then(readParts).catch(rethrowZipFault);

const rethrowZipFault = (error: unknown): never => {
  throw error instanceof ZipFault ? fromZipFault(error) : error;
};

const readParts = async (zip: ZipFile): Promise<Workbook> => {
  if (!zip.names.includes(WORKBOOK))
    throw new SpreadsheetFault("the file is a zip archive and no .xlsx. Save it as .xlsx or CSV");
  const { sheets, isFrom1904 } = await readWorkbook(zip);
  const targets = await readTargets(zip);
  const visible = sheets.filter(({ id, isVisible }) => isVisible && targets.has(id));
  if (visible.length === 0) throw createDamagedFault("it has no sheet");
  const formats = zip.names.includes(STYLES)
    ? await readCellFormats(zip.read(STYLES, SMALL_PART_BYTES_MAX))
    : [];
  const texts = zip.names.includes(TEXTS) ? await readTexts(zip) : [];
  return {
    sheets: visible.map(({ name }) => name),
    read: (name, write) => {
      const id = visible.find((sheet) => sheet.name === name)?.id ?? "";
      const bytes = zip.read(targets.get(id) ?? "", SHEET_BYTES_MAX);
      return readSheet(bytes, { texts, formats, isFrom1904 }, write).catch(rethrowZipFault);
    },
  };
};

const WORKBOOK = "xl/workbook.xml";
const STYLES = "xl/styles.xml";
const TEXTS = "xl/sharedStrings.xml";
const RELATIONS = "xl/_rels/workbook.xml.rels";

type Sheet = { readonly id: string; readonly name: string; readonly isVisible: boolean };

const readWorkbook = async (zip: ZipFile) => {
  const sheets: Sheet[] = [];
  let isFrom1904 = false;
  await scanXml(zip.read(WORKBOOK, SMALL_PART_BYTES_MAX), {
    open: (name, tag) => {
      if (name === "workbookPr")
        isFrom1904 = ["1", "true"].includes(readAttribute(tag, "date1904") ?? "");
      if (name !== "sheet") return;
      sheets.push({
        id: readRelationId(tag),
        name: readAttribute(tag, "name") ?? "",
        isVisible: (readAttribute(tag, "state") ?? "visible") === "visible",
      });
    },
    close: () => {},
    text: () => {},
  });
  return { sheets, isFrom1904 };
};

/** The file's writer chooses the prefix, which is nearly always `r`. */
const readRelationId = (tag: string): string => {
  const name = /\s([\w.-]+:id)=/.exec(tag)?.[1];
  return (name === undefined ? undefined : readAttribute(tag, name)) ?? "";
};

const readTargets = async (zip: ZipFile): Promise<ReadonlyMap<string, string>> => {
  const targets = new Map<string, string>();
  await scanXml(zip.read(RELATIONS, SMALL_PART_BYTES_MAX), {
    open: (_name, tag) => {
      const isSheet = readAttribute(tag, "Type")?.endsWith("/worksheet") === true;
      if (!isSheet || readAttribute(tag, "TargetMode") === "External") return;
      const target = readAttribute(tag, "Target") ?? "";
      const part = target.startsWith("/") ? target.slice(1) : `xl/${target}`;
      targets.set(readAttribute(tag, "Id") ?? "", part);
    },
    close: () => {},
    text: () => {},
  });
  return targets;
};

const readTexts = async (zip: ZipFile): Promise<readonly string[]> => {
  const texts: string[] = [];
  const text = createTextCollector();
  await scanXml(zip.read(TEXTS, TEXTS_BYTES_MAX), {
    open: text.open,
    close: (name) => {
      text.close(name);
      if (name === "si") texts.push(text.take());
    },
    text: text.add,
  });
  return texts;
};

/** Spreadsheet programs write at most 32,767 characters into a cell. */
const TEXT_LENGTH_MAX = 1_000_000;

const append = (text: string, more: string): string => {
  if (text.length + more.length > TEXT_LENGTH_MAX) throw createTooLargeFault("a cell");
  return text + more;
};

/** Collects the text of a cell, whose parts have their own formats, without the reading aid (rPh). */
const createTextCollector = () => {
  let text = "";
  let isInText = false;
  let isInAid = false;
  return {
    open: (name: string) => {
      if (name === "rPh") isInAid = true;
      if (name === "t") isInText = true;
    },
    close: (name: string) => {
      if (name === "rPh") isInAid = false;
      if (name === "t") isInText = false;
    },
    add: (more: string) => {
      if (isInText && !isInAid) text = append(text, more);
    },
    take: () => {
      const taken = decodeEscapes(text);
      text = "";
      return taken;
    },
  };
};

/** XML writes a character that it cannot contain as _x000D_ (ST_Xstring). */
const decodeEscapes = (text: string): string =>
  text.includes("_x")
    ? text.replaceAll(/_x([\dA-Fa-f]{4})_/g, (_, hex: string) =>
        String.fromCharCode(Number.parseInt(hex, 16)),
      )
    : text;

type SheetContext = {
  readonly texts: readonly string[];
  readonly formats: CellFormats;
  readonly isFrom1904: boolean;
};

const readSheet = async (
  bytes: AsyncIterable<Uint8Array>,
  context: SheetContext,
  write: WriteRow,
): Promise<number> => {
  const rows = createRowWriter(write);
  const inline = createTextCollector();
  let [isInRow, isInValue, hasFormula] = [false, false, false];
  let tag = "";
  let value = "";
  let column = -1;
  let formulasWithoutResult = 0;
  await scanXml(bytes, {
    open: (name, opened) => {
      inline.open(name);
      if (name === "row") {
        isInRow = true;
        column = -1;
        rows.begin(readAttribute(opened, "r"));
      }
      if (name === "c") {
        [tag, value, hasFormula] = [opened, "", false];
        column = readColumn(readAttribute(opened, "r")) ?? column + 1;
      }
      if (name === "v") isInValue = true;
      if (name === "f") hasFormula = true;
    },
    close: (name) => {
      inline.close(name);
      if (name === "v") isInValue = false;
      if (name === "c" && isInRow) {
        const text = toCellText(tag, value, inline.take(), context);
        if (hasFormula && text === "") formulasWithoutResult++;
        rows.add(column, text);
      }
      if (name !== "row") return;
      isInRow = false;
      rows.end();
    },
    text: (text) => {
      inline.add(text);
      if (isInValue) value = append(value, text);
    },
  });
  return formulasWithoutResult;
};

const createRowWriter = (write: WriteRow) => {
  let cells: string[] = [];
  let row = 0;
  let written = 0;
  let length = 0;
  const writeCounted = (more: readonly string[]) => {
    length += more.reduce((sum, cell) => sum + cell.length + 3, 2);
    if (length > ROWS_LENGTH_MAX) throw createTooLargeFault("its cells");
    write(more);
  };
  return {
    begin: (number: string | undefined) => {
      cells = [];
      const next = number === undefined ? row + 1 : Number(number);
      if (!(next > row && next <= ROWS_MAX && Number.isSafeInteger(next)))
        throw createDamagedFault(`row ${number}`);
      row = next;
    },
    add: (column: number, text: string) => {
      if (column >= COLUMNS_MAX) throw createDamagedFault(`column ${column + 1}`);
      if (text === "") return;
      while (cells.length < column) cells.push("");
      cells[column] = text;
    },
    end: () => {
      if (cells.length === 0) return;
      // Writes empty rows in between, so that a row keeps the number that the spreadsheet shows.
      for (; written > 0 && written < row - 1; written++) writeCounted([]);
      writeCounted(cells);
      written = row;
    },
  };
};

/** Reads the letters of a reference such as AB12; A is 0. */
const readColumn = (reference: string | undefined): number | undefined => {
  const letters = /^[A-Z]{1,3}/.exec(reference ?? "")?.[0];
  if (letters === undefined) return undefined;
  let column = 0;
  for (const letter of letters) column = column * 26 + letter.charCodeAt(0) - 64;
  return column - 1;
};

const toCellText = (
  tag: string,
  value: string,
  inline: string,
  { texts, formats, isFrom1904 }: SheetContext,
): string => {
  const type = readAttribute(tag, "t") ?? "n";
  if (type === "inlineStr") return inline;
  if (type === "s") {
    const text = texts[Number(value)];
    if (value !== "" && text === undefined) throw createDamagedFault(`the text ${value}`);
    return text ?? "";
  }
  if (type === "str") return decodeEscapes(value);
  if (type === "b") return value === "1" ? "TRUE" : "FALSE";
  if (type !== "n" || value === "") return value;
  const number = Number(value);
  const isDate = formats[Number(readAttribute(tag, "s") ?? 0)] === "date";
  const date = isDate ? formatSerialDate(number, isFrom1904) : undefined;
  return date ?? (Number.isFinite(number) ? String(number) : value);
};
