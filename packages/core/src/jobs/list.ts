import { isAscii } from "../mail/syntax.ts";
import { isBinary } from "./binary.ts";
import { type ByteText, toText } from "./byte-text.ts";
import { type ColumnOptions, type Columns, findColumns, namesOf } from "./columns.ts";
import { csvReader } from "./csv.ts";
import { BLOCK_BYTES, blocksOf, type Encoding, type ListDecoder, listDecoder } from "./decode.ts";
import { cutSepLine, findDelimiter, sampleOf } from "./delimiter.ts";

export type ListRow = {
  /** The number of the record in the file, from 1, its header included. Blank lines and `sep=` are no records. */
  readonly line: number;
  /** As many as the row has: fewer than there are columns, or more than the first rows had. */
  readonly cells: readonly ByteText[];
  /** The cell of the e-mail column as it stands there, trimmed. It may be empty or no address. */
  readonly email: string;
};

export type ListFacts = Columns & {
  /** "" in a file of one column. */
  readonly delimiter: string;
  /** As far as the beginning of the file shows. */
  readonly encoding: Encoding;
  /** Whether the beginning of the file is. */
  readonly isAscii: boolean;
};

/** The rows can be read once, and come in batches; the file is read as they are asked for. */
export type OpenedList = {
  readonly facts: ListFacts;
  readonly rows: AsyncIterable<readonly ListRow[]>;
  /** As far as the file has been read. */
  readonly encoding: () => Encoding;
};

export type ListFault = {
  readonly fault: "empty" | "binary" | "no_email_column" | "unknown_column";
  readonly message: string;
};

export type ListOptions = ColumnOptions;

/**
 * A CSV or TXT file, never held as a whole. Its first block tells encoding, delimiter, header and column.
 * On a fault the source is closed; a list that was opened closes it when its rows end or are left.
 */
export const openList = async (
  bytes: AsyncIterable<Uint8Array>,
  options: ListOptions = {},
): Promise<OpenedList | ListFault> => {
  const blocks = blocksOf(bytes);
  const decoder = listDecoder();
  const { value: head } = await blocks.next();
  const opened = head ? openHead(head, decoder, options) : faultOf("empty");
  if ("fault" in opened) {
    await blocks.return(undefined);
    return opened;
  }
  const { facts, text } = opened;
  return { facts, rows: rowsOf(facts, text, blocks, decoder), encoding: decoder.encoding };
};

export const isListFault = (opened: OpenedList | ListFault): opened is ListFault =>
  "fault" in opened;

type Head = { readonly facts: ListFacts; readonly text: ByteText };

const openHead = (
  head: Uint8Array,
  decoder: ListDecoder,
  options: ListOptions,
): Head | ListFault => {
  const isWhole = head.length < BLOCK_BYTES;
  const decoded = decoder.decode(head);
  if (isBinary(head, toText(decoded))) return faultOf("binary");
  const { delimiter: told, rest: text } = cutSepLine(decoded);
  if (isWhole && toText(text).trim() === "") return faultOf("empty");

  const delimiter = told ?? findDelimiter(text, isWhole);
  const sample = sampleOf(text, delimiter, isWhole);
  const found = findColumns(sample, options);
  if (found === "unknown_column") {
    return unknownColumn(options.emailColumn ?? "", namesOf(sample, options.hasHeader ?? true));
  }
  if (found === "no_email_column") return faultOf(found);
  const encoding = decoder.encoding();
  return { facts: { ...found, delimiter, encoding, isAscii: isAscii(decoded) }, text };
};

async function* rowsOf(
  facts: ListFacts,
  head: ByteText,
  blocks: AsyncGenerator<Uint8Array>,
  decoder: ListDecoder,
): AsyncGenerator<readonly ListRow[]> {
  const read = csvReader(facts.delimiter);
  let line = 0;
  for await (const { text, isLast } of textsOf(head, blocks, decoder)) {
    const isAtHeader = line === 0 && facts.hasHeader;
    const rows = read(text, isLast).map((cells) => {
      line += 1;
      return toRow(facts, line, cells);
    });
    const below = isAtHeader ? rows.slice(1) : rows;
    if (below.length > 0) yield below;
  }
}

type Text = { readonly text: ByteText; readonly isLast: boolean };

async function* textsOf(
  head: ByteText,
  blocks: AsyncGenerator<Uint8Array>,
  decoder: ListDecoder,
): AsyncGenerator<Text> {
  try {
    yield* slicesOf(head);
    for await (const block of blocks) yield* slicesOf(decoder.decode(block));
    yield { text: decoder.end(), isLast: true };
  } finally {
    // Whoever leaves after the first batch has not begun to read the blocks.
    await blocks.return(undefined);
  }
}

/** Of the shortest rows a block holds 100,000, and as many objects at once take more memory than all else. */
const SLICE_LENGTH = 32_768;

function* slicesOf(text: ByteText): Generator<Text> {
  for (let from = 0; from < text.length; from += SLICE_LENGTH) {
    yield { text: text.slice(from, from + SLICE_LENGTH), isLast: false };
  }
}

const toRow = (facts: ListFacts, line: number, cells: readonly ByteText[]): ListRow => ({
  line,
  cells,
  email: toText(cells[facts.emailColumn] ?? "").trim(),
});

const MESSAGE = {
  empty: "The file is empty.",
  binary: "The file is no text. Only CSV and TXT are supported; save a spreadsheet as CSV.",
  no_email_column: "No column of the file holds e-mail addresses, and none is named so.",
} as const;

const faultOf = (fault: keyof typeof MESSAGE): ListFault => ({ fault, message: MESSAGE[fault] });

const NAMES_TOLD_MAX = 20;
const NAME_LENGTH_MAX = 60;

const unknownColumn = (wanted: string, names: readonly string[]): ListFault => {
  const told = names.slice(0, NAMES_TOLD_MAX).map(quote);
  const more = names.length - told.length;
  return {
    fault: "unknown_column",
    message: `The file has no column ${quote(wanted)}. It has ${told.join(", ")}${more > 0 ? ` and ${more} more` : ""}.`,
  };
};

const quote = (name: string): string =>
  JSON.stringify(name.length > NAME_LENGTH_MAX ? `${name.slice(0, NAME_LENGTH_MAX)}…` : name);
