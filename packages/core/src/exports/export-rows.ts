import type { ExcludedRow } from "../intake/excluded-rows.ts";
import { type Exclusion, toExclusion } from "../intake/exclusion.ts";
import type { InputRow } from "../intake/input-blob.ts";
import type { World } from "../ports/world.ts";
import { isOpenJob } from "../rows/items.ts";
import type { PackedRow } from "../rows/results.ts";
import { readPackedValues } from "../verify/pack.ts";
import type { ExportedRows, ExportSummary } from "./exported-rows.ts";
import { openSourceList, type SourceList } from "./source-list.ts";

export const ROW_SELECTIONS = ["verified", "all"] as const;
export type RowSelection = (typeof ROW_SELECTIONS)[number];

/**
 * The reason that a row has no result. pending: the job has not verified it yet. not_queued: its chunk was refunded. cancelled:
 * the job was cancelled earlier. missing: its result cannot be read.
 */
type UnverifiedOutcome = "pending" | "not_queued" | "cancelled" | "missing";

/** A row of the list with its result. `own` is undefined when the input no longer exists. */
export type ListedRow =
  | readonly [own: InputRow | undefined, outcome: PackedRow]
  | readonly [own: InputRow, outcome: UnverifiedOutcome]
  | readonly [own: ExcludedRow, outcome: "excluded"];

export const ROW_OUTCOMES = [
  "verified",
  "pending",
  "not_queued",
  "cancelled",
  "missing",
  "duplicate",
  "skipped",
] as const;

export type RowOutcome = {
  readonly row: number;
  readonly outcome: (typeof ROW_OUTCOMES)[number];
  readonly exclusion: Exclusion | null;
};

export const toRowOutcome = ([own, outcome]: ListedRow): RowOutcome => {
  if (typeof outcome !== "string") return { row: outcome[0], outcome: "verified", exclusion: null };
  const row = own?.[0] ?? 0;
  if (outcome !== "excluded") return { row, outcome, exclusion: null };
  const exclusion = toExclusion(own?.[1] ?? "");
  return { row, outcome: exclusion.kind, exclusion };
};

/** Returns the list's address, even when a corrected address was verified; "" for an excluded row and for an erased address. */
export const getEmail = ([own, outcome]: ListedRow): string => {
  if (outcome === "excluded") return "";
  if (typeof own?.[1] === "string" && own[1] !== "") return own[1];
  return typeof outcome === "string" ? "" : readPackedValues(outcome[1])[1];
};

export type ListedRows = { readonly list: SourceList; readonly rows: readonly ListedRow[] };

/** Writing 100 rows takes about 2 ms; a list with many columns gets fewer rows per step. */
const ROWS_OF_STEP = 100;
const COLUMNS_OF_STEP = 20;

/** Yields the rows of the list with their outcome, in the order of the list, a few rows per step. */
export async function* readListedRows(
  world: Pick<World, "table" | "blobs" | "callers">,
  readable: ExportSummary,
  exported: AsyncIterable<ExportedRows>,
  selection: RowSelection,
): AsyncGenerator<ListedRows> {
  const results = exported[Symbol.asyncIterator]();
  let list: SourceList | undefined;
  try {
    const first = await results.next();
    if (first.done) return;
    // Opens the input only once a row needs it: an input that is opened and never read stays open.
    list = await openSourceList(
      world,
      readable.job,
      selection === "all" ? 0 : first.value.chunk.chunk,
    );
    const all = continueIterator(first.value, results);
    const rows =
      selection === "all" && list.chunks > 0
        ? readEveryRow(list, readable, all)
        : readVerifiedRows(list, all);
    const requester = { account: readable.job.account, priority: "list" } as const;
    const width = Math.max(1, list.columns.length / COLUMNS_OF_STEP);
    const step = Math.max(1, Math.floor(ROWS_OF_STEP / width));
    for await (const some of rows) {
      let at = 0;
      // Yields even an empty step, because the first step carries the header.
      do {
        // Reading files does not yield to other work; without this wait, one turn would write many exports.
        await world.callers.yieldToCallers(requester);
        yield { list, rows: some.slice(at, at + step) };
        at += step;
      } while (at < some.length);
    }
  } finally {
    await list?.close();
    await results.return?.();
  }
}

async function* continueIterator<T>(first: T, more: AsyncIterator<T>): AsyncGenerator<T> {
  yield first;
  for (let one = await more.next(); !one.done; one = await more.next()) yield one.value;
}

/** Merges results and input, both in the order of the list. Some rows of the input have no result. */
async function* readVerifiedRows(
  list: SourceList,
  exported: AsyncIterable<ExportedRows>,
): AsyncGenerator<readonly ListedRow[]> {
  for await (const { chunk, rows } of exported) {
    const input = await list.readChunkRows(chunk.chunk);
    let at = 0;
    yield rows.map((row) => {
      while ((input[at]?.[0] ?? Infinity) < row[0]) at++;
      const own = input[at];
      return [own?.[0] === row[0] ? own : undefined, row];
    });
  }
}

async function* readEveryRow(
  list: SourceList,
  readable: ExportSummary,
  exported: AsyncGenerator<ExportedRows>,
): AsyncGenerator<readonly ListedRow[]> {
  const excluded = list.openExcluded();
  try {
    let next = await exported.next();
    for (let chunk = 0; chunk < list.chunks; chunk++) {
      const results: PackedRow[] = [];
      if (!next.done && next.value.chunk.chunk === chunk) {
        results.push(...next.value.rows);
        next = await exported.next();
      }
      const rows: ListedRow[] = [];
      const outcome = getUnverifiedOutcome(readable, chunk);
      let at = 0;
      for (const own of await list.readChunkRows(chunk)) {
        for (const one of await excluded.before(own[0])) rows.push([one, "excluded"]);
        const result = results[at];
        const isVerified = result?.[0] === own[0];
        if (isVerified) at++;
        rows.push(isVerified ? [own, result] : [own, outcome]);
      }
      yield rows;
    }
    for (;;) {
      const remaining = await excluded.before(Infinity);
      if (remaining.length === 0) return;
      yield remaining.map((one) => [one, "excluded"]);
    }
  } finally {
    await excluded.close();
  }
}

const getUnverifiedOutcome = (
  { job, refunded }: ExportSummary,
  chunk: number,
): UnverifiedOutcome => {
  if (refunded.has(chunk)) return "not_queued";
  if (isOpenJob(job)) return "pending";
  return job.status === "cancelled" ? "cancelled" : "missing";
};
