import type { ResultRow } from "@mailproof/client";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { formatNumber } from "../../format.ts";
import { ALWAYS, type Column, getWidthPx } from "./columns.tsx";
import type { Sort, SortColumn } from "./filter.ts";
import { toWindow } from "./window.ts";

export type LoadedRows = { readonly from: number; readonly rows: readonly ResultRow[] };

type Props = {
  readonly name: string;
  readonly columns: readonly Column[];
  readonly total: number;
  readonly empty: string;
  readonly loaded: LoadedRows;
  readonly sort: Sort;
  readonly onSort: (column: SortColumn) => void;
  readonly onOpen: (row: number) => void;
  readonly onMove: (first: number) => void;
  readonly selection: string;
};

const SETTLE_MS = 80;
const VIEW_PX = 480;

const ARROWS = { ascending: " ▲", descending: " ▼", none: "" } as const;

const getOrder = (sort: Sort, column: SortColumn): keyof typeof ARROWS =>
  sort === column ? "ascending" : sort === `-${column}` ? "descending" : "none";

const useScroll = (selection: string) => {
  const view = useRef<HTMLDivElement>(null);
  const [scroll, setScroll] = useState({ scrollTop: 0, viewPx: VIEW_PX });
  const measure = () => {
    const { scrollTop = 0, clientHeight = VIEW_PX } = view.current ?? {};
    setScroll({ scrollTop, viewPx: clientHeight });
  };
  useLayoutEffect(() => {
    const observer = new ResizeObserver(measure);
    if (view.current) observer.observe(view.current);
    return () => observer.disconnect();
  }, []);
  useLayoutEffect(() => {
    if (view.current) view.current.scrollTop = 0;
    measure();
  }, [selection]);
  return { view, scroll, measure };
};

const toClass = ({ id, isNumber }: Pick<Column, "id" | "isNumber">): string =>
  `col-${id.startsWith("own:") ? "own" : id}${isNumber ? " number" : ""}`;

type HeadProps = Pick<Props, "sort" | "onSort"> & { readonly columns: readonly Column[] };

const Head = ({ columns, sort, onSort }: HeadProps) => (
  <thead>
    <tr aria-rowindex={1}>
      {columns.map(({ id, title, sort: order, ...column }) => (
        <th
          key={id}
          scope="col"
          class={toClass({ id, ...column })}
          aria-sort={order && getOrder(sort, order)}
        >
          {order ? (
            <button type="button" class="sort" onClick={() => onSort(order)}>
              {title}
              <span aria-hidden="true">{ARROWS[getOrder(sort, order)]}</span>
            </button>
          ) : (
            title
          )}
        </th>
      ))}
    </tr>
  </thead>
);

type CellProps = {
  readonly column: Column;
  readonly row: ResultRow | undefined;
};

/** The address is a button for the keyboard: a click on it also counts as a click on its row. */
const Cell = ({ column: { id, show }, row }: CellProps) => {
  if (row === undefined) return <span class="skeleton" />;
  if (id !== ALWAYS) return <>{show(row)}</>;
  return (
    <button type="button" class="row-link">
      {show(row)}
    </button>
  );
};

const toExtentSentence = (first: number, count: number, total: number, empty: string): string =>
  total === 0
    ? empty
    : `Rows ${formatNumber(first + 1)} to ${formatNumber(Math.min(total, first + count))} of ${formatNumber(total)}`;

/** A table of any length. Only the visible rows are in the page. */
export const RowTable = (props: Props) => {
  const { name, columns, total, empty, loaded, sort, onSort, onOpen, onMove, selection } = props;
  const { view, scroll, measure } = useScroll(selection);
  const { heightPx, first, count } = toWindow({ rows: total, ...scroll });
  // The table requests rows once scrolling stops.
  useLayoutEffect(() => {
    const timer = setTimeout(() => onMove(first), SETTLE_MS);
    return () => clearTimeout(timer);
  }, [first]);
  return (
    <>
      <div
        class="row-table"
        ref={view}
        onScroll={measure}
        tabIndex={0}
        role="region"
        aria-label={`Rows of ${name}`}
      >
        <div ref={(space) => space?.style.setProperty("height", `${heightPx}px`)}>
          <table
            ref={(table) => table?.style.setProperty("min-width", `${getWidthPx(columns)}px`)}
            aria-rowcount={total + 1}
            aria-label={`Rows of ${name}`}
          >
            <Head columns={columns} sort={sort} onSort={onSort} />
            <tbody>
              {Array.from({ length: count }, (_, at) => {
                const position = first + at;
                const row = loaded.rows[position - loaded.from];
                return (
                  <tr
                    key={at}
                    aria-rowindex={position + 2}
                    aria-busy={row === undefined}
                    onClick={() => row && onOpen(row.row)}
                  >
                    {columns.map((column) => (
                      <td key={column.id} class={toClass(column)}>
                        <Cell column={column} row={row} />
                      </td>
                    ))}
                  </tr>
                );
              })}
            </tbody>
          </table>
        </div>
      </div>
      <p class={`list-extent${total === 0 ? " is-none" : ""}`} role="status">
        {toExtentSentence(first, count, total, empty)}
      </p>
    </>
  );
};
