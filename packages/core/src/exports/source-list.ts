import {
  type ExcludedReader,
  type ExcludedRow,
  NO_EXCLUDED,
  openExcludedReader,
} from "../intake/excluded-rows.ts";
import {
  type InputRow,
  isInputReadable,
  readInput,
  readRows,
  toSlices,
} from "../intake/input-blob.ts";
import { UnreadableBlobError } from "../ports/blobs.ts";
import type { World } from "../ports/world.ts";
import { type EmailColumn, findInputMetadata, type InputMetadata } from "../rows/input-metadata.ts";
import type { Job } from "../rows/items.ts";

type SourceRow = InputRow | ExcludedRow | undefined;

export type SourceList = {
  /** The names of the list's columns; empty when the job is not from a file, or its input cannot be read. */
  readonly columns: readonly string[];
  /** The same names, made unique: the second "name" is "name_2". */
  readonly fieldNames: readonly string[];
  readonly delimiter: string;
  readonly isAscii: boolean;
  /** The column with another service's verdicts. */
  readonly vendor: Job["vendor"];
  readonly chunks: number;
  /** Returns the cells of the row. `email`: the address that was found in them. */
  readonly getCells: (own: SourceRow, email: string) => string[];
  /** Returns the unchanged e-mail cell; undefined when it is not stored. */
  readonly getEmailCell: (own: SourceRow, email: string) => string | undefined;
  /** Reads chunks only in ascending order. */
  readonly readChunkRows: (chunk: number) => Promise<readonly InputRow[]>;
  readonly openExcluded: () => ExcludedReader;
  readonly close: () => Promise<void>;
};

const NO_SOURCE_LIST: SourceList = {
  columns: [],
  fieldNames: [],
  delimiter: ",",
  isAscii: true,
  vendor: undefined,
  chunks: 0,
  getCells: () => [],
  getEmailCell: () => undefined,
  readChunkRows: async () => [],
  openExcluded: () => NO_EXCLUDED,
  close: async () => {},
};

/**
 * The caller must read from the list and close it: a blob that is opened and never read stays open. `firstChunk`: the first
 * chunk that the caller will read.
 */
export const openSourceList = async (
  { table, blobs }: Pick<World, "table" | "blobs">,
  job: Job,
  firstChunk: number,
): Promise<SourceList> => {
  if (!job.input) return NO_SOURCE_LIST;
  const metadata = await findInputMetadata(table, job.id);
  const { chunks, delimiter, isAscii, emailColumn, excluded } = metadata;
  // Checks the input first, because an export cannot drop its columns in the middle.
  const isReadable = await isInputReadable(blobs, job.input, metadata);
  const input = isReadable ? await readInput(blobs, job.input, metadata, firstChunk) : undefined;
  if (!input) return { ...NO_SOURCE_LIST, delimiter, isAscii };
  const columns = listColumns(metadata);
  return {
    columns,
    fieldNames: makeDistinct(columns),
    delimiter,
    isAscii,
    vendor: job.vendor,
    chunks: chunks.length - 1,
    ...createRowReaders(emailColumn),
    ...createChunkReader(input, firstChunk),
    openExcluded: () => (excluded ? openExcludedReader(blobs, excluded) : NO_EXCLUDED),
  };
};

/** Maps the list's column names to a row's cells. A cell beyond the last column gets its number as a name, such as column_9. */
export const toColumns = (
  fieldNames: readonly string[],
  cells: readonly string[],
): Record<string, string> =>
  Object.fromEntries(
    Array.from({ length: Math.max(cells.length, fieldNames.length) }, (_, at) => [
      fieldNames[at] ?? `column_${at + 1}`,
      cells[at] ?? "",
    ]),
  );

export type OwnColumns = {
  readonly names: readonly string[];
  /** Returns how many rows, from the first, have at most `bytesMax` bytes of cells; at least 1. */
  readonly countWithin: (rows: readonly { readonly chunk: number }[], bytesMax: number) => number;
  /** Reads the cells of each row by its number. A removed list returns no rows. */
  readonly readCells: (
    rows: readonly { readonly chunk: number; readonly row: number }[],
  ) => Promise<ReadonlyMap<number, readonly string[]>>;
};

