/** The most bytes of rows in a response. A tool's result contains them twice, and a Lambda returns at most 6 MB. */
export const ROWS_BYTES_MAX = 1_500_000;

export type RowPage<T> = {
  /** False when the page is full and ends before this row. The first row always fits. */
  readonly add: (row: T) => boolean;
  readonly rows: readonly T[];
};

/** Collects the rows of one response, which ends early when rows are large. */
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
