/** Quotes every cell, so that the CSV reader returns the same cells and need not guess a delimiter. */
export const formatRecord = (cells: readonly string[]): string =>
  `${cells.length === 0 ? '""' : cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(",")}\r\n`;
