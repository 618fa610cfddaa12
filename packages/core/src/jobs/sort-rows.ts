import { getKindAt } from "./row-index.ts";
import {
  getEnd,
  getPiece,
  getRow,
  type RowRef,
  type Searched,
  toPieceAt,
  toRowAt,
} from "./row-refs.ts";

// The orders of the rows of a job. No more is sorted than a page needs.

export const SORT_FIELDS = ["row", "score", "status", "email"] as const;
export type RowOrder = {
  readonly by: (typeof SORT_FIELDS)[number];
  readonly isDescending: boolean;
};

/** The last row of a page. The next page starts after it, even if rows were added meanwhile. */
export type RowPosition = { readonly value: string | number; readonly row: number };

type Matches = Searched & { readonly rows: readonly RowRef[]; readonly isDescending: boolean };

/** The rows in an order, of which only the requested ones are really sorted. */
type SortedRows = {
  readonly slice: (from: number, to: number) => readonly RowRef[];
  /** How many rows stand before the position, or at it. */
  readonly countUpTo: (position: RowPosition) => number;
  readonly toPosition: (ref: RowRef) => RowPosition;
};

const compare = (a: string | number, b: string | number): number => (a === b ? 0 : a < b ? -1 : 1);

const sortByRow = ({ pieces, rows, isDescending }: Matches): SortedRows => ({
  slice: (from, to) =>
    isDescending
      ? rows.slice(Math.max(0, rows.length - to), Math.max(0, rows.length - from)).toReversed()
      : rows.slice(from, to),
  countUpTo: ({ row }) =>
    countWhere(rows, (ref) =>
      isDescending ? getRow(pieces, ref) >= row : getRow(pieces, ref) <= row,
    ),
  toPosition: (ref) => ({ value: 0, row: getRow(pieces, ref) }),
});

const countWhere = (
  rows: readonly RowRef[],
  isCounted: (ref: RowRef, at: number) => boolean,
): number => {
  let count = 0;
  for (let at = 0; at < rows.length; at++) if (isCounted(rows[at] ?? 0, at)) count++;
  return count;
};

/** There are few values: the rows of a value stand together, in the order of the list. */
const sortByKind =
  (field: 0 | 1) =>
  ({ pieces, rows, isDescending }: Matches): SortedRows => {
    const values: (string | number)[] = [
      ...new Set(pieces.flatMap(({ kinds }) => kinds.map((kind) => kind[field]))),
    ];
    values.sort((a, b) => compare(a, b) * (isDescending ? -1 : 1));
    const ranks = new Map(values.map((value, rank) => [value, rank]));
    const ranksByPiece = pieces.map(({ kinds }) =>
      kinds.map((kind) => ranks.get(kind[field]) ?? 0),
    );
    const getRank = (ref: RowRef): number =>
      ranksByPiece[toPieceAt(ref)]?.[getKindAt(getPiece(pieces, ref), toRowAt(ref))] ?? 0;
    const rankByRow = new Uint8Array(rows.length);
    for (let at = 0; at < rows.length; at++) rankByRow[at] = getRank(rows[at] ?? 0);
    return {
      slice: (from, to) => sliceRanks({ rows, rankByRow, ranks: values.length }, from, to),
      countUpTo: ({ value, row }) => {
        const rank = ranks.get(value) ?? values.length;
        return countWhere(
          rows,
          (ref, at) =>
            (rankByRow[at] ?? 0) < rank || (rankByRow[at] === rank && getRow(pieces, ref) <= row),
        );
      },
      toPosition: (ref) => ({ value: values[getRank(ref)] ?? 0, row: getRow(pieces, ref) }),
    };
  };

type RankedRows = {
  readonly rows: readonly RowRef[];
  /** At most 101 scores. */
  readonly rankByRow: Uint8Array;
  readonly ranks: number;
};

