import * as v from "valibot";
import { deflated, inflated } from "../deflated.ts";
import { everyItem } from "../every-item.ts";
import type { Item, Table } from "../table.ts";
import { type Packed, pack, unpack } from "../verify/packed.ts";
import type { Verification } from "../verify/result.ts";
import { type Chunk, chunksOf } from "./chunks.ts";

// A page is one item with up to a hundred results, deflated: a tenth of the writes and a tenth of the bytes of an
// item each. Every chunk has a partition of its own, so a great job has no hot one.
//
//   pk                      sk                what
//   RESULTS#<job>#<chunk>   <token>#<page>    rows

/** `row` is where the address stood: in the file (its header counted), or in the list that was sent. */
export type Row = { readonly row: number; readonly result: Verification };

const PAGE_ROWS = 100;
/**
 * Pages outlive the chunk that names them: those of its first pass are older than it is, and whoever has read that
 * it is there can count on its rows. Nobody finds them without it.
 */
const OUTLIVE_SECONDS = 86_400;

type Place = Pick<Chunk, "job" | "chunk"> & { readonly token: string };

/** The rows of one pass, a page to an item. `expiresAt` is that of their chunk. */
export const pageItems = (
  { job, chunk, token }: Place,
  rows: readonly Row[],
  expiresAt: number,
): readonly Item[] =>
  Array.from({ length: Math.ceil(rows.length / PAGE_ROWS) }, (_, page) => ({
    pk: pagesOf({ job, chunk }),
    sk: `${token}#${String(page).padStart(4, "0")}`,
    rows: packed(rows.slice(page * PAGE_ROWS, (page + 1) * PAGE_ROWS)),
    expires_at: expiresAt + OUTLIVE_SECONDS,
  }));

const pagesOf = ({ job, chunk }: Pick<Chunk, "job" | "chunk">): string => `RESULTS#${job}#${chunk}`;

const packed = (rows: readonly Row[]): string =>
  deflated(rows.map(({ row, result }) => [row, pack(result)]));

const unpacked = (item: Item): Row[] => {
  const rows = inflated(v.parse(v.string(), item["rows"])) as readonly [number, Packed][];
  return rows.map(([row, result]) => ({ row, result: unpack(result) }));
};

/** The rows of a chunk that have a result, in the order of the input. */
export const rowsOf = async (table: Table, chunk: Chunk): Promise<readonly Row[]> => {
  const counted = new Set(chunk.passes);
  const rows: Row[] = [];
  for await (const item of everyItem(table, { pk: pagesOf(chunk), pageSize: 20 }))
    if (counted.has(item.sk.slice(0, item.sk.lastIndexOf("#")))) rows.push(...unpacked(item));
  return chunk.passes.length > 1 ? rows.toSorted((a, b) => a.row - b.row) : rows;
};

/** Where a reader goes on: the first row that it has not seen. */
export type From = { readonly chunk: number; readonly row: number };

export const BEGINNING: From = { chunk: 0, row: 0 };

/** The rows that can be read by now, in the order of the input, a chunk at a time. */
export async function* resultsFrom(
  table: Table,
  job: string,
  from: From = BEGINNING,
): AsyncGenerator<{ readonly chunk: number; readonly rows: readonly Row[] }> {
  for await (const chunk of chunksOf(table, job, from.chunk)) {
    const rows = await rowsOf(table, chunk);
    const isFirst = chunk.chunk === from.chunk;
    yield { chunk: chunk.chunk, rows: isFirst ? rows.filter(({ row }) => row >= from.row) : rows };
  }
}

/** A page of rows, and where the next one begins. */
export const readRows = async (
  table: Table,
  job: string,
  { from, limit }: { readonly from: From; readonly limit: number },
): Promise<{ readonly rows: readonly Row[]; readonly next?: From }> => {
  const read: Row[] = [];
  for await (const { chunk, rows } of resultsFrom(table, job, from)) {
    const left = limit - read.length;
    const over = rows[left];
    read.push(...rows.slice(0, left));
    if (over) return { rows: read, next: { chunk, row: over.row } };
  }
  return { rows: read };
};
