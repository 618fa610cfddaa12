import { isAscii } from "@mailproof/mail/syntax";

/**
 * Formats one record with its line end (RFC 4180). A cell that a spreadsheet would run as a formula gets a leading '; so do
 * addresses, since =cmd@example.com is one. The JSON export leaves every cell unchanged.
 */
export const formatCsvRecord = (cells: readonly string[], delimiter = ","): string => {
  // An empty line would not be a record.
  if (cells.length === 1 && cells[0] === "") return '""\r\n';
  let line = "";
  for (let index = 0; index < cells.length; index++)
    line += `${index === 0 ? "" : delimiter}${formatCell(cells[index] ?? "", delimiter)}`;
  return `${line}\r\n`;
};

/** A list of one column has no delimiter, but its export has several columns. */
export const getDelimiter = (listDelimiter: string): string => listDelimiter || ",";

/** Spreadsheets assume another encoding without this mark. */
const BYTE_ORDER_MARK = "\uFEFF";

export const formatHeader = (
  names: readonly string[],
  delimiter: string,
  isListAscii: boolean,
): string => {
  const header = formatCsvRecord(names, delimiter);
  return isListAscii && isAscii(header) ? header : BYTE_ORDER_MARK + header;
};

/** A row may be shorter than its list's header. Cells beyond the header move to the end of the row. */
export const joinCells = (
  width: number,
  listCells: readonly string[],
  resultCells: readonly string[],
): readonly string[] => {
  if (listCells.length === width) return listCells.concat(resultCells);
  const blanks = Array.from({ length: Math.max(0, width - listCells.length) }, () => "");
  return listCells.slice(0, width).concat(blanks, resultCells, listCells.slice(width));
};

// Spreadsheets also accept full-width signs.
const FORMULA = /^[=@\t\r\n＝＠]/;
const SIGN = /^[+\-＋－]/;

/** A placeholder such as - or -- is no formula. */
const SIGNS_ALONE = /^[+\-＋－\s]+$/;
/** A number with any country's separators is no formula: -1,234.50 and -1.234,50 and +5 % and -1e5. */
const NUMBER = /^[+-](?:\d[\d.,' \u00a0\u202f]*|[.,]\d+)(?:e[+-]?\d{1,3})?\s?%?$/i;
/** A telephone number is no formula: + and 7 to 15 digits (E.164), grouped, with an extension. Fewer might be a sum: +1-1. */
const PHONE_NUMBER =
  /^\+(?:[ ().\-/\u00a0\u2011]*\d){7,15}\)?(?:\s*(?:ext\.?|x|#|;ext=)\s*\d{1,7})?\s*$/i;

const isFormula = (cell: string): boolean =>
  FORMULA.test(cell) ||
  (SIGN.test(cell) && !SIGNS_ALONE.test(cell) && !NUMBER.test(cell) && !PHONE_NUMBER.test(cell));

export const removeFormulaGuard = (cell: string): string =>
  cell.startsWith("'") && isFormula(cell.slice(1)) ? cell.slice(1) : cell;

// Quotes for all delimiters: a spreadsheet that splits at ";" would run x;=1+1 as a formula. Also for spaces at either end,
// since some readers trim them.
const NEEDS_QUOTES = /[",;|\t\r\n]|^\s|\s$/;

const formatCell = (cell: string, delimiter: string): string => {
  const safe = isFormula(cell) ? `'${cell}` : cell;
  return NEEDS_QUOTES.test(safe) || safe.includes(delimiter)
    ? `"${safe.replaceAll('"', '""')}"`
    : safe;
};
