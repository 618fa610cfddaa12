// Computes which rows of a long table are drawn. Rows have one height, so a position of the scroll bar is a row. Browsers draw nothing
// taller than a few million pixels, so in a longer table each pixel moves more rows.

const ROW_PX = 36;
const HEIGHT_PX_MAX = 8_000_000;

export type RowWindow = {
  readonly heightPx: number;
  readonly first: number;
  readonly count: number;
};

type Scrolled = { readonly rows: number; readonly viewPx: number; readonly scrollTop: number };

export const toWindow = ({ rows, viewPx, scrollTop }: Scrolled): RowWindow => {
  const count = Math.min(rows, Math.max(1, Math.floor(viewPx / ROW_PX) - 1));
  const heightPx = Math.min(HEIGHT_PX_MAX, Math.max(viewPx, rows * ROW_PX));
  const scrollable = heightPx - viewPx;
  const share = scrollable <= 0 ? 0 : Math.min(1, Math.max(0, scrollTop / scrollable));
  return { heightPx, first: Math.round(share * (rows - count)), count };
};

export const PAGE_ROWS = 100;
const STEP_ROWS = 50;

export const toSkip = ({ first }: Pick<RowWindow, "first">): number =>
  Math.max(0, Math.floor(first / STEP_ROWS) * STEP_ROWS);
