import * as v from "valibot";
import { paginateQuery } from "../lib/paginate-query.ts";
import { findItem, type Item, type Key, type Table, type Write } from "../ports/table.ts";
import { getRecordExpiry, type Job } from "./items.ts";

// Layout. The outcome of a chunk. The first process that creates the item decides, so no address is both verified and
// refunded. Results are stored in passes: deferred rows are missing from the first and are added by a later one. Each
// pass names the pages that count; pages of a worker that lost its pass are never read. deferrals.ts has the deferred
// rows.
//
//   pk            sk               what
//   CHUNKS#<job>  <five digits>    outcome, waiting, retryAt, pass_0, pass_1, …; due while rows wait

const Chunk = v.object({
  job: v.string(),
  chunk: v.number(),
  outcome: v.picklist(["done", "refunded"]),
  /** The number of rows with a result. */
  rows: v.number(),
  /** The number of rows without a result. */
  waiting: v.number(),
  /** The time of the next attempt, while rows are deferred. */
  retryAt: v.optional(v.string()),
  /** The chunk's bytes of the input, and their CRC-32. All 0 when no worker reads the input. */
  from: v.number(),
  to: v.number(),
  checksum: v.number(),
  /** The number of its passes by jobs that verified some of its rows again. Release 0.2.0 does not count them. */
  again: v.optional(v.number(), 0),
  /** The rows that an earlier list also contains: the first and the last of each run. Absent in 0.2.0. */
  known: v.optional(v.pipe(v.array(v.number()), v.readonly())),
  /** The rows with a refusal that a witness may still disprove, by its provider and exit (witnesses.ts). Absent in 0.2.0. */
  unproven: v.optional(
    v.pipe(
      v.array(
        v.pipe(v.tuple([v.string(), v.pipe(v.array(v.number()), v.readonly())]), v.readonly()),
      ),
      v.readonly(),
    ),
  ),
});

export type UnprovenRows = NonNullable<Chunk["unproven"]>;

/** `passes`: the tokens of the pages that count, one for each pass. `expiresAt`: absent while rows wait. */
export type Chunk = Readonly<v.InferOutput<typeof Chunk>> & {
  readonly passes: readonly string[];
  readonly expiresAt?: number | undefined;
};

export const toChunkKey = (job: string, chunk: number): Key => ({
  pk: `CHUNKS#${job}`,
  sk: String(chunk).padStart(5, "0"),
});

/** The number of passes that the job itself stored, without those of a child or with results of an earlier list. */
export const countOwnPasses = ({ passes, again }: Pick<Chunk, "passes" | "again">): number =>
  passes.length - again;

/** True before the first stored attempt at the chunk's rows; only rows kept from an earlier list have a result. */
export const isUntouched = (chunk: Chunk): boolean =>
  chunk.outcome === "done" && chunk.waiting > 0 && countOwnPasses(chunk) === 0;

export const toChunkItem = ({ passes, ...chunk }: Chunk): Item => ({
  ...toChunkKey(chunk.job, chunk.chunk),
  ...chunk,
  ...Object.fromEntries(passes.map((token, pass) => [toPassField(pass), token])),
});

/** One field per pass, so that a write can require that the pass is not stored yet. */
export const toPassField = (pass: number): string => `pass_${pass}`;

export const readChunkItem = (item: Item): Chunk => {
  const passes: string[] = [];
  for (let pass = 0; typeof item[toPassField(pass)] === "string"; pass++)
    passes.push(item[toPassField(pass)] as string);
  return { ...v.parse(Chunk, item), passes, expiresAt: item.expires_at };
};

/** The last chunk may have fewer rows than the others. A pending verification has one chunk, of one row. */
export const countChunkRows = (
  { total, chunkRows }: Pick<Job, "total" | "chunkRows">,
  chunk: number,
): number => (chunkRows > 0 ? Math.min(chunkRows, total - chunk * chunkRows) : total);

export const findChunk = (table: Table, job: string, chunk: number): Promise<Chunk | undefined> =>
  findItem(table, toChunkKey(job, chunk), readChunkItem);

/** Every chunk with an outcome, in order, starting with this one. */
export async function* iterateChunks(table: Table, job: string, from = 0): AsyncGenerator<Chunk> {
  const { pk, sk } = toChunkKey(job, from);
  for await (const item of paginateQuery(table, {
    pk,
    sk: { from: sk, to: "99999" },
    pageSize: 250,
  }))
    yield readChunkItem(item);
}

/** Marks a chunk as refunded, so that no worker verifies it while the job's record exists. */
export const createRefundedChunk = (
  job: { readonly id: string },
  chunk: number,
  now: Date,
): Write => ({
  create: {
    ...toChunkItem({
      job: job.id,
      chunk,
      outcome: "refunded",
      rows: 0,
      passes: [],
      waiting: 0,
      again: 0,
      from: 0,
      to: 0,
      checksum: 0,
    }),
    expires_at: getRecordExpiry(now),
  },
});
