import type { Write } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import { type Job, type ResultBucket, toBucket } from "./items.ts";
import { buildSummaryWrites, toSummaryKey } from "./result-summary.ts";
import { type PackedRow, toPageItems, unpackRow, type VerifiedRow } from "./results.ts";
import { buildIndexWrites } from "./row-index.ts";

// Writes results of an earlier list as passes of the chunks of a new one, in the order of the earlier list. Memory holds
// few rows, so a chunk gets several passes when the two lists differ in order.

const ROWS_HELD_MAX = 50_000;
/** Packing four chunks takes about 40 ms. One by one, a thousand chunks would take half of the time limit of a request on AWS. */
const CHUNKS_AT_ONCE = 4;

export const createKeptPasses = (
  world: Pick<World, "table" | "newId" | "callers">,
  job: Pick<Job, "id" | "account" | "domains">,
  expiresAt: number,
) => {
  const held = new Map<number, PackedRow[]>();
  const passes = new Map<number, string[]>();
  const buckets: Partial<Record<ResultBucket, number>> = {};
  const summary: Record<string, number> = {};
  let rowsHeld = 0;

  const write = async (chunk: number, packed: readonly PackedRow[]): Promise<void> => {
    const rows = packed.toSorted(([a], [b]) => a - b).map(unpackRow);
    const earlier = passes.get(chunk) ?? [];
    const pass = { job: job.id, chunk, token: world.newId("txn") };
    const known = toRuns(rows.map(({ row }) => row));
    const piece = { ...pass, job, pass: earlier.length, known };
    const pages = [...toPageItems(pass, rows, expiresAt)].map((put) => ({ put }));
    const writes = [...pages, ...buildIndexWrites(piece, rows, expiresAt)];
    const results = await Promise.all(writes.map((one) => world.table.write(one)));
    if (results.some(({ outcome }) => outcome !== "committed"))
      throw new Error("unknown whether earlier results were stored");
    passes.set(chunk, [...earlier, pass.token]);
    count(rows);
  };
  const count = (rows: readonly VerifiedRow[]): void => {
    for (const { result } of rows) {
      const bucket = toBucket(result.status);
      buckets[bucket] = (buckets[bucket] ?? 0) + 1;
    }
    for (const { add = {} } of buildSummaryWrites(job, rows, expiresAt))
      for (const [field, by] of Object.entries(add)) summary[field] = (summary[field] ?? 0) + by;
  };
  const end = async (): Promise<void> => {
    const chunks = [...held];
    held.clear();
    rowsHeld = 0;
    for (let from = 0; from < chunks.length; from += CHUNKS_AT_ONCE) {
      const some = chunks.slice(from, from + CHUNKS_AT_ONCE);
      await Promise.all(some.map(([chunk, rows]) => write(chunk, rows)));
      await world.callers.yieldToCallers({ account: job.account, priority: "list" });
    }
  };
  return {
    add: (chunk: number, row: PackedRow): Promise<void> | undefined => {
      const rows = held.get(chunk);
      if (rows) rows.push(row);
      else held.set(chunk, [row]);
      rowsHeld += 1;
      return rowsHeld < ROWS_HELD_MAX ? undefined : end();
    },
    /** Writes the rows that are still in memory. */
    end,
    /** The tokens of the passes of a chunk. */
    listPasses: (chunk: number): readonly string[] => passes.get(chunk) ?? [],
    /** For the item of the new job: its rows by status. */
    buckets,
    /** The write that counts the rows in the summary of the new job. */
    buildSummary: (): Write => ({
      create: { ...toSummaryKey(job.id), ...summary, expires_at: expiresAt },
    }),
  };
};

/** Consecutive rows become one run: its first and its last row. */
export const toRuns = (rows: readonly number[]): readonly number[] =>
  rows.flatMap((row, at) => [
    ...(at > 0 && rows[at - 1] === row - 1 ? [] : [row]),
    ...(rows[at + 1] === row + 1 ? [] : [row]),
  ]);

export const isInRuns = (runs: readonly number[] | undefined, row: number): boolean => {
  if (!runs) return false;
  for (let at = 0; at < runs.length; at += 2)
    if ((runs[at] ?? 0) <= row && row <= (runs[at + 1] ?? 0)) return true;
  return false;
};
