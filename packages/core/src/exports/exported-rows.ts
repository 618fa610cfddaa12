import {
  createOriginTest,
  createRowTest,
  parseRowFilter,
  type RowFilter,
} from "../find-rows/row-filter.ts";
import { prefetch } from "../lib/prefetch.ts";
import type { Table } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import { type Chunk, iterateChunks } from "../rows/chunks.ts";
import { isOpenJob, type Job, toBucket } from "../rows/items.ts";
import { type PackedRow, readPackedRows } from "../rows/results.ts";
import { readPackedValues } from "../verify/pack.ts";
import type { Status } from "../verify/result.ts";
import { type SendAdvice, toSendAdvice } from "../verify/send-advice.ts";

/**
 * The named filters of an export. The contract counts rows without a status as `unknown`; here every row has a status, because
 * a row that could not be verified is stored as unknown.
 */
const NAMED = {
  all: {},
  valid: { status: ["valid"] },
  invalid: { status: ["invalid", "disposable"] },
  risky: { status: ["risky", "catch_all", "role", "spam_trap"] },
  unknown: { status: ["unknown"] },
  catch_all: { status: ["catch_all"] },
  disposable: { status: ["disposable"] },
  role: { status: ["role"] },
  spam_trap: { status: ["spam_trap"] },
  safe_to_send: { send: ["yes"] },
} as const satisfies Readonly<Record<string, RowFilter>>;

type ExportName = keyof typeof NAMED;
export const EXPORT_NAMES = Object.keys(NAMED) as readonly ExportName[];

const isNamed = (filter: string): filter is ExportName => Object.hasOwn(NAMED, filter);

const toRowFilter = (filter: string): RowFilter =>
  isNamed(filter) ? NAMED[filter] : parseRowFilter(filter);

export type WantedRows = {
  /** A filter is a name, or a list of terms as for a page of rows. */
  readonly filter: string;
  /** The text is a part of the address. */
  readonly text: string | null;
  readonly send?: SendAdvice;
};

const isEverything = ({ filter, text, send }: WantedRows): boolean =>
  filter === "all" && text === null && send === undefined;

export type ExportSummary = {
  readonly job: Job;
  readonly chunks: readonly Chunk[];
  /** The number of results that the job counts, and the number of these that are deleted or not readable yet. */
  readonly expected: number;
  readonly missing: number;
  readonly pending: number;
  /** These chunks were never queued. */
  readonly refunded: ReadonlySet<number>;
};

/** Counts without reading a row, so that the response does not wait. */
export const summarizeExport = async (table: Table, job: Job): Promise<ExportSummary> => {
  const chunks = await Array.fromAsync(iterateChunks(table, job.id));
  const rows = chunks.reduce((sum, chunk) => sum + chunk.rows, 0);
  // The chunks may contain more rows than the job counts, if the job continued after it was read.
  const expected = Math.max(job.processed, rows);
  const refunded = chunks.filter(({ outcome }) => outcome === "refunded").map(({ chunk }) => chunk);
  return {
    job,
    chunks: chunks.filter(hasAnyRows),
    expected,
    missing: expected - rows,
    pending: isOpenJob(job) ? Math.max(0, job.total - job.refunds.no_result - expected) : 0,
    refunded: new Set(refunded),
  };
};

const hasAnyRows = ({ rows }: Chunk): boolean => rows > 0;

/** Returns an upper bound for the rows that pass the filter. */
export const getRowsMax = (
  { job, expected, missing }: ExportSummary,
  { filter }: WantedRows,
): number => Math.min(expected - missing, countInBuckets(job, toRowFilter(filter).status));

const countInBuckets = (job: Job, statuses: readonly Status[] | undefined): number =>
  statuses
    ? [...new Set(statuses.map(toBucket))].reduce((sum, bucket) => sum + job[bucket], 0)
    : Infinity;

export type ExportRowCounts = { readonly expected: number; readonly missing: number };

