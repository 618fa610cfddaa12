import { isAscii } from "@mailproof/mail/syntax";
import { type ByteText, toText } from "./byte-text.ts";
import { type ColumnOptions, findColumns, type ListColumns, listColumnNames } from "./columns.ts";
import { createCsvReader } from "./csv-reader.ts";
import { findDelimiter, readSample, stripSepLine } from "./delimiter.ts";
import {
  BLOCK_BYTES,
  createListDecoder,
  detectUtf16,
  type ListDecoder,
  type ListEncoding,
  toBlocks,
} from "./list-decoder.ts";

export type ListRow = {
  /** The number of the record in the file, from 1, including the header. Blank lines and `sep=` are not records. */
  readonly record: number;
  /** The number of the row in the list: with n columns of addresses each record has n numbers, one for each (toRowNumber). */
  readonly line: number;
  /** The cells of the row; their number may differ from the number of columns. */
  readonly cells: readonly ByteText[];
  /** The column of the address. */
  readonly column: number;
  /** The trimmed cell of this column: an address, another text, or empty. */
  readonly email: string;
};

export type ListFormat = ListColumns & {
  /** "" when the file has one column. */
  readonly delimiter: string;
  readonly encoding: ListEncoding;
  readonly isAscii: boolean;
};

/** The rows can be iterated once, in batches; the iteration reads the file. */
export type OpenedList = {
  readonly kind: "opened";
  readonly format: ListFormat;
  readonly rows: AsyncIterable<readonly ListRow[]>;
  readonly encoding: () => ListEncoding;
};

export type ListFault = {
  readonly kind: "fault";
  readonly fault: "empty" | "binary" | "no_email_column" | "unknown_column" | "wide_header";
  readonly message: string;
};

export type IntakeFault =
  | ListFault
  | {
      readonly kind: "fault";
      readonly fault: "no_addresses" | "too_many" | "too_large";
      readonly message: string;
    };

export type ListOptions = ColumnOptions;

/**
 * Opens a CSV or TXT file and never holds it whole in memory. Its first block decides encoding, delimiter, header and column. A
 * fault closes the source; otherwise the end of the iteration closes it.
 */
export const openList = async (
  bytes: AsyncIterable<Uint8Array>,
  options: ListOptions = {},
): Promise<OpenedList | ListFault> => {
  const blocks = toBlocks(bytes);
  const decoder = createListDecoder();
  const { value: head } = await blocks.next();
  const opened = head ? readHead(head, decoder, options) : createFault("empty");
  if (opened.kind === "fault") {
    await blocks.return(undefined);
    return opened;
  }
  const { format, text } = opened;
  return {
    kind: "opened",
    format,
    rows: readRows(format, text, blocks, decoder),
    encoding: decoder.encoding,
  };
};

type ListHead = { readonly kind: "head"; readonly format: ListFormat; readonly text: ByteText };

const readHead = (
  head: Uint8Array,
  decoder: ListDecoder,
  options: ListOptions,
): ListHead | ListFault => {
  const isWhole = head.length < BLOCK_BYTES;
  if (isBinaryFile(head)) return createFault("binary");
  const decoded = decoder.decode(head);
  if (isBinaryText(toText(decoded))) return createFault("binary");
  const { delimiter: declaredDelimiter, text } = stripSepLine(decoded);
  if (isWhole && toText(text).trim() === "") return createFault("empty");

  const delimiter = declaredDelimiter ?? findDelimiter(text, isWhole);
  const sample = readSample(text, delimiter, isWhole);
  const found = findColumns(sample, options);
  if (found === "no_email_column") return createFault(found);
  if ("unknown" in found)
    return createUnknownColumnFault(
      found.unknown,
      listColumnNames(sample, options.hasHeader ?? true),
    );
  if (new TextEncoder().encode(JSON.stringify(found.columns)).length > COLUMN_NAMES_BYTES_MAX)
    return createFault("wide_header");
  const encoding = decoder.encoding();
  return {
    kind: "head",
    format: { ...found, delimiter, encoding, isAscii: isAscii(decoded) },
    text,
  };
};

async function* readRows(
  format: ListFormat,
  head: ByteText,
  blocks: AsyncGenerator<Uint8Array>,
  decoder: ListDecoder,
): AsyncGenerator<readonly ListRow[]> {
  const read = createCsvReader(format.delimiter);
  let record = 0;
  for await (const { text, isLast } of readTexts(head, blocks, decoder)) {
    const isAtHeader = record === 0 && format.hasHeader;
    const rows = read(text, isLast).map((cells) => {
      record += 1;
      return toRow(format, record, cells, 0);
    });
    const rowsBelowHeader = isAtHeader ? rows.slice(1) : rows;
    if (rowsBelowHeader.length === 0) continue;
    yield format.emailColumns.length === 1
      ? rowsBelowHeader
      : rowsBelowHeader.flatMap((row) => splitRow(format, row));
  }
}

type TextSlice = { readonly text: ByteText; readonly isLast: boolean };

async function* readTexts(
  head: ByteText,
  blocks: AsyncGenerator<Uint8Array>,
  decoder: ListDecoder,
): AsyncGenerator<TextSlice> {
  try {
    yield* toTextSlices(head);
    for await (const block of blocks) yield* toTextSlices(decoder.decode(block));
    yield { text: decoder.end(), isLast: true };
  } finally {
    // A consumer that stops after the first batch has not started to read the blocks.
    await blocks.return(undefined);
  }
}

/** A block contains up to 100,000 short rows; that many objects at once would take most of the memory. */
const SLICE_LENGTH = 32_768;

