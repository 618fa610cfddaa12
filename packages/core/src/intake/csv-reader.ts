import { type ByteText, toText, truncateBytes } from "./byte-text.ts";

/** Reads the next part of the text and returns the records that it completes. Blank lines are not records. */
export type CsvReader = (text: ByteText, isLast: boolean) => readonly (readonly ByteText[])[];

const CELL_LENGTH_MAX = 65_536;

/** Some rows have a thousand columns, and a spreadsheet has 16,384; a longer line is not a row. */
const RECORD_LENGTH_MAX = 524_288;
const RECORD_CELLS_MAX = 16_384;

/** Each stray quote costs a scan as long as a cell. After 16 stray quotes, quoted cells no longer span lines. */
const STRAY_QUOTES_MAX = 16;

const LF = 10;
const CR = 13;
const QUOTE = 34;
const TAB = 9;
const SPACE = 32;
const NO_SEPARATOR = -1;

/**
 * Reads RFC 4180 and common deviations: any line end, spaces around quotes, quotes inside plain cells. A quote that never
 * closes is an ordinary character, and its record ends with its line. A record that is too long is returned without cells,
 * because half of an address may be another valid address.
 */
export const createCsvReader = (delimiter: string): CsvReader => {
  const separator = delimiter === "" ? NO_SEPARATOR : delimiter.charCodeAt(0);
  let pending = "";
  let strayQuotes = 0;
  let isSkipping = false;

  const readNext = (text: string, from: number, isLast: boolean): CsvRecord | "unfinished" => {
    const isSpanning = strayQuotes < STRAY_QUOTES_MAX;
    const read = readRecord({ text, separator, isLast, isSpanning }, from);
    if (read !== "stray") return read;
    const line = readRecord({ text, separator, isLast, isSpanning: false }, from);
    if (typeof line === "string") return "unfinished";
    strayQuotes += 1;
    return line;
  };

  return (more, isLast) => {
    const text = pending + more;
    let readFast = createFastReader(text, delimiter, separator);
    const records: (readonly string[])[] = [];
    let at = isSkipping ? findLineEnd(text, 0) : 0;
    if (at < text.length) isSkipping = false;
    while (at < text.length) {
      if (isCellEnd(text.charCodeAt(at), NO_SEPARATOR)) {
        at += 1;
        continue;
      }
      const strayQuotesBefore = strayQuotes;
      const read = readFast(at, strayQuotes < STRAY_QUOTES_MAX) ?? readNext(text, at, isLast);
      // The reader reads the apparently quoted text again line by line, so the found positions are too far ahead.
      if (strayQuotes > strayQuotesBefore) readFast = createFastReader(text, delimiter, separator);
      if (read === "unfinished") break;
      if (!isBlankRecord(read.cells, text, at)) records.push(read.cells);
      at = read.end;
      // Only a record that is too long ends without a line end.
      isSkipping = at === text.length && !isCellEnd(text.charCodeAt(at - 1), NO_SEPARATOR);
    }
    pending = text.slice(at);
    if (pending.length > RECORD_LENGTH_MAX) {
      records.push([]);
      pending = "";
      isSkipping = true;
    }
    return records;
  };
};

/** Short enough that neither the size of a cell nor the number of cells can exceed its limit. */
const FAST_RECORD_LENGTH_MAX = RECORD_CELLS_MAX - 1;

/**
 * Fast path for records as programs write them: a cell is quoted completely, or has no quotes. Searching for the end of a cell
 * is faster than reading each character; the reader reuses a found position until it has passed it, so it searches nothing
 * twice. Null when the record needs the full parser, or is incomplete.
 */
const createFastReader = (text: string, delimiter: string, separator: number) => {
  let [quote, lf, cr] = [-1, -1, -1];
  let next = delimiter === "" ? text.length : -1;
  return (from: number, isSpanning: boolean): CsvRecord | null => {
    const cells: string[] = [];
    for (let at = from; ; ) {
      if (quote < at) quote = findOrEnd('"', text, at);
      let end: number;
      if (quote === at) {
        if (!isSpanning) return null;
        const closing = scanClosingQuote(text, at);
        const inside = text.slice(at + 1, closing.at);
        cells.push(closing.hasQuotes ? inside.replaceAll('""', '"') : inside);
        // The next search for quotes always starts at the end of this record.
        quote = at;
        end = closing.at + 1;
      } else {
        if (next < at) next = findOrEnd(delimiter, text, at);
        if (lf < at) lf = findOrEnd("\n", text, at);
        if (cr < at) cr = findOrEnd("\r", text, at);
        end = Math.min(next, lf, cr);
        if (quote < end) return null;
        cells.push(text.slice(at, end));
      }
      if (end >= text.length || end - from > FAST_RECORD_LENGTH_MAX) return null;
      const code = text.charCodeAt(end);
      if (code === LF || code === CR) return { cells, end: end + 1 };
      if (code !== separator) return null;
      at = end + 1;
    }
  };
};