/**
 * Counts the rows that an export should contain by now, and the unreadable rows among them, after the filter. The job itself
 * knows these numbers only when it is completed, for the four counters; otherwise this reads and counts the rows. An unreadable
 * row counts as passing the filter, unless the counters exclude it.
 */
export const countExportRows = async (
  world: ReadingWorld,
  readable: ExportSummary,
  wanted: WantedRows,
): Promise<ExportRowCounts> => {
  const counts = findExportRowCounts(readable, wanted);
  if (counts) return counts;
  const { missing } = readable;
  let found = 0;
  for await (const { rows } of readExportedRows(world, readable, wanted)) found += rows.length;
  return toRowCounts(readable, wanted, { found, missing });
};

/** Returns the counts if they are known without reading a row. */
const findExportRowCounts = (
  readable: ExportSummary,
  wanted: WantedRows,
): ExportRowCounts | undefined => {
  const { job, expected, missing } = readable;
  if (isEverything(wanted)) return { expected, missing };
  const counter = findCounter(readable, wanted);
  return counter && missing === 0 ? { expected: job[counter], missing: 0 } : undefined;
};

/** Returns the counts after the rows were read. `missing` counts all rows, whatever the filter. */
export const toRowCounts = (
  readable: ExportSummary,
  wanted: WantedRows,
  { found, missing }: { readonly found: number; readonly missing: number },
): ExportRowCounts => {
  const counter = findCounter(readable, wanted);
  const expected = counter ? Math.max(found, readable.job[counter]) : found + missing;
  return { expected, missing: expected - found };
};

const COUNTERS = ["valid", "invalid", "risky", "unknown"] as const satisfies readonly ExportName[];

const findCounter = (
  { job }: ExportSummary,
  { filter, text, send }: WantedRows,
): (typeof COUNTERS)[number] | undefined =>
  isOpenJob(job) || text !== null || send !== undefined
    ? undefined
    : COUNTERS.find((one) => one === filter);

export type ExportedRows = {
  readonly chunk: Chunk;
  /** The number of rows before the filter. */
  readonly read: number;
  readonly rows: readonly PackedRow[];
};

/** A chunk takes a few milliseconds to fetch on AWS, and to unpack on one machine. */
const CHUNKS_AHEAD = 3;

/** About ten milliseconds of work. A local table never yields the thread, and a filter may leave nothing to write. */
const ROWS_WITHOUT_PAUSE = 4_000;

export type ReadingWorld = Pick<World, "table" | "sleep" | "callers">;

/** Yields one chunk at a time, in the order of the input. On one machine each chunk waits for callers, as lists do. */
export async function* readExportedRows(
  { table, sleep, callers }: ReadingWorld,
  { job, chunks }: Pick<ExportSummary, "job" | "chunks">,
  wanted: WantedRows,
): AsyncGenerator<ExportedRows> {
  const isWanted = isEverything(wanted) ? undefined : createTest(wanted);
  const filter = toRowFilter(wanted.filter);
  const requester = { account: job.account, priority: "list" } as const;
  const read = async (chunk: Chunk) => {
    await callers.yieldToCallers(requester);
    return { chunk, all: await readPackedRows(table, chunk) };
  };
  let withoutPause = 0;
  for await (const { chunk, all } of prefetch(chunks, CHUNKS_AHEAD, read)) {
    const isOrigin = createOriginTest(filter, chunk.known);
    const rows = isWanted
      ? all.filter(
          ([row, result]) => isOrigin?.(row) !== false && isWanted(readPackedValues(result)),
        )
      : all;
    yield { chunk, read: all.length, rows };
    withoutPause += all.length;
    if (withoutPause < ROWS_WITHOUT_PAUSE) continue;
    withoutPause = 0;
    await sleep(0);
  }
}

const createTest = ({ filter, text, send }: WantedRows): ReturnType<typeof createRowTest> => {
  const isFound = createRowTest(toRowFilter(filter), text);
  return (values) => isFound(values) && (send === undefined || toSendAdvice(values[2]) === send);
};