const sliceRanks = (
  { rows, rankByRow, ranks }: RankedRows,
  from: number,
  to: number,
): readonly RowRef[] => {
  const counts = new Uint32Array(ranks);
  for (const rank of rankByRow) counts[rank] = (counts[rank] ?? 0) + 1;
  const found: RowRef[] = [];
  let start = 0;
  for (let rank = 0; rank < ranks && start < to; rank++) {
    let at = start;
    start += counts[rank] ?? 0;
    if (start <= from) continue;
    for (let n = rankByRow.indexOf(rank); n >= 0 && at < to; n = rankByRow.indexOf(rank, n + 1)) {
      if (at >= from) found.push(rows[n] ?? 0);
      at++;
    }
  }
  return found;
};

const sortByText = ({ pieces, texts, rows, isDescending }: Matches): SortedRows => {
  const getText = (ref: RowRef): string => {
    const own = texts(toPieceAt(ref));
    const at = toRowAt(ref);
    return own.text.slice(own.starts[at], getEnd(own, at));
  };
  // Half a million rows are looked at, those of a piece one after the other.
  let pieceAt = 0;
  let own = texts(0);
  const getCode = (ref: RowRef, depth: number): number => {
    if (toPieceAt(ref) !== pieceAt) {
      pieceAt = toPieceAt(ref);
      own = texts(pieceAt);
    }
    const at = toRowAt(ref);
    const position = (own.starts[at] ?? 0) + depth;
    // 0 is the end of the text. Addresses have no character with the highest code.
    return position < getEnd(own, at) ? own.text.charCodeAt(position) + 1 : 0;
  };
  const direction = isDescending ? -1 : 1;
  return {
    slice: (from, to) => slicePrefixes({ rows, getText, getCode, direction, depth: 0 }, from, to),
    countUpTo: ({ value, row }) =>
      countWhere(rows, (ref) => {
        const order = compare(getText(ref), value) * direction;
        return order < 0 || (order === 0 && getRow(pieces, ref) <= row);
      }),
    toPosition: (ref) => ({ value: getText(ref), row: getRow(pieces, ref) }),
  };
};

type RowsWithTexts = {
  readonly rows: readonly RowRef[];
  readonly getText: (ref: RowRef) => string;
  readonly getCode: (ref: RowRef, depth: number) => number;
  readonly direction: 1 | -1;
  /** All texts have the same characters up to here. */
  readonly depth: number;
};

/** Of UTF-16, and the end of a text. */
const CODES = 65_536;
/** So few are sorted at once. */
const SORTED_AT_ONCE_MAX = 2_000;

/**
 * The rows from one position of the sorted order to another: only those whose next character lies in the range are looked
 * at again. Equal texts stay in the order of the list.
 */
const slicePrefixes = (
  { rows, getText, getCode, direction, depth }: RowsWithTexts,
  from: number,
  to: number,
): readonly RowRef[] => {
  if (rows.length <= SORTED_AT_ONCE_MAX)
    return rows
      .toSorted((a, b) => compare(getText(a), getText(b)) * direction)
      .slice(Math.max(0, from), Math.max(0, to));
  const codes = new Uint16Array(rows.length);
  const counts = new Uint32Array(CODES);
  for (let at = 0; at < rows.length; at++) {
    const code = getCode(rows[at] ?? 0, depth);
    codes[at] = code;
    counts[code] = (counts[code] ?? 0) + 1;
  }
  // Every text ends here, so all of them are the same.
  if (counts[0] === rows.length) return rows.slice(Math.max(0, from), Math.max(0, to));
  const found: RowRef[] = [];
  let start = 0;
  for (let n = 0; n < CODES && start < to; n++) {
    const code = direction === 1 ? n : CODES - 1 - n;
    const count = counts[code] ?? 0;
    if (count > 0 && start + count > from) {
      const group: RowRef[] = [];
      for (let at = codes.indexOf(code); at >= 0; at = codes.indexOf(code, at + 1))
        group.push(rows[at] ?? 0);
      const deeper = { rows: group, getText, getCode, direction, depth: depth + 1 };
      found.push(...slicePrefixes(deeper, from - start, to - start));
    }
    start += count;
  }
  return found;
};

export const SORTED: Readonly<Record<RowOrder["by"], (matches: Matches) => SortedRows>> = {
  row: sortByRow,
  status: sortByKind(0),
  score: sortByKind(1),
  email: sortByText,
};
