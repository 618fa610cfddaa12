export const SORT_FIELDS = ["row", "score", "status", "email"] as const;
export type RowOrder = {
  readonly by: (typeof SORT_FIELDS)[number];
  readonly isDescending: boolean;
};

/** The last row of a page. The next page starts after it, even if rows were added meanwhile. `value` is 0 in list order. */
export type RowPosition = { readonly value: string | number; readonly row: number };

type Comparator = (a: RowPosition, b: RowPosition) => number;

/** Rows with equal values keep the order of the list. */
export const createComparator = ({ by, isDescending }: RowOrder): Comparator => {
  const direction = isDescending ? -1 : 1;
  if (by === "row") return (a, b) => (a.row - b.row) * direction;
  // Separate from texts: V8 compares ten times slower when a comparator gets both numbers and texts.
  if (by === "score")
    return (a, b) => (Number(a.value) - Number(b.value)) * direction || a.row - b.row;
  return (a, b) => {
    if (a.value < b.value) return -direction;
    return a.value === b.value ? a.row - b.row : direction;
  };
};

/** Keeps the first `most` rows of an order. */
export const createFirstRows = <T extends RowPosition>(most: number, compare: Comparator) => {
  let first: readonly T[] = [];
  return {
    isOpenTo: (row: RowPosition): boolean => {
      const last = first[most - 1];
      return last === undefined || compare(row, last) < 0;
    },
    /** The sort recognizes that the first rows are in order, and only merges them. */
    add: (rows: readonly T[]): void => {
      first = [...first, ...rows].sort(compare).slice(0, most);
    },
    list: () => first,
  };
};
