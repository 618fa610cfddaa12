import type { World } from "../world.ts";
import type { ExcludedRow } from "./excluded-rows.ts";
import { type Exclusion, readExclusion } from "./exclusion.ts";
import type { ExportedRows, Readable } from "./export.ts";
import type { InputRow } from "./input-blob.ts";
import { isOpen } from "./items.ts";
import { type OwnList, openOwnList } from "./own-list.ts";
import type { Row } from "./results.ts";

/** Which rows an export has: those with a result, or every row of the list. */
export const ROW_SELECTIONS = ["verified", "all"] as const;
export type RowSelection = (typeof ROW_SELECTIONS)[number];

/**
 * Why a row has no result. pending: the job has not come to it. not_queued: its chunk was refunded. missing: it has
 * one that cannot be read.
 */
type Unverified = "pending" | "not_queued" | "missing";

/** A row of the list beside its result. `own` is missing where the input is gone. */
export type ListedRow =
  | readonly [own: InputRow | undefined, outcome: Row]
  | readonly [own: InputRow, outcome: Unverified]
  | readonly [own: ExcludedRow, outcome: "excluded"];

/** What an export of every row says of a row. */
export const ROW_OUTCOMES = [
  "verified",
  "pending",
  "not_queued",
  "missing",
  "duplicate",
  "skipped",
] as const;

export type RowOutcome = {
  readonly row: number;
  readonly outcome: (typeof ROW_OUTCOMES)[number];
  readonly exclusion: Exclusion | null;
};

export const outcomeOf = ([own, outcome]: ListedRow): RowOutcome => {
  if (typeof outcome !== "string")
    return { row: outcome.row, outcome: "verified", exclusion: null };
  const row = own?.[0] ?? 0;
  if (outcome !== "excluded") return { row, outcome, exclusion: null };
  const exclusion = readExclusion(own?.[1] ?? "");
  return { row, outcome: exclusion.kind, exclusion };
};

/** The address that is verified; "" of a row that is not. */
export const emailOf = ([own, outcome]: ListedRow): string => {
  if (typeof outcome !== "string") return outcome.result.email;
  return outcome === "excluded" || typeof own?.[1] !== "string" ? "" : own[1];
};

export type ListedRows = { readonly list: OwnList; readonly rows: readonly ListedRow[] };

/** The rows of the list with what the export says of them, a chunk at a time, in the order of the list. */
export async function* listedRows(
  world: Pick<World, "table" | "blobs">,
  readable: Readable,
  exported: AsyncIterable<ExportedRows>,
  selection: RowSelection,
): AsyncGenerator<ListedRows> {
  const results = exported[Symbol.asyncIterator]();
  let list: OwnList | undefined;
  try {
    const first = await results.next();
    if (first.done) return;
    // Not before there is something to read beside it: an input that is opened and not read is never closed.
    list = await openOwnList(world, readable.job);
    const all = continued(first.value, results);
    const rows =
      selection === "all" && list.chunks > 0
        ? everyRow(list, readable, all)
        : verifiedRows(list, all);
    for await (const some of rows) yield { list, rows: some };
  } finally {
    await list?.close();
    await results.return?.();
  }
}

async function* continued<T>(first: T, more: AsyncIterator<T>): AsyncGenerator<T> {
  yield first;
  for (let one = await more.next(); !one.done; one = await more.next()) yield one.value;
}

/** Both are in the order of the list, and not every row of the input has a result. */
async function* verifiedRows(
  list: OwnList,
  exported: AsyncIterable<ExportedRows>,
): AsyncGenerator<readonly ListedRow[]> {
  for await (const { chunk, rows } of exported) {
    const input = await list.rowsOf(chunk.chunk);
    let at = 0;
    yield rows.map((row) => {
      while ((input[at]?.[0] ?? Infinity) < row.row) at++;
      const own = input[at];
      return [own?.[0] === row.row ? own : undefined, row];
    });
  }
}

async function* everyRow(
  list: OwnList,
  readable: Readable,
  exported: AsyncGenerator<ExportedRows>,
): AsyncGenerator<readonly ListedRow[]> {
  const excluded = list.excluded();
  try {
    let next = await exported.next();
    for (let chunk = 0; chunk < list.chunks; chunk++) {
      const results: Row[] = [];
      if (!next.done && next.value.chunk.chunk === chunk) {
        results.push(...next.value.rows);
        next = await exported.next();
      }
      const rows: ListedRow[] = [];
      const outcome = unverifiedIn(readable, chunk);
      let at = 0;
      for (const own of await list.rowsOf(chunk)) {
        for (const one of await excluded.before(own[0])) rows.push([one, "excluded"]);
        const result = results[at];
        if (result?.row === own[0]) at++;
        rows.push(result?.row === own[0] ? [own, result] : [own, outcome]);
      }
      yield rows;
    }
    for (;;) {
      const rest = await excluded.before(Infinity);
      if (rest.length === 0) return;
      yield rest.map((one) => [one, "excluded"]);
    }
  } finally {
    await excluded.close();
  }
}

const unverifiedIn = ({ job, refunded }: Readable, chunk: number): Unverified => {
  if (refunded.has(chunk)) return "not_queued";
  return isOpen(job) ? "pending" : "missing";
};
