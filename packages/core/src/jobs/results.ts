import * as v from "valibot";
import { compressJson, decompressJson } from "../lib/compress.ts";
import { paginateQuery } from "../lib/paginate-query.ts";
import type { Item, Table } from "../ports/table.ts";
import { type PackedVerification, pack, unpack } from "../verify/pack.ts";
import type { Verification } from "../verify/result.ts";
import type { Chunk } from "./chunks.ts";

// A page is one item with up to a hundred results, deflated: a tenth of the writes and a tenth of the bytes of an
// item each. Every chunk has a partition of its own, so a great job has no hot one.
//
//   pk                      sk                what
//   RESULTS#<job>#<chunk>   <token>#<page>    rows

/** `row` is where the address stood: in the file (its header counted), or in the list that was sent. */
export type VerifiedRow = { readonly row: number; readonly result: Verification };

const PAGE_ROWS = 100;
/**
 * Pages outlive the chunk that names them: those of its first pass are older than it is, and whoever has read that
 * it is there can count on its rows. Nobody finds them without it.
 */
const PAGE_MARGIN_SECONDS = 86_400;

type ResultPass = Pick<Chunk, "job" | "chunk"> & { readonly token: string };

/** The rows of one pass, a page to an item, each made when it is asked for. `expiresAt` is that of their chunk. */
export function* toPageItems(
  { job, chunk, token }: ResultPass,
  rows: readonly VerifiedRow[],
  expiresAt: number,
): Generator<Item> {
  for (let page = 0; page * PAGE_ROWS < rows.length; page++)
    yield {
      pk: toPagesPartition({ job, chunk }),
      sk: `${token}#${String(page).padStart(4, "0")}`,
      rows: packRows(rows.slice(page * PAGE_ROWS, (page + 1) * PAGE_ROWS)),
      expires_at: expiresAt + PAGE_MARGIN_SECONDS,
    };
}

const toPagesPartition = ({ job, chunk }: Pick<Chunk, "job" | "chunk">): string =>
  `RESULTS#${job}#${chunk}`;

const packRows = (rows: readonly VerifiedRow[]): string =>
  compressJson(rows.map(({ row, result }) => [row, pack(result)]));

const unpackRows = (item: Item): VerifiedRow[] => {
  const rows = decompressJson(v.parse(v.string(), item["rows"])) as readonly [
    number,
    PackedVerification,
  ][];
  return rows.map(([row, result]) => ({ row, result: unpack(result) }));
};

/** The rows of these passes of a chunk, in the order of the input. */
export const readResultRows = async (
  table: Table,
  { passes, ...chunk }: Pick<Chunk, "job" | "chunk" | "passes">,
): Promise<readonly VerifiedRow[]> => {
  const pk = toPagesPartition(chunk);
  const readPass = (token: string) =>
    Array.fromAsync(paginateQuery(table, { pk, sk: { prefix: `${token}#` }, pageSize: 20 }));
  const items = (await Promise.all(passes.map(readPass))).flat();
  const rows = items.flatMap(unpackRows);
  return passes.length > 1 ? rows.toSorted((a, b) => a.row - b.row) : rows;
};
