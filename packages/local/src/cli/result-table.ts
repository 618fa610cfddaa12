import type { VerificationResult } from "@mailproof/api/schema/verification";
import {
  formatCsvRecord,
  getDelimiter,
  joinCells,
  removeFormulaGuard,
} from "@mailproof/core/exports/csv";
import { listResultColumns, toPublicCells } from "@mailproof/core/exports/result-columns";
import { writeSpreadsheet } from "@mailproof/core/exports/write-spreadsheet";
import { createCsvReader } from "@mailproof/core/intake/csv-reader";
import type { ListFormat } from "@mailproof/core/intake/open-list";
import { isAscii } from "@mailproof/mail/syntax";
import type { ResultSummary } from "./result-summary.ts";

export type ResultTable = {
  readonly header: readonly string[];
  readonly delimiter: string;
  /** Without the mark spreadsheets assume another encoding. */
  readonly hasByteOrderMark: boolean;
  readonly rows: AsyncIterable<readonly string[]>;
};

export type Pieces = AsyncIterable<string | Uint8Array>;

export type CsvList = Pick<ListFormat, "columns" | "delimiter" | "isAscii">;

/** The list of addresses that came without a file. */
export const NO_LIST: CsvList = { columns: [], delimiter: ",", isAscii: true };

export type ListResult = {
  readonly result: VerificationResult;
  readonly cells: readonly string[];
};

const BYTE_ORDER_MARK = "\uFEFF";

export const toResultTable = (
  { columns, delimiter, isAscii: isListAscii }: CsvList,
  results: AsyncIterable<ListResult>,
): ResultTable => {
  const header = [...columns, ...listResultColumns(columns)];
  return {
    header,
    delimiter: getDelimiter(delimiter),
    hasByteOrderMark: !(isListAscii && header.every(isAscii)),
    rows: toRows(columns.length, results),
  };
};

async function* toRows(
  width: number,
  results: AsyncIterable<ListResult>,
): AsyncGenerator<readonly string[]> {
  for await (const { result, cells } of results)
    yield joinCells(width, cells, toPublicCells(result));
}

const STATUS_OFFSET = 1;

export async function* formatCsvTable(table: ResultTable): AsyncGenerator<string> {
  const header = formatCsvRecord(table.header, table.delimiter);
  yield table.hasByteOrderMark ? BYTE_ORDER_MARK + header : header;
  for await (const cells of table.rows) yield formatCsvRecord(cells, table.delimiter);
}

export const formatSpreadsheetTable = (table: ResultTable): Pieces =>
  writeSpreadsheet(listRows(table));

async function* listRows({ header, rows }: ResultTable): AsyncGenerator<readonly string[]> {
  yield header;
  yield* rows;
}

/** Reads a service's export. Without our columns the file is not our export, and `pieces` returns it unchanged. */
export const readResultTable = async (
  pieces: Pieces,
  summary: ResultSummary,
): Promise<{ readonly table: ResultTable } | { readonly table: null; readonly pieces: Pieces }> => {
  const texts = decodePieces(pieces);
  const first = await readFirstLine(texts);
  const hasByteOrderMark = first.startsWith(BYTE_ORDER_MARK);
  const text = hasByteOrderMark ? first.slice(1) : first;
  const delimiter = /status([,;\t|])(?:mailproof_)*send[,;\t|](?:mailproof_)*quality_score/.exec(
    text,
  )?.[1];
  if (delimiter === undefined) return { table: null, pieces: prepend(first, texts) };
  const read = createCsvReader(delimiter);
  const [header = [], ...rows] = read(text, false);
  const statusAt = findStatusColumn(header);
  const table = {
    header: header.map(removeFormulaGuard),
    delimiter,
    hasByteOrderMark,
    rows: readRows(rows, read, texts, statusAt, summary),
  };
  return { table };
};

async function* prepend(first: string, texts: AsyncIterable<string>): AsyncGenerator<string> {
  yield first;
  yield* texts;
}

async function* decodePieces(pieces: Pieces): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  for await (const piece of pieces)
    yield typeof piece === "string" ? piece : decoder.decode(piece, { stream: true });
  yield decoder.decode();
}

/** The reader gives up after this number of characters: no header is longer. */
const HEADER_LENGTH_MAX = 1_000_000;

/** Reads at least to the end of the first record: a quoted name may have a line break. */
const readFirstLine = async (texts: AsyncGenerator<string>): Promise<string> => {
  let text = "";
  for (;;) {
    const next = await texts.next();
    if (next.done) return text;
    text += next.value;
    const at = text.indexOf("quality_score");
    const isWhole = at >= 0 && /[\r\n]/.test(text.slice(at));
    if (isWhole || text.length > HEADER_LENGTH_MAX) return text;
  }
};

async function* readRows(
  first: readonly (readonly string[])[],
  read: ReturnType<typeof createCsvReader>,
  texts: AsyncGenerator<string>,
  statusAt: number,
  summary: ResultSummary,
): AsyncGenerator<readonly string[]> {
  const complete = (cells: readonly string[]) => {
    const [email = "", status = "", , , reason = ""] = cells.slice(statusAt - STATUS_OFFSET);
    summary.add({ email, status, reason });
    return cells.map(removeFormulaGuard);
  };
  for (const cells of first) yield complete(cells);
  for await (const text of texts) for (const cells of read(text, false)) yield complete(cells);
  for (const cells of read("", true)) yield complete(cells);
}

const RESULT_NAMES = ["email", "status", "send", "quality_score"];

/** Finds the last columns with our names, because the list itself may be an export. */
const findStatusColumn = (header: readonly string[]): number => {
  const names = header.map((name) => name.replace(/^(?:mailproof_)+/, ""));
  for (let at = names.length - RESULT_NAMES.length; at >= 0; at--)
    if (RESULT_NAMES.every((name, offset) => names[at + offset] === name))
      return at + STATUS_OFFSET;
  return STATUS_OFFSET;
};
