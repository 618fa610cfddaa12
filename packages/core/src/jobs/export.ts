import { madeAhead } from "../made-ahead.ts";
import type { Table } from "../table.ts";
import type { Status } from "../verify/result.ts";
import type { World } from "../world.ts";
import { type Chunk, chunksOf } from "./chunks.ts";
import { bucketOf, isOpen, type Job } from "./items.ts";
import { type Row, rowsOf } from "./results.ts";

/**
 * Which rows an export may be limited to. The contract gives those without a status to `unknown`; here none is
 * without, for what could not be verified is stored as unknown, too.
 */
const SHOWN = {
  all: null,
  valid: ["valid"],
  invalid: ["invalid", "disposable"],
  risky: ["risky", "catch_all", "role", "spam_trap"],
  unknown: ["unknown"],
  catch_all: ["catch_all"],
  disposable: ["disposable"],
  role: ["role"],
  spam_trap: ["spam_trap"],
} as const satisfies Readonly<Record<string, readonly Status[] | null>>;

export type Filter = keyof typeof SHOWN;
export const FILTERS = Object.keys(SHOWN) as readonly Filter[];

/** What of a job can be read by now. */
export type Readable = {
  readonly job: Job;
  readonly chunks: readonly Chunk[];
  /** How many rows the job says it has, and how many of them are gone or not to be seen yet. */
  readonly expected: number;
  readonly missing: number;
  /** Addresses of the job that have no result yet. */
  readonly pending: number;
  /** The chunks that were never queued. */
  readonly refunded: ReadonlySet<number>;
};

/** Counted without reading one row, so that whoever is told of it waits for nothing. */
export const findReadable = async (table: Table, job: Job): Promise<Readable> => {
  const chunks = await Array.fromAsync(chunksOf(table, job.id));
  const rows = chunks.reduce((sum, chunk) => sum + chunk.rows, 0);
  // More than the job knows of: it went on after it was read.
  const expected = Math.max(job.processed, rows);
  const refunded = chunks.filter(({ outcome }) => outcome === "refunded").map(({ chunk }) => chunk);
  return {
    job,
    chunks: chunks.filter(hasRows),
    expected,
    missing: expected - rows,
    pending: isOpen(job) ? Math.max(0, job.total - job.refunded - expected) : 0,
    refunded: new Set(refunded),
  };
};

const hasRows = ({ rows }: Chunk): boolean => rows > 0;

/** No more than these come through the filter. */
export const rowsAtMost = ({ job, expected, missing }: Readable, filter: Filter): number =>
  filter === "all" ? expected - missing : Math.min(expected - missing, job[bucketOf(filter)]);

export type RowCounts = { readonly expected: number; readonly missing: number };

/**
 * How many rows an export should have by now, and how many of them cannot be read. With a filter: of the rows that it
 * lets through. The job's sums tell that of a completed job for the four sums alone; all else is counted by reading.
 * A row that cannot be read counts as one that the filter lets through, unless the sums say otherwise.
 */
export const countRows = async (
  world: Pick<World, "table" | "sleep">,
  readable: Readable,
  filter: Filter,
): Promise<RowCounts> => {
  const { job, expected, missing } = readable;
  if (filter === "all") return { expected, missing };
  if (isSummed(readable, filter) && missing === 0) return { expected: job[filter], missing: 0 };
  let found = 0;
  for await (const { rows } of exportedRows(world, readable, filter)) found += rows.length;
  return countsOfFound(readable, filter, { found, missing });
};

/** The same, of rows that were read. `missing` is of all rows, whatever the filter. */
export const countsOfFound = (
  readable: Readable,
  filter: Filter,
  { found, missing }: { readonly found: number; readonly missing: number },
): RowCounts => {
  const expected = isSummed(readable, filter)
    ? Math.max(found, readable.job[filter])
    : found + missing;
  return { expected, missing: expected - found };
};

const SUMMED = ["valid", "invalid", "risky", "unknown"] as const satisfies readonly Filter[];
type Summed = (typeof SUMMED)[number];

const isSummed = ({ job }: Readable, filter: Filter): filter is Summed =>
  !isOpen(job) && SUMMED.some((one) => one === filter);

export type ExportedRows = {
  readonly chunk: Chunk;
  /** How many there are without the filter. */
  readonly read: number;
  readonly rows: readonly Row[];
};

/** On AWS a chunk takes a few milliseconds to come, and on one machine a few to be unpacked. */
const CHUNKS_AHEAD = 3;

/** About ten milliseconds. A table on this machine leaves nobody a turn, and a filter may leave nothing to write. */
const ROWS_WITHOUT_PAUSE = 4_000;

/** A chunk at a time, in the order of the input. */
export async function* exportedRows(
  { table, sleep }: Pick<World, "table" | "sleep">,
  { chunks }: Pick<Readable, "chunks">,
  filter: Filter,
): AsyncGenerator<ExportedRows> {
  const shown: readonly Status[] | null = SHOWN[filter];
  const read = async (chunk: Chunk) => ({ chunk, all: await rowsOf(table, chunk) });
  let withoutPause = 0;
  for await (const { chunk, all } of madeAhead(chunks, CHUNKS_AHEAD, read)) {
    const rows = shown ? all.filter(({ result }) => shown.includes(result.status)) : all;
    yield { chunk, read: all.length, rows };
    withoutPause += all.length;
    if (withoutPause < ROWS_WITHOUT_PAUSE) continue;
    withoutPause = 0;
    await sleep(0);
  }
}