/** Finds the quote that closes this opening quote, or the end of the text, and whether quotes occur between. */
const scanClosingQuote = (text: string, opening: number) => {
  let at = findOrEnd('"', text, opening + 1);
  let hasQuotes = false;
  for (; text.charCodeAt(at + 1) === QUOTE; at = findOrEnd('"', text, at + 2)) hasQuotes = true;
  return { at, hasQuotes };
};

const findOrEnd = (character: string, text: string, from: number): number => {
  const at = text.indexOf(character, from);
  return at < 0 ? text.length : at;
};

type CsvSource = {
  readonly text: string;
  readonly separator: number;
  readonly isLast: boolean;
  readonly isSpanning: boolean;
};

type CsvRecord = { readonly cells: readonly string[]; readonly end: number };

/** Returns "stray" only if a quoted cell may span lines. */
const readRecord = (source: CsvSource, from: number): CsvRecord | "unfinished" | "stray" => {
  const { text, separator, isLast } = source;
  const cells: string[] = [];
  for (let at = from; ; ) {
    const opening = findOpeningQuote(text, at, separator);
    const quoted = opening < 0 ? null : readQuoted(source, at, opening);
    if (quoted === "unfinished" || quoted === "stray") return quoted;
    if (cells.length === RECORD_CELLS_MAX) return { cells: [], end: findLineEnd(text, at) };
    const end = quoted?.end ?? findPlainEnd(text, at, separator);
    cells.push(quoted?.cell ?? sliceCell(text, at, end));

    if (end >= text.length) return isLast ? { cells, end } : "unfinished";
    const code = text.charCodeAt(end);
    if (code === separator) at = end + 1;
    // The next call reads the line feed after a carriage return as a blank line.
    else return { cells, end: end + 1 };
  }
};

type QuotedCell = { readonly cell: string; readonly end: number };

/** Reads a quoted cell. Null when the quote is an ordinary character. */
const readQuoted = (
  source: CsvSource,
  from: number,
  opening: number,
): QuotedCell | "unfinished" | "stray" | null => {
  const { text, separator, isSpanning } = source;
  const closing = findClosingQuote(source, opening);
  if (closing === "unfinished") return closing;
  if (closing === "stray") return isSpanning ? closing : null;

  const inside = text.slice(opening + 1, closing);
  const end = skipBlanks(text, closing + 1, separator);
  if (end === text.length || isCellEnd(text.charCodeAt(end), separator)) {
    const cell = inside.includes('""') ? inside.replaceAll('""', '"') : inside;
    return { cell: truncateBytes(CELL_LENGTH_MAX, cell), end };
  }
  // Text follows the quote. If the cell spans lines, the quote opens another cell instead of closing this cell.
  if (LINE_BREAK.test(inside)) return "stray";
  // Within one line the cell is not quoted, such as "john doe"@example.com.
  const cellEnd = findPlainEnd(text, end, separator);
  return { cell: sliceCell(text, from, cellEnd), end: cellEnd };
};

const sliceCell = (text: ByteText, from: number, end: number): ByteText =>
  truncateBytes(CELL_LENGTH_MAX, text.slice(from, end));

const LINE_BREAK = /[\r\n]/;

const findClosingQuote = (source: CsvSource, opening: number): number | "unfinished" | "stray" => {
  const { text, isLast, isSpanning } = source;
  let hasBreak = false;
  for (let at = opening + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      if (text.charCodeAt(at + 1) !== QUOTE) return at;
      at += 1;
    } else if (code === LF || code === CR) {
      if (!isSpanning) return "stray";
      hasBreak = true;
    }
    if (hasBreak && at - opening > CELL_LENGTH_MAX) return "stray";
  }
  return isLast ? "stray" : "unfinished";
};

/** Finds the quote at the beginning of a cell, after optional spaces; -1 when the cell starts otherwise. */
const findOpeningQuote = (text: string, from: number, separator: number): number => {
  const first = text.charCodeAt(from);
  if (first === QUOTE) return from;
  if (first !== SPACE && first !== TAB) return -1;
  const at = skipBlanks(text, from, separator);
  return text.charCodeAt(at) === QUOTE ? at : -1;
};

const skipBlanks = (text: string, from: number, separator: number): number => {
  let at = from;
  for (; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if ((code !== SPACE && code !== TAB) || code === separator) break;
  }
  return at;
};

const findPlainEnd = (text: string, from: number, separator: number): number => {
  let at = from;
  while (at < text.length && !isCellEnd(text.charCodeAt(at), separator)) at += 1;
  return at;
};

const isCellEnd = (code: number, separator: number): boolean =>
  code === separator || code === LF || code === CR;

const findLineEnd = (text: string, from: number): number => findPlainEnd(text, from, NO_SEPARATOR);

/** The line "" is a record with one empty cell; a line of white space is not a record. */
const isBlankRecord = (cells: readonly string[], text: string, from: number): boolean =>
  cells.length === 1 &&
  toText(cells[0] ?? "").trim() === "" &&
  findOpeningQuote(text, from, NO_SEPARATOR) < 0;