/** Undefined when the job is not from a file. */
export const openOwnColumns = async (
  { table, blobs }: Pick<World, "table" | "blobs">,
  { id, input, total, chunkRows }: Job,
): Promise<OwnColumns | undefined> => {
  const metadata = input && (await findInputMetadata(table, id));
  if (!input || !metadata?.emailColumn) return undefined;
  const names = makeDistinct(listColumns(metadata));
  const { getCells } = createRowReaders(metadata.emailColumn);
  const padCells = (cells: readonly string[]): readonly string[] =>
    Array.from({ length: Math.max(cells.length, names.length) }, (_, at) => cells[at] ?? "");
  const slices = toSlices(metadata);
  const getRowBytes = (chunk: number): number => {
    const { from, to } = slices[chunk] ?? { from: 0, to: 0 };
    return (to - from) / Math.max(1, Math.min(chunkRows, total - chunk * chunkRows));
  };
  return {
    names,
    countWithin: (rows, bytesMax) => {
      let bytes = 0;
      const end = rows.findIndex(({ chunk }) => (bytes += getRowBytes(chunk)) > bytesMax);
      return end < 0 ? rows.length : Math.max(1, end);
    },
    readCells: async (rows) => {
      const cells = new Map<number, readonly string[]>();
      const chunks = [...Map.groupBy(rows, ({ chunk }) => chunk)];
      for (let from = 0; from < chunks.length; from += READS_AT_ONCE)
        await Promise.all(
          chunks.slice(from, from + READS_AT_ONCE).map(async ([chunk, some]) => {
            const slice = slices[chunk];
            const wanted = new Set(some.map(({ row }) => row));
            const found =
              slice && (await readRows(blobs, input, slice, wanted).catch(leaveOutDamaged));
            for (const own of found ?? []) cells.set(own[0], padCells(getCells(own, own[1])));
          }),
        );
      return cells;
    },
  };
};

/** Estimates the bytes of a row in the JSON export, where each row repeats the column names. */
export const estimateRowBytes = async (
  { table }: Pick<World, "table">,
  { id, input, total }: Job,
): Promise<number> => {
  if (!input) return RESULT_BYTES;
  const metadata = await findInputMetadata(table, id);
  const cellBytes = (metadata.chunks.at(-1) ?? 0) / Math.max(1, total);
  return RESULT_BYTES + cellBytes + JSON.stringify(listColumns(metadata)).length;
};

const RESULT_BYTES = 300;

/** Each read is a request on AWS. */
const READS_AT_ONCE = 10;

const leaveOutDamaged = (error: unknown): undefined => {
  if (!(error instanceof UnreadableBlobError)) throw error;
};

const listColumns = ({ columns, emailColumn }: InputMetadata): readonly string[] =>
  emailColumn ? columns.toSpliced(emailColumn.at, 0, emailColumn.name) : [];

const makeDistinct = (names: readonly string[]): readonly string[] => {
  const counts = new Map<string, number>();
  const used = new Set(names);
  return names.map((name) => {
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    if (count === 1) return name;
    let candidate = `${name}_${count}`;
    // The list may already contain a column named like the candidate.
    while (used.has(candidate)) candidate += "_";
    used.add(candidate);
    return candidate;
  });
};

/** Reads rows with all cells of the list. An empty e-mail cell means that the cell equals the address. A batch has only this cell. */
const createRowReaders = (
  emailColumn: EmailColumn | null,
): Pick<SourceList, "getCells" | "getEmailCell"> => {
  const places = emailColumn ? [emailColumn.at, ...(emailColumn.others ?? [])] : [0];
  const getPlace = (row: number): number => places[(row - 1) % places.length] ?? 0;
  return {
    getCells: (own, email) => {
      if (!own || !emailColumn) return [];
      const cells = own.slice(2) as string[];
      cells[getPlace(own[0])] ||= email;
      return cells;
    },
    getEmailCell: (own, email) =>
      own && ((own[getPlace(own[0]) + 2] as string | undefined) || email),
  };
};

const createChunkReader = (
  input: AsyncIterable<readonly InputRow[]>,
  firstChunk: number,
): Pick<SourceList, "readChunkRows" | "close"> => {
  const chunks = input[Symbol.asyncIterator]();
  let next = firstChunk;
  return {
    readChunkRows: async (chunk) => {
      for (; next < chunk; next++) await chunks.next();
      next++;
      const { value } = await chunks.next();
      return (value ?? []) as readonly InputRow[];
    },
    close: async () => void (await chunks.return?.()),
  };
};