function* toTextSlices(text: ByteText): Generator<TextSlice> {
  for (let from = 0; from < text.length; from += SLICE_LENGTH) {
    yield { text: text.slice(from, from + SLICE_LENGTH), isLast: false };
  }
}

const toRow = (
  { emailColumns }: ListFormat,
  record: number,
  cells: readonly ByteText[],
  place: number,
): ListRow => {
  const column = emailColumns[place] ?? 0;
  const email = toText(cells[column] ?? "").trim();
  return { record, line: toRowNumber(record, place, emailColumns.length), cells, column, email };
};

const toRowNumber = (record: number, place: number, columns: number): number =>
  (record - 1) * columns + place + 1;

/** One row for each address column with text; a record without any stays one row. */
const splitRow = (format: ListFormat, row: ListRow): readonly ListRow[] => {
  const rows = format.emailColumns.map((_, place) => toRow(format, row.record, row.cells, place));
  const filled = rows.filter(({ email }) => email !== "");
  return filled.length > 0 ? filled : [row];
};

/** One item of the table contains the names and at most 30 KB of chunk offsets (ports/writes.ts has the item limit). */
const COLUMN_NAMES_BYTES_MAX = 200_000;

const FAULT_MESSAGES = {
  empty: "The file is empty.",
  binary: "The file is not a text file. Only CSV and TXT are supported; save a spreadsheet as CSV.",
  wide_header: `The names of the columns are longer than ${COLUMN_NAMES_BYTES_MAX.toLocaleString("en")} bytes in all.`,
  no_email_column: 'No column of the file has e-mail addresses, or a name such as "email".',
} as const;

const createFault = (fault: keyof typeof FAULT_MESSAGES): ListFault => ({
  kind: "fault",
  fault,
  message: FAULT_MESSAGES[fault],
});

const LISTED_NAMES_MAX = 20;
const NAME_LENGTH_MAX = 60;

const createUnknownColumnFault = (name: string, names: readonly string[]): ListFault => {
  const listedNames = names.slice(0, LISTED_NAMES_MAX).map(quote);
  const more = names.length - listedNames.length;
  return {
    kind: "fault",
    fault: "unknown_column",
    message: `The file has no column ${quote(name)}. It has ${listedNames.join(", ")}${more > 0 ? ` and ${more} more` : ""}.`,
  };
};

const quote = (name: string): string =>
  JSON.stringify(name.length > NAME_LENGTH_MAX ? `${name.slice(0, NAME_LENGTH_MAX)}…` : name);

export const createTooLargeFault = (bytesMax: number): IntakeFault => ({
  kind: "fault",
  fault: "too_large",
  message: `The file is larger than ${formatCount(bytesMax)} bytes.`,
});

export const createTooManyFault = (addressesMax: number): IntakeFault => ({
  kind: "fault",
  fault: "too_many",
  message: `The file has more than ${formatCount(addressesMax)} addresses.`,
});

export const createNoAddressesFault = (rows: number): IntakeFault => ({
  kind: "fault",
  fault: "no_addresses",
  message: `The file has no e-mail addresses: ${explainNoAddresses(rows)}.`,
});

export const createJunkFault = (rows: number): IntakeFault => ({
  kind: "fault",
  fault: "no_addresses",
  message: `The first ${formatCount(rows)} rows of the file have no e-mail address.`,
});

const explainNoAddresses = (rows: number): string => {
  if (rows === 0) return "there are no rows below the header";
  return rows === 1
    ? "its only row is not an address"
    : `none of its ${formatCount(rows)} rows is an address`;
};

const formatCount = (count: number): string => count.toLocaleString("en");

/** Formats that people often rename to .csv: office files, which are zip or OLE files, PDF, archives. */
const MAGIC_NUMBERS: readonly (readonly number[])[] = [
  [0x50, 0x4b, 0x03, 0x04], // zip, .xlsx, .ods
  [0x50, 0x4b, 0x05, 0x06], // an empty zip
  [0xd0, 0xcf, 0x11, 0xe0], // .xls
  [0x1f, 0x8b], // gzip
  [0x25, 0x50, 0x44, 0x46, 0x2d], // PDF
];

// Ten percent of random bytes are control characters; text contains hardly any.
const CONTROL_CHARACTERS = /(?!\s)\p{Cc}/gu;
const CONTROL_SHARE_MAX = 0.05;
// DOS ends files with a control character, and a short list has few characters.
const CONTROLS_ALLOWED = 4;
const NUL_SHARE_MAX = 0.5;

const SAMPLE_BYTES = 16_384;
const SPACE = 0x20;
const WHITE_SPACE: ReadonlySet<number> = new Set([0x09, 0x0a, 0x0b, 0x0c, 0x0d]);

/** Reads only bytes, before any decoding: a binary file must not cost as much time as a list. */
const isBinaryFile = (head: Uint8Array): boolean => {
  if (MAGIC_NUMBERS.some((magic) => magic.every((byte, index) => head[index] === byte)))
    return true;
  const sample = head.subarray(0, SAMPLE_BYTES);
  let nuls = 0;
  let controls = 0;
  for (const byte of sample) {
    if (byte === 0) nuls += 1;
    else if (byte < SPACE && !WHITE_SPACE.has(byte)) controls += 1;
  }
  // In UTF-16 at most every second byte is NUL.
  if (nuls > sample.length * NUL_SHARE_MAX) return true;
  return detectUtf16(head) === null && isTooMany(controls, sample.length);
};

/** `text` is the decoded head without its NUL characters. */
const isBinaryText = (text: string): boolean =>
  isTooMany(text.match(CONTROL_CHARACTERS)?.length ?? 0, text.length);

const isTooMany = (controls: number, length: number): boolean =>
  controls > Math.max(CONTROLS_ALLOWED, length * CONTROL_SHARE_MAX);
