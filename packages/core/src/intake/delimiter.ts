import { type ByteText, toText } from "./byte-text.ts";
import { countWithAddress } from "./columns.ts";
import { createCsvReader } from "./csv-reader.ts";

export type SampleRows = readonly (readonly string[])[];

/** The empty delimiter means that the list has one column: its lines are not split. */
const DELIMITERS = ["", ",", ";", "\t", "|"] as const;
const SAMPLE_ROWS_MAX = 200;

/** Reads the first rows of a head, without a truncated last row, unless it is the only row. */
export const readSample = (head: ByteText, delimiter: string, isWhole: boolean): SampleRows => {
  const found = firstRows(head, delimiter, isWhole);
  return found.length > 0 ? found : firstRows(head, delimiter, true);
};

/** The length of the first step. A head has thousands of rows, and reading all of them five times would block the thread. */
const SAMPLE_STEP_LENGTH = 8_192;

const firstRows = (head: ByteText, delimiter: string, isWhole: boolean): SampleRows => {
  const read = createCsvReader(delimiter);
  const found: (readonly string[])[] = [];
  // Every step is twice as long as the step before, because each step reads an incomplete row again.
  for (let from = 0, to = SAMPLE_STEP_LENGTH; from < head.length; from = to, to *= 2) {
    const more = read(head.slice(from, to), isWhole && to >= head.length);
    found.push(...more.map((cells) => cells.map(toText)));
    if (found.length >= SAMPLE_ROWS_MAX) break;
  }
  return found.slice(0, SAMPLE_ROWS_MAX);
};

const SEP_LINE = /^\s*"?sep=([^"\r\n\x80-\xff])"?(?:\r\n|\r|\n|$)/i;

/** Removes the `sep=` line, which declares the delimiter for spreadsheets and is not a record. */
export const stripSepLine = (
  head: ByteText,
): { readonly delimiter?: string; readonly text: ByteText } => {
  const [line, delimiter] = SEP_LINE.exec(head) ?? [];
  return line === undefined || delimiter === undefined
    ? { text: head }
    : { delimiter, text: head.slice(line.length) };
};

/**
 * Chooses the delimiter with which the most rows contain an address; then the delimiter that occurs equally often in the most
 * rows; then the most frequent one. A comma in one line of a plain list is not a delimiter.
 */
export const findDelimiter = (head: ByteText, isWhole: boolean): string => {
  let best = { delimiter: "", addresses: -1, share: 0, usual: 0 };
  for (const delimiter of DELIMITERS) {
    if (!head.includes(delimiter)) continue;
    const rows = readSample(head, delimiter, isWhole);
    const candidate = {
      delimiter,
      addresses: countWithAddress(rows),
      ...countUsualDelimiters(rows),
    };
    const isBetter =
      candidate.addresses - best.addresses ||
      candidate.share - best.share ||
      candidate.usual - best.usual;
    if (isBetter > 0) best = candidate;
  }
  return best.delimiter;
};

const countUsualDelimiters = (
  rows: SampleRows,
): { readonly share: number; readonly usual: number } => {
  const counts = new Map<number, number>();
  for (const { length } of rows) counts.set(length - 1, (counts.get(length - 1) ?? 0) + 1);
  const [usual, times] = [...counts].toSorted((a, b) => b[1] - a[1])[0] ?? [0, 0];
  return usual < 1 ? { share: 0, usual: 0 } : { share: times / rows.length, usual };
};
