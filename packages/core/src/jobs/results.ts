import * as v from "valibot";
import { deflated, inflated } from "../deflated.ts";
import { everyItem } from "../every-item.ts";
import type { Item, Table } from "../table.ts";
import { type Packed, pack, unpack } from "../verify/packed.ts";
import type { Verification } from "../verify/result.ts";
import type { Chunk } from "./chunks.ts";

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

/** The rows of these passes of a chunk, in the order of the input. */
export const rowsOf = async (
  table: Table,
  { passes, ...chunk }: Pick<Chunk, "job" | "chunk" | "passes">,
): Promise<readonly Row[]> => {
  const pk = pagesOf(chunk);
  const ofPass = (token: string) =>
    Array.fromAsync(everyItem(table, { pk, sk: { prefix: `${token}#` }, pageSize: 20 }));
  const items = (await Promise.all(passes.map(ofPass))).flat();
  const rows = items.flatMap(unpacked);
  return passes.length > 1 ? rows.toSorted((a, b) => a.row - b.row) : rows;
};
