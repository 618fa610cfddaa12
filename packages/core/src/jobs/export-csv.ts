import { isAscii } from "../mail/syntax.ts";
import type { World } from "../world.ts";
import { csvLine } from "./csv-out.ts";
import type { ExportedRows } from "./export.ts";
import { type InputRow, readInput } from "./input-blob.ts";
import { findInput, type InputFacts } from "./input-facts.ts";
import type { Job } from "./items.ts";
import { cellsOf, namesBeside } from "./result-columns.ts";
import type { Row } from "./results.ts";

/** Spreadsheets take a file that does not begin with it for one of another alphabet. */
const BYTE_ORDER_MARK = "\uFEFF";

/**
 * The rows beside the list's own columns, which come back as they were: a piece for each chunk, the header in the
 * first. Where the input is gone by now, the address stands alone beside ours.
 */
export async function* csvOf(
  world: Pick<World, "table" | "blobs">,
  job: Job,
  exported: AsyncIterable<ExportedRows>,
): AsyncGenerator<string> {
  let list: List | undefined;
  let text = "";
  try {
    for await (const { chunk, rows } of exported) {
      if (!list) {
        // Not before there is something to read from it: a file that is opened and not read is never closed.
        list = await listOf(world, job);
        text = headerOf(list);
      }
      const input = await list.rowsOf(chunk.chunk);
      for (const [row, own] of joined(rows, input)) text += lineOf(list, row, own);
      if (text !== "") yield text;
      text = "";
    }
  } finally {
    await list?.close();
  }
}

type List = {
  /** Of the address. */
  readonly name: string;
  readonly at: number;
  readonly others: readonly string[];
  readonly isAscii: boolean;
  /** Of chunk after chunk, in their order. */
  readonly rowsOf: (chunk: number) => Promise<readonly InputRow[]>;
  readonly close: () => Promise<void>;
};

const NO_FILE = {
  name: "email",
  at: 0,
  others: [],
  isAscii: true,
  rowsOf: async () => [],
  close: async () => {},
} satisfies List;

const listOf = async (
  { table, blobs }: Pick<World, "table" | "blobs">,
  job: Job,
): Promise<List> => {
  if (!job.input) return NO_FILE;
  const facts = await findInput(table, job.id);
  const { emailColumn, isAscii } = facts;
  if (!emailColumn) return { ...NO_FILE, isAscii };
  const input = facts.columns.length > 0 && (await readInput(blobs, job.input, facts.chunks));
  return input
    ? besideInput(facts, emailColumn, input)
    : { ...NO_FILE, name: emailColumn.name, isAscii };
};

const besideInput = (
  { columns, isAscii }: InputFacts,
  { name, at }: NonNullable<InputFacts["emailColumn"]>,
  input: AsyncIterable<readonly InputRow[]>,
): List => {
  const chunks = input[Symbol.asyncIterator]();
  let next = 0;
  const rowsOf = async (chunk: number) => {
    for (; next < chunk; next++) await chunks.next();
    next++;
    const { value } = await chunks.next();
    return (value ?? []) as readonly InputRow[];
  };
  const close = async () => void (await chunks.return?.());
  return { name, at, others: columns, isAscii, rowsOf, close };
};

/** Both are in the order of the file, and not every row of the input has a result. */
function* joined(
  rows: readonly Row[],
  input: readonly InputRow[],
): Generator<readonly [Row, InputRow | undefined]> {
  let at = 0;
  for (const row of rows) {
    while ((input[at]?.[0] ?? Infinity) < row.row) at++;
    const own = input[at];
    yield [row, own?.[0] === row.row ? own : undefined];
  }
}

const headerOf = (list: List): string => {
  const { name, at, others } = list;
  const names = others.toSpliced(at, 0, name);
  const header = csvLine([...names, ...namesBeside(names)]);
  return list.isAscii && isAscii(header) ? header : BYTE_ORDER_MARK + header;
};

/** A row may be shorter or longer than the header of its file. */
const lineOf = ({ others, at }: List, { result }: Row, own: InputRow | undefined): string => {
  const cells: string[] = [];
  for (let place = 0; place < others.length; place++) {
    if (place === at) cells.push(result.email);
    cells.push((own?.[place + 2] as string | undefined) ?? "");
  }
  if (at >= others.length) cells.push(result.email);
  return csvLine(cells.concat(cellsOf(result)));
};
