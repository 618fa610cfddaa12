/**
 * One record with its line end (RFC 4180). A cell that a spreadsheet would run as a formula begins with ' here;
 * that holds for addresses too, since =cmd@example.com is one. Whoever needs them exact takes the JSON.
 */
export const csvLine = (cells: readonly string[]): string =>
  // A line with nothing in it would be no record.
  cells.length === 1 && cells[0] === "" ? '""\r\n' : `${cells.map(writeCell).join(",")}\r\n`;

// Spreadsheets take the full-width signs, too.
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/;
// The other delimiters as well: where a spreadsheet splits at ";", x;=1+1 would become a formula. Blanks at an
// end, since some readers trim them.
const TO_QUOTE = /[",;|\t\r\n]|^\s|\s$/;

const writeCell = (cell: string): string => {
  const safe = FORMULA.test(cell) ? `'${cell}` : cell;
  return TO_QUOTE.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};
