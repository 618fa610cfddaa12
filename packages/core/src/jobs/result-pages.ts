import type { Table } from "../table.ts";
import { type Chunk, chunksOf, findChunk } from "./chunks.ts";
import { isOpen, type Job } from "./items.ts";
import { type Row, rowsOf } from "./results.ts";

// A job is read while it runs. Chunks finish in any order, and a chunk gets rows in several passes: a reader that
// only knew its last row would miss whatever arrives before it. Passes of a chunk are numbered, only appended, and
// never changed, so one number for each chunk says which rows a reader has.

/** Which rows of a job its reader has. It travels with the reader, inside the cursor. */
export type Delivered = {
  /** Every chunk before this one is final, and the reader has all of it. */
  readonly before: number;
  /** For each chunk from there on: how many of its passes the reader has. */
  readonly passes: readonly number[];
  /** The chunk in which the last page ended: of its first `passes` passes the reader has the rows before `row`. */
  readonly partial?: { readonly chunk: number; readonly passes: number; readonly row: number };
};

export const NOTHING_DELIVERED: Delivered = { before: 0, passes: [] };

/** Without `next` the job is over, and the reader has every row of it. */
export type ResultPage = { readonly rows: readonly Row[]; readonly next?: Delivered };

/**
 * Each chunk with new rows costs a query, and late rows are few in each of many chunks. So a page may be short though
 * more is there.
 */
const CHUNKS_PER_PAGE_MAX = 100;

/**
 * The next rows that the reader does not have: first the rest of the chunk where it stopped, then in the order of the
 * input. `job` must have been read before: what a job that is over says of itself was written after its last row.
 */
export const readResultPage = async (
  table: Table,
  job: Pick<Job, "id" | "status">,
  delivered: Delivered,
  limit: number,
): Promise<ResultPage> => {
  const { partial } = delivered;
  const rows: Row[] = [];
  const counts = new Map(delivered.passes.map((passes, at) => [delivered.before + at, passes]));
  let { before } = delivered;
  let chunksRead = 0;

  /** Adds the rows of the chunk's first passes that the reader does not have. Defined: the page ends here. */
  const add = async (chunk: Chunk, upTo: number, fromRow = 0): Promise<Delivered | undefined> => {
    const passes = Math.min(upTo, chunk.passes.length);
    const fresh = chunk.passes.slice(counts.get(chunk.chunk) ?? 0, passes);
    if (fresh.length === 0) return undefined;
    if (chunksRead++ === CHUNKS_PER_PAGE_MAX) return toDelivered(before, counts);
    const all = await rowsOf(table, { ...chunk, passes: fresh });
    const found = all.filter(({ row }) => row >= fromRow);
    const left = limit - rows.length;
    const over = found[left];
    rows.push(...found.slice(0, left));
    if (over) return toDelivered(before, counts, { chunk: chunk.chunk, passes, row: over.row });
    counts.set(chunk.chunk, passes);
    return undefined;
  };

  const stopped = partial && (await findChunk(table, job.id, partial.chunk));
  const full = partial && stopped && (await add(stopped, partial.passes, partial.row));
  if (full) return { rows, next: full };

  for await (const chunk of chunksOf(table, job.id, before)) {
    const next = await add(chunk, Number.POSITIVE_INFINITY);
    if (next) return { rows, next };
    if (chunk.chunk === before && isFinal(chunk)) counts.delete(before++);
  }
  return isOpen(job) ? { rows, next: toDelivered(before, counts) } : { rows };
};

/** No pass over it will bring more rows. */
const isFinal = ({ outcome, waiting }: Chunk): boolean => outcome === "refunded" || waiting === 0;

const toDelivered = (
  before: number,
  counts: ReadonlyMap<number, number>,
  partial?: Delivered["partial"],
): Delivered => ({
  before,
  passes: Array.from(
    { length: Math.max(before, ...[...counts.keys()].map((chunk) => chunk + 1)) - before },
    (_, at) => counts.get(before + at) ?? 0,
  ),
  ...(partial && { partial }),
});
