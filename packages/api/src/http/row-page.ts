/** The most bytes of the rows of a response. A tool's result has them twice, and a Lambda returns at most 6 MB. */
export const ROWS_BYTES_MAX = 1_500_000;

export type RowPage<T> = {
  /** False: the page is full, and ends before this row. The first row always has room. */
  readonly add: (row: T) => boolean;
  readonly rows: readonly T[];
};

/** The rows of one response, which ends early where rows are large. */
export const createRowPage = <T>(limit: number, bytesMax = ROWS_BYTES_MAX): RowPage<T> => {
  const rows: T[] = [];
  let bytes = 0;
  return {
    rows,
    add: (row) => {
      if (rows.length >= limit) return false;
      const own = Buffer.byteLength(JSON.stringify(row));
      if (rows.length > 0 && bytes + own > bytesMax) return false;
      bytes += own;
      rows.push(row);
      return true;
    },
  };
};
