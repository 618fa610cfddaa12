import { type Chunk, iterateChunks } from "../jobs/chunks.ts";
import { isOpenJob, type Job, toBucket } from "../jobs/items.ts";
import { type PackedRow, readPackedRows } from "../jobs/results.ts";
import { prefetch } from "../lib/prefetch.ts";
import type { Table } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import { readPackedValues } from "../verify/pack.ts";
import type { Status } from "../verify/result.ts";
import { SAFE_STATUSES } from "../verify/send-advice.ts";

/**
 * The filters of an export. The contract counts rows without a status as `unknown`; here every row has one, because
 * rows that could not be verified are stored as unknown.
 */
const STATUSES_BY_FILTER = {
  all: null,
  valid: ["valid"],
  invalid: ["invalid", "disposable"],
  risky: ["risky", "catch_all", "role", "spam_trap"],
  unknown: ["unknown"],
  catch_all: ["catch_all"],
  disposable: ["disposable"],
  role: ["role"],
  spam_trap: ["spam_trap"],
  safe_to_send: SAFE_STATUSES,
} as const satisfies Readonly<Record<string, readonly Status[] | null>>;

export type ExportFilter = keyof typeof STATUSES_BY_FILTER;
export const EXPORT_FILTERS = Object.keys(STATUSES_BY_FILTER) as readonly ExportFilter[];

/** How much of a job can be read by now. */
export type ExportSummary = {
  readonly job: Job;
  readonly chunks: readonly Chunk[];
  /** The number of results that the job counts, and how many of them are gone or not readable yet. */
  readonly expected: number;
  readonly missing: number;
  /** The number of addresses without a result. */
  readonly pending: number;
  /** The chunks that were never queued. */
  readonly refunded: ReadonlySet<number>;
};

/** Counted without reading a row, so that the response does not wait. */
export const summarizeExport = async (table: Table, job: Job): Promise<ExportSummary> => {
  const chunks = await Array.fromAsync(iterateChunks(table, job.id));
  const rows = chunks.reduce((sum, chunk) => sum + chunk.rows, 0);
  // The chunks may have more rows than the job counts, if it continued after it was read.
  const expected = Math.max(job.processed, rows);
  const refunded = chunks.filter(({ outcome }) => outcome === "refunded").map(({ chunk }) => chunk);
  return {
    job,
    chunks: chunks.filter(hasAnyRows),
    expected,
    missing: expected - rows,
    pending: isOpenJob(job) ? Math.max(0, job.total - job.refunded - expected) : 0,
    refunded: new Set(refunded),
  };
};

const hasAnyRows = ({ rows }: Chunk): boolean => rows > 0;

/** The most rows that may pass the filter. */
export const getRowsMax = (
  { job, expected, missing }: ExportSummary,
  filter: ExportFilter,
): number => Math.min(expected - missing, countInBuckets(job, STATUSES_BY_FILTER[filter]));

const countInBuckets = (job: Job, statuses: readonly Status[] | null): number =>
  statuses
    ? [...new Set(statuses.map(toBucket))].reduce((sum, bucket) => sum + job[bucket], 0)
    : Infinity;

export type ExportRowCounts = { readonly expected: number; readonly missing: number };

/**
 * How many rows an export should have by now, and how many of them cannot be read. With a filter: of the rows that pass
 * it. Only for a completed job and the four counters does the job itself have these numbers; otherwise the rows are
 * read and counted. An unreadable row counts as one that passes the filter, unless the counters exclude it.
 */
export const countExportRows = async (
  world: ReadingWorld,
  readable: ExportSummary,
  filter: ExportFilter,
): Promise<ExportRowCounts> => {
  const counts = findExportRowCounts(readable, filter);
  if (counts) return counts;
  const { missing } = readable;
  let found = 0;
  for await (const { rows } of readExportedRows(world, readable, filter)) found += rows.length;
  return toRowCounts(readable, filter, { found, missing });
};

/** The same where it is known without reading a row. */
const findExportRowCounts = (
  readable: ExportSummary,
  filter: ExportFilter,
): ExportRowCounts | undefined => {
  const { job, expected, missing } = readable;
  if (filter === "all") return { expected, missing };
  return isSummedFilter(readable, filter) && missing === 0
    ? { expected: job[filter], missing: 0 }
    : undefined;
};

/** The same for rows that were read. `missing` counts all rows, whatever the filter. */
export const toRowCounts = (
  readable: ExportSummary,
  filter: ExportFilter,
  { found, missing }: { readonly found: number; readonly missing: number },
): ExportRowCounts => {
  const expected = isSummedFilter(readable, filter)
    ? Math.max(found, readable.job[filter])
    : found + missing;
  return { expected, missing: expected - found };
};

const SUMMED_FILTERS = [
  "valid",
  "invalid",
  "risky",
  "unknown",
] as const satisfies readonly ExportFilter[];
type SummedFilter = (typeof SUMMED_FILTERS)[number];

const isSummedFilter = ({ job }: ExportSummary, filter: ExportFilter): filter is SummedFilter =>
  !isOpenJob(job) && SUMMED_FILTERS.some((one) => one === filter);

export type ExportedRows = {
  readonly chunk: Chunk;
  /** The number of rows without the filter. */
  readonly read: number;
  readonly rows: readonly PackedRow[];
};

/** On AWS a chunk takes a few milliseconds to fetch, and on one machine a few to unpack. */
const CHUNKS_AHEAD = 3;

/** About ten milliseconds. A local table never yields the thread, and a filter may leave nothing to write. */
const ROWS_WITHOUT_PAUSE = 4_000;

/** What reading the rows of an export needs of the world. */
export type ReadingWorld = Pick<World, "table" | "sleep" | "callers">;

/** A chunk at a time, in the order of the input. On one machine each chunk waits for callers, as lists do. */
export async function* readExportedRows(
  { table, sleep, callers }: ReadingWorld,
  { job, chunks }: Pick<ExportSummary, "job" | "chunks">,
  filter: ExportFilter,
): AsyncGenerator<ExportedRows> {
  const statuses: readonly Status[] | null = STATUSES_BY_FILTER[filter];
  const requester = { account: job.account, priority: "list" } as const;
  const read = async (chunk: Chunk) => {
    await callers.yieldToCallers(requester);
    return { chunk, all: await readPackedRows(table, chunk) };
  };
  let withoutPause = 0;
  for await (const { chunk, all } of prefetch(chunks, CHUNKS_AHEAD, read)) {
    const rows = statuses
      ? all.filter(([, result]) => statuses.includes(readPackedValues(result)[2]))
      : all;
    yield { chunk, read: all.length, rows };
    withoutPause += all.length;
    if (withoutPause < ROWS_WITHOUT_PAUSE) continue;
    withoutPause = 0;
    await sleep(0);
  }
}
