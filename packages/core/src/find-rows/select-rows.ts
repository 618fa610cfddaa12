import type { Table } from "../ports/table.ts";
import {
  type AddressedPiece,
  getKindAt,
  getRowAt,
  type IndexedJob,
  readSlices,
} from "../rows/row-index.ts";
import { createPieceTest, type RowFilter } from "./row-filter.ts";
import { createComparator, createFirstRows, type RowOrder, type RowPosition } from "./sort-rows.ts";

// Finds and sorts rows of a job by its index: the matching rows, their number, and where one page of them is stored. It reads
// the index in slices, between which other work runs, and holds only the rows near the page.

export type RowSelection = {
  readonly filter: RowFilter;
  /** Undefined matches every address. */
  readonly text: string | undefined;
  readonly order: RowOrder;
};

/** The storage position of a row: the chunk, the token of its pages, and the position in these pages. */
export type FoundRow = {
  readonly chunk: number;
  readonly token: string;
  readonly at: number;
  readonly row: number;
};

export type SelectedRow = FoundRow & RowPosition;

export type SelectedRows = {
  readonly matching: number;
  readonly found: readonly SelectedRow[];
  readonly hasMore: boolean;
};

/** Three slices of the index with the longest addresses need this memory, with the rows near the page. */
export const INDEX_BYTES = 25_000_000;

type Start = { readonly after: RowPosition } | { readonly offset: number };

export const selectRows = async (
  table: Table,
  job: IndexedJob,
  selection: RowSelection,
  start: Start,
  limit: number,
  pause: () => Promise<void>,
): Promise<SelectedRows> => {
  const index = { table, job, selection, pause, compare: createComparator(selection.order) };
  if ("after" in start) return toPage(await findFirst(index, start.after, limit), 0, limit);
  const { offset } = start;
  if (offset > ROWS_HELD_MAX) {
    const near = await findBetween(index, await estimateWindow(index, offset, limit));
    const from = offset - near.before;
    const isLast = near.before + near.rows.length === near.matching;
    const isThere = from + limit <= near.rows.length || isLast;
    if (from >= 0 && isThere) return toPage(near, from, limit);
  }
  return toPage(await findFirst(index, undefined, offset + limit), offset, limit);
};

/** For a page further from the start, the search reads the index twice and holds only the rows near the page. */
const ROWS_HELD_MAX = 10_000;

type Index = {
  readonly table: Table;
  readonly job: IndexedJob;
  readonly selection: RowSelection;
  readonly pause: () => Promise<void>;
  readonly compare: ReturnType<typeof createComparator>;
};

type OpenRows = {
  readonly matching: number;
  readonly before: number;
  readonly rows: readonly SelectedRow[];
};

const toPage = ({ matching, before, rows }: OpenRows, from: number, limit: number) => {
  const found = rows.slice(from, from + limit);
  return { matching, found, hasMore: found.length > 0 && before + from + limit < matching };
};

const findFirst = async (
  index: Index,
  after: RowPosition | undefined,
  most: number,
): Promise<OpenRows> => {
  const { compare, pause } = index;
  const first = createFirstRows<SelectedRow>(most, compare, pause);
  let [matching, before] = [0, 0];
  const isOpen = (row: RowPosition): boolean => {
    matching++;
    if (!after || compare(row, after) > 0) return first.isOpenTo(row);
    before++;
    return false;
  };
  await scan(index, isOpen, first.add);
  return { matching, before, rows: await first.list() };
};

type Window = { readonly after: RowPosition | undefined; readonly until: RowPosition | undefined };

/** The rows between the two positions must be few, because memory holds them all. */
const findBetween = async (index: Index, { after, until }: Window): Promise<OpenRows> => {
  const { compare } = index;
  const rows: SelectedRow[] = [];
  let [matching, before] = [0, 0];
  const isBetween = (row: RowPosition): boolean => {
    matching++;
    if (after && compare(row, after) <= 0) {
      before++;
      return false;
    }
    return !until || compare(row, until) <= 0;
  };
  await scan(index, isBetween, async (kept) => void rows.push(...kept));
  return { matching, before, rows: rows.sort(compare) };
};

const SAMPLE_ROWS = 16_000;

/** Estimates two rows around the page from a sample, so the caller must count. */
const estimateWindow = async (index: Index, offset: number, limit: number): Promise<Window> => {
  const stride = Math.max(1, Math.ceil(index.job.total / SAMPLE_ROWS));
  const sample: RowPosition[] = [];
  let matching = 0;
  const isInSample = () => matching++ % stride === 0;
  await scan(index, isInSample, async (rows) => void sample.push(...rows));
  sample.sort(index.compare);
  // The margin is six times the standard deviation of the rank.
  const margin = Math.ceil(3 * Math.sqrt(sample.length));
  return {
    after: sample[Math.floor(offset / stride) - margin],
    until: sample[Math.ceil((offset + limit) / stride) + margin],
  };
};

/** Calls `isKept` for each matching row, in any order, and `onSlice` with the kept rows of each slice. */
const scan = async (
  { table, job, selection: { filter, text, order }, pause }: Index,
  isKept: (row: RowPosition) => boolean,
  onSlice: (kept: SelectedRow[]) => Promise<void>,
): Promise<void> => {
  const hasAddresses = text !== undefined || filter.domain !== undefined || order.by === "email";
  for await (const pieces of readSlices(table, job, { hasAddresses })) {
    const kept: SelectedRow[] = [];
    for (const piece of pieces) {
      const isWanted = createPieceTest(piece, filter, text);
      if (!isWanted) continue;
      const { chunk, token } = piece;
      const getValue = createGetValue(piece, order);
      for (let at = 0; at < piece.kindByRow.length; at++) {
        if (!isWanted(at)) continue;
        const position = { value: getValue(at), row: getRowAt(piece, at) };
        // An object literal, because a spread takes ten times as long.
        if (isKept(position))
          kept.push({ value: position.value, row: position.row, chunk, token, at });
      }
    }
    await onSlice(kept);
    await pause();
  }
};

const createGetValue = (
  piece: AddressedPiece,
  { by }: RowOrder,
): ((at: number) => string | number) => {
  if (by === "row") return () => 0;
  if (by === "email") {
    const addresses = piece.listAddresses();
    return (at) => addresses[at] ?? "";
  }
  const field = by === "status" ? 0 : 1;
  return (at) => piece.kinds[getKindAt(piece, at)]?.[field] ?? 0;
};
