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

export type FirstRows<T> = {
  readonly isOpenTo: (row: RowPosition) => boolean;
  readonly add: (rows: T[]) => Promise<void>;
  readonly list: () => Promise<readonly T[]>;
};

/** Merging 20,000 rows takes at most 5 ms, however long their addresses are. */
const STEPS_WITHOUT_PAUSE = 20_000;

/**
 * Keeps the first `most` rows of an order. It merges sorted runs when the earlier run has less than twice the rows of the later
 * run, so it merges each row only a few times.
 */
export const createFirstRows = <T extends RowPosition>(
  most: number,
  compare: Comparator,
  pause: () => Promise<void>,
): FirstRows<T> => {
  const runs: T[][] = [];
  const merge = async (): Promise<void> => {
    const [a = [], b = []] = runs.splice(-2);
    const merged: T[] = [];
    const length = Math.min(most, a.length + b.length);
    for (let [left, right] = [0, 0]; merged.length < length; ) {
      const [one, other] = [a[left], b[right]];
      const isOne = one !== undefined && (other === undefined || compare(one, other) <= 0);
      merged.push((isOne ? one : other) as T);
      if (isOne) left++;
      else right++;
      if (merged.length % STEPS_WITHOUT_PAUSE === 0) await pause();
    }
    runs.push(merged);
  };
  const getLength = (fromEnd: number): number => runs.at(-fromEnd)?.length ?? 0;
  return {
    isOpenTo: (row) => {
      const last = runs[0]?.[most - 1];
      return last === undefined || compare(row, last) < 0;
    },
    add: async (rows) => {
      runs.push(rows.sort(compare).slice(0, most));
      while (runs.length > 1 && getLength(2) < 2 * getLength(1)) await merge();
    },
    list: async () => {
      while (runs.length > 1) await merge();
      return runs[0] ?? [];
    },
  };
};
