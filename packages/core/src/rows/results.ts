import * as v from "valibot";
import { compressJson, decompressJson } from "../lib/compress.ts";
import { paginateQuery } from "../lib/paginate-query.ts";
import type { Item, Key, Table } from "../ports/table.ts";
import { type PackedVerification, pack, readPackedValues, unpack } from "../verify/pack.ts";
import type { Verification } from "../verify/result.ts";
import type { Chunk } from "./chunks.ts";

// A page is one item with up to a hundred results, compressed: a tenth of the writes and a tenth of the bytes of one
// item per result. Every chunk has its own partition, so a large job has no hot partition.
//
//   pk                      sk                what
//   RESULTS#<job>#<chunk>   <token>#<page>    rows

/** A row as it is stored. */
export type PackedRow = readonly [row: number, result: PackedVerification];

/** `row` is the position of the address in the file (the header counts) or in the batch. */
export type VerifiedRow = { readonly row: number; readonly result: Verification };

/** Replaces the address of a row after its erasure. */
export const ERASED = "[erased]";

export const PAGE_ROWS = 100;
/**
 * Pages are retained longer than the chunk that names them: the pages of its first pass are older than the chunk, and a
 * reader that found the chunk must find its rows. Pages are found through the chunk only.
 */
const PAGE_MARGIN_SECONDS = 86_400;

/** The pages of one pass, and its evidence. */
export type ResultPass = Pick<Chunk, "job" | "chunk"> & { readonly token: string };

/** The rows of one pass, one item per page, each built when it is read. `expiresAt` is the chunk's. */
export function* toPageItems(
  { job, chunk, token }: ResultPass,
  rows: readonly VerifiedRow[],
  expiresAt: number,
): Generator<Item> {
  for (let page = 0; page * PAGE_ROWS < rows.length; page++)
    yield {
      ...toPageKey({ job, chunk, token }, page),
      rows: packRows(rows.slice(page * PAGE_ROWS, (page + 1) * PAGE_ROWS)),
      expires_at: expiresAt + PAGE_MARGIN_SECONDS,
    };
}

export const toPageKey = ({ job, chunk, token }: ResultPass, page: number): Key => ({
  pk: toPagesPartition({ job, chunk }),
  sk: `${token}#${String(page).padStart(4, "0")}`,
});

export const toPagesPartition = ({ job, chunk }: Pick<Chunk, "job" | "chunk">): string =>
  `RESULTS#${job}#${chunk}`;

export const toPageToken = ({ sk }: Pick<Item, "sk">): string => sk.slice(0, sk.indexOf("#"));

export const packRows = (rows: readonly VerifiedRow[]): string =>
  compressJson(rows.map(({ row, result }) => [row, pack(result)]));

/** The rows of a page as they are stored. */
export const readPageText = (page: Item): string => v.parse(v.string(), page["rows"]);

export const readPage = (page: Item): readonly PackedRow[] =>
  decompressJson(readPageText(page)) as readonly PackedRow[];

export const unpackRows = (page: Item): VerifiedRow[] => readPage(page).map(unpackRow);

type ChunkPasses = Pick<Chunk, "job" | "chunk" | "passes">;

/** The rows of these passes of a chunk, in the order of the input. */
export const readResultRows = async (
  table: Table,
  chunk: ChunkPasses,
): Promise<readonly VerifiedRow[]> => (await readPackedRows(table, chunk)).map(unpackRow);

export const unpackRow = ([row, result]: PackedRow): VerifiedRow => ({
  row,
  result: unpack(result),
});

/** The sub-status of a row that was corrected to the address of another row, whose result it has. */
export const DUPLICATE = "duplicate";

export const isDuplicate = (packed: PackedVerification): boolean =>
  readPackedValues(packed)[5] === DUPLICATE;

/** The result of another row, for a row that repeats it. Its evidence and its receipt stay with the other row. */
export const toDuplicate = (packed: PackedVerification): PackedVerification => {
  const { evidence: _evidence, receipt: _receipt, ...result } = unpack(packed);
  return pack({ ...result, subStatus: DUPLICATE });
};

/** The same rows in their stored form. */
export const readPackedRows = async (
  table: Table,
  { passes, ...chunk }: ChunkPasses,
): Promise<readonly PackedRow[]> => {
  const pk = toPagesPartition(chunk);
  const readPass = (token: string) =>
    Array.fromAsync(paginateQuery(table, { pk, sk: { prefix: `${token}#` }, pageSize: 20 }));
  const items = (await Promise.all(passes.map(readPass))).flat();
  const rows = items.flatMap(readPage);
  return passes.length > 1 ? sortByRow(rows) : rows;
};

/** Keeps the later pass's result of a row that was verified again. */
const sortByRow = (rows: readonly PackedRow[]): readonly PackedRow[] =>
  rows.toSorted(([a], [b]) => a - b).filter(([row], at, all) => row !== all[at + 1]?.[0]);
