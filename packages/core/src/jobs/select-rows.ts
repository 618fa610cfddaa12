import type { Table } from "../ports/table.ts";
import { createPieceTest, type RowFilter } from "./row-filter.ts";
import {
  type AddressedPiece,
  getKindAt,
  getRowAt,
  type IndexedJob,
  readSlices,
} from "./row-index.ts";
import { createComparator, createFirstRows, type RowOrder, type RowPosition } from "./sort-rows.ts";

// Finds and sorts rows of a job by its index: which rows match, how many, and where one page of them is stored. The index is
// read in slices, and other work runs between two of them. Only the rows near the page are held.

export type RowSelection = {
  readonly filter: RowFilter;
  /** Matches addresses that contain this text. Undefined: every address. */
  readonly text: string | undefined;
  readonly order: RowOrder;
};

/** Where a row is stored: the chunk, the pages, and the position in them. */
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
  /** Whether more rows match after these. */
  readonly hasMore: boolean;
};

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
    const { after, most } = await estimatePosition(index, offset);
    const near = await findFirst(index, after, most + limit);
    const from = offset - near.before;
    if (from >= 0 && from <= most) return toPage(near, from, limit);
  }
  return toPage(await findFirst(index, undefined, offset + limit), offset, limit);
};

/** A page that is further from the start is found by a second pass over the index, which holds only the rows near it. */
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
  /** The number of matching rows up to the position. */
  readonly before: number;
  /** The first rows after it. */
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
  await scan(index, async (matches) => {
    const open: SelectedRow[] = [];
    for (const row of matches) {
      matching++;
      if (after && compare(row, after) <= 0) before++;
      else if (first.isOpenTo(row)) open.push(row);
    }
    await first.add(open);
  });
  return { matching, before, rows: await first.list() };
};

const SAMPLE_ROWS = 4_000;

/** A row some way before the offset, and how many rows may lie between: by a sample, so the caller has to count. */
const estimatePosition = async (
  index: Index,
  offset: number,
): Promise<{ readonly after: RowPosition | undefined; readonly most: number }> => {
  const stride = Math.max(1, Math.ceil(index.job.total / SAMPLE_ROWS));
  const sample: RowPosition[] = [];
  let matching = 0;
  await scan(index, async (matches) => {
    for (const row of matches) if (matching++ % stride === 0) sample.push(row);
  });
  sample.sort(index.compare);
  // Six times the standard deviation of the rank.
  const margin = Math.ceil(3 * Math.sqrt(sample.length));
  const at = Math.floor(offset / stride) - margin;
  return { after: sample[at], most: 2 * margin * stride };
};

/** Calls with the matching rows of each slice, in no order. */
const scan = async (
  { table, job, selection: { filter, text, order }, pause }: Index,
  onSlice: (matches: Iterable<SelectedRow>) => Promise<void>,
): Promise<void> => {
  const hasAddresses = text !== undefined || filter.domain !== undefined || order.by === "email";
  for await (const pieces of readSlices(table, job, { hasAddresses })) {
    const matches: SelectedRow[] = [];
    for (const piece of pieces) {
      const isWanted = createPieceTest(piece, filter, text);
      if (!isWanted) continue;
      const { chunk, token } = piece;
      const getValue = createGetValue(piece, order);
      for (let at = 0; at < piece.kindByRow.length; at++)
        if (isWanted(at))
          matches.push({ value: getValue(at), row: getRowAt(piece, at), chunk, token, at });
    }
    await onSlice(matches);
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
