import type { Table } from "../ports/table.ts";
import { type Chunk, findChunk, iterateChunks } from "../rows/chunks.ts";
import { isOpenJob, type Job } from "../rows/items.ts";
import { readResultRows, type VerifiedRow } from "../rows/results.ts";

// Clients can read a job while it runs. Chunks finish in any order, and a worker adds rows to a chunk in several passes, so a
// cursor with only the last row would miss rows that are stored before it. The passes of a chunk are numbered, only appended,
// and never changed, so one number per chunk describes the rows that a reader has.

/** The rows of a job that the reader has. The cursor encodes it. */
export type ReadProgress = {
  /** Every chunk before this one is final, and the reader has all of its rows. */
  readonly before: number;
  /** The number of passes that the reader has, for each chunk from `before` on. */
  readonly passes: readonly number[];
  /** The chunk in which the last page ended: of its first `passes` passes the reader has the rows before `row`. */
  readonly partial?: { readonly chunk: number; readonly passes: number; readonly row: number };
};

export const NOTHING_READ: ReadProgress = { before: 0, passes: [] };

/** Without `next` the job has ended, and the reader has every row. */
export type ResultPage = { readonly rows: readonly VerifiedRow[]; readonly next?: ReadProgress };

/**
 * Reading a chunk with new rows costs one query, and often only a few late rows are new in each of many chunks. So a page may be
 * short although more rows follow.
 */
const CHUNKS_PER_PAGE_MAX = 100;

/**
 * Returns the next rows that the reader lacks: first the rest of the chunk where it stopped, then in the order of the input,
 * until `take` refuses a row. The caller must read `job` first: a job's end is written after its last row.
 */
export const readResultPage = async (
  table: Table,
  job: Pick<Job, "id" | "status">,
  delivered: ReadProgress,
  take: (row: VerifiedRow) => boolean,
): Promise<ResultPage> => {
  const { partial } = delivered;
  const rows: VerifiedRow[] = [];
  const counts = new Map(delivered.passes.map((passes, at) => [delivered.before + at, passes]));
  let { before } = delivered;
  let chunksRead = 0;

  /** Adds the rows of the chunk's first passes that the reader lacks. Returns a position if the page ends here. */
  const add = async (
    chunk: Chunk,
    upTo: number,
    fromRow = 0,
  ): Promise<ReadProgress | undefined> => {
    const passes = Math.min(upTo, chunk.passes.length);
    const newPasses = chunk.passes.slice(counts.get(chunk.chunk) ?? 0, passes);
    if (newPasses.length === 0) return undefined;
    if (chunksRead++ === CHUNKS_PER_PAGE_MAX) return toReadProgress(before, counts);
    const all = await readResultRows(table, { ...chunk, passes: newPasses });
    for (const one of all) {
      const { row } = one;
      if (row < fromRow) continue;
      if (!take(one)) return toReadProgress(before, counts, { chunk: chunk.chunk, passes, row });
      rows.push(one);
    }
    counts.set(chunk.chunk, passes);
    return undefined;
  };

  const lastChunk = partial && (await findChunk(table, job.id, partial.chunk));
  const fullPage = partial && lastChunk && (await add(lastChunk, partial.passes, partial.row));
  if (fullPage) return { rows, next: fullPage };

  for await (const chunk of iterateChunks(table, job.id, before)) {
    const next = await add(chunk, Number.POSITIVE_INFINITY);
    if (next) return { rows, next };
    if (chunk.chunk === before && isFinalChunk(chunk)) counts.delete(before++);
  }
  return isOpenJob(job) ? { rows, next: toReadProgress(before, counts) } : { rows };
};

/** No further pass will add rows to the chunk. */
const isFinalChunk = ({ outcome, waiting }: Chunk): boolean =>
  outcome === "refunded" || waiting === 0;

const toReadProgress = (
  before: number,
  counts: ReadonlyMap<number, number>,
  partial?: ReadProgress["partial"],
): ReadProgress => ({
  before,
  passes: Array.from(
    { length: Math.max(before, ...[...counts.keys()].map((chunk) => chunk + 1)) - before },
    (_, at) => counts.get(before + at) ?? 0,
  ),
  ...(partial && { partial }),
});
