/** Every cell in quotes: it is read again as it is, and no delimiter has to be guessed. */
export const formatRecord = (cells: readonly string[]): string =>
  `${cells.length === 0 ? '""' : cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(",")}\r\n`;
