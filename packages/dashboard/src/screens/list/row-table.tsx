import type { ResultRow } from "@mailproof/client";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { formatNumber, formatTime } from "../../format.ts";
import { StatusBadge } from "../../parts/status-badge.tsx";
import type { Sort, SortColumn } from "./selection.ts";
import { toWindow } from "./window.ts";

type Column = {
  readonly id: string;
  readonly title: string;
  /** The order that the API has for it. */
  readonly sort?: SortColumn;
  readonly isNumber?: true;
  readonly isShown?: true;
  readonly show: (row: ResultRow) => ComponentChildren;
};

const COLUMNS: readonly Column[] = [
  {
    id: "row",
    title: "Row",
    sort: "row",
    isNumber: true,
    isShown: true,
    show: ({ row }) => formatNumber(row),
  },
  { id: "email", title: "Address", sort: "email", isShown: true, show: ({ email }) => email },
  {
    id: "status",
    title: "Status",
    sort: "status",
    isShown: true,
    show: ({ status }) => <StatusBadge status={status} />,
  },
  {
    id: "score",
    title: "Score",
    sort: "score",
    isNumber: true,
    isShown: true,
    show: ({ quality_score }) => quality_score,
  },
  { id: "reason", title: "Reason", isShown: true, show: ({ reason }) => reason },
  { id: "sub_status", title: "Sub-status", show: ({ sub_status }) => sub_status ?? "" },
  { id: "provider", title: "Provider", isShown: true, show: ({ provider }) => provider ?? "" },
  { id: "name", title: "Name", show: ({ enrichment }) => enrichment.full_name },
  { id: "suggestion", title: "Suggestion", show: ({ ai }) => ai?.typo_suggestion ?? "" },
  { id: "verified_at", title: "Verified", show: ({ verified_at }) => formatTime(verified_at) },
];

const ALWAYS = "email";

/** A phone has room for two columns. The evidence of a row has the others. */
const NARROW = ["email", "status"];
/** With more columns than these the table is wider than a phone, and is scrolled sideways. */
const NARROW_MAX = 3;

const listFirstColumns = (): readonly string[] =>
  matchMedia("(max-width: 599px)").matches
    ? NARROW
    : COLUMNS.filter(({ isShown }) => isShown).map(({ id }) => id);

type ChoiceProps = {
  readonly shown: readonly string[];
  readonly onChange: (shown: readonly string[]) => void;
};

const ColumnChoice = ({ shown, onChange }: ChoiceProps) => (
  <details class="columns">
    <summary>Columns</summary>
    <fieldset class="choice">
      <legend class="unseen">Columns of the table</legend>
      {COLUMNS.filter(({ id }) => id !== ALWAYS).map(({ id, title }) => (
        <label key={id}>
          <input
            type="checkbox"
            checked={shown.includes(id)}
            onChange={() =>
              onChange(shown.includes(id) ? shown.filter((one) => one !== id) : [...shown, id])
            }
          />
          {title}
        </label>
      ))}
    </fieldset>
  </details>
);

/** The rows that the API returned, from this one on. */
export type LoadedRows = { readonly from: number; readonly rows: readonly ResultRow[] };

type Props = {
  readonly name: string;
  /** How many rows the table has in all. */
  readonly total: number;
  /** The sentence below a table without rows. */
  readonly empty: string;
  readonly loaded: LoadedRows;
  readonly sort: Sort;
  readonly onSort: (column: SortColumn) => void;
  readonly onOpen: (row: number) => void;
  /** The first row that is seen. */
  readonly onMove: (first: number) => void;
  /** When it changes, the table returns to its top. */
  readonly selection: string;
};

const SETTLE_MS = 80;
/** Until the view has been measured. */
const VIEW_PX = 480;

const ARROWS = { ascending: " ▲", descending: " ▼", none: "" } as const;

const getOrder = (sort: Sort, column: SortColumn): keyof typeof ARROWS =>
  sort === column ? "ascending" : sort === `-${column}` ? "descending" : "none";

/** How far the table is scrolled. A new selection starts at the top. */
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

type HeadProps = Pick<Props, "sort" | "onSort"> & { readonly columns: readonly Column[] };

const Head = ({ columns, sort, onSort }: HeadProps) => (
  <thead>
    <tr aria-rowindex={1}>
      {columns.map(({ id, title, sort: order, isNumber }) => (
        <th
          key={id}
          scope="col"
          class={`col-${id}${isNumber ? " number" : ""}`}
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

type CellProps = Pick<Props, "onOpen"> & {
  readonly column: Column;
  /** Undefined while it is loading. */
  readonly row: ResultRow | undefined;
};

const Cell = ({ column: { id, show }, row, onOpen }: CellProps) => {
  if (row === undefined) return id === ALWAYS ? <span class="soft">…</span> : null;
  if (id !== ALWAYS) return <>{show(row)}</>;
  return (
    <button type="button" class="row-link" onClick={() => onOpen(row.row)}>
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
  const { name, total, empty, loaded, sort, onSort, onOpen, onMove, selection } = props;
  const { view, scroll, measure } = useScroll(selection);
  const [shown, setShown] = useState(listFirstColumns);
  const columns = COLUMNS.filter(({ id }) => shown.includes(id));
  const { heightPx, first, count } = toWindow({ rows: total, ...scroll });
  // Rows are requested once scrolling stops.
  useLayoutEffect(() => {
    const timer = setTimeout(() => onMove(first), SETTLE_MS);
    return () => clearTimeout(timer);
  }, [first]);
  return (
    <>
      <ColumnChoice shown={shown} onChange={setShown} />
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
            class={columns.length > NARROW_MAX ? "is-wide" : ""}
            aria-rowcount={total + 1}
            aria-label={`Rows of ${name}`}
          >
            <Head columns={columns} sort={sort} onSort={onSort} />
            <tbody>
              {Array.from({ length: count }, (_, at) => {
                const position = first + at;
                const row = loaded.rows[position - loaded.from];
                return (
                  <tr key={at} aria-rowindex={position + 2} aria-busy={row === undefined}>
                    {columns.map((column) => (
                      <td
                        key={column.id}
                        class={`col-${column.id}${column.isNumber ? " number" : ""}`}
                      >
                        <Cell column={column} row={row} onOpen={onOpen} />
                      </td>
                    ))}
                  </tr>
                );
              })}
            </tbody>
          </table>
        </div>
      </div>
      <p class="soft" role="status">
        {toExtentSentence(first, count, total, empty)}
      </p>
    </>
  );
};
