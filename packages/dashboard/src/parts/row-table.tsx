import type { ComponentChildren } from "preact";

export type Column<R> = {
  readonly title: string;
  readonly cell: (row: R) => ComponentChildren;
  /** The cell that names its row. */
  readonly isHeader?: true;
  readonly isNumber?: true;
};

type Props<R> = {
  readonly label: string;
  readonly columns: readonly Column<R>[];
  readonly rows: readonly R[];
  readonly getKey: (row: R) => string;
};

/**
 * A table that becomes a stack on a phone: each cell on its own line, after the title of its column. Some browsers then drop the table
 * semantics, so roles restore them.
 */
export const RowTable = <R,>({ label, columns, rows, getKey }: Props<R>) => (
  <table class="row-lines" role="table" aria-label={label}>
    <thead role="rowgroup">
      <tr role="row">
        {columns.map(({ title, isNumber }) => (
          <th key={title} role="columnheader" scope="col" class={isNumber && "number"}>
            {title}
          </th>
        ))}
      </tr>
    </thead>
    <tbody role="rowgroup">
      {rows.map((row) => (
        <tr key={getKey(row)} role="row">
          {columns.map(({ title, cell, isHeader, isNumber }) =>
            isHeader ? (
              <th key={title} role="rowheader" scope="row">
                {cell(row)}
              </th>
            ) : (
              <td key={title} role="cell" data-title={title} class={isNumber && "number"}>
                {cell(row)}
              </td>
            ),
          )}
        </tr>
      ))}
    </tbody>
  </table>
);

type HeadProps = {
  readonly titles: readonly string[];
  readonly numbers?: readonly string[];
  readonly class?: string;
};

/** The head of a table that stays a table on a phone. */
export const Head = ({ titles, numbers = [], class: name }: HeadProps) => (
  <thead class={name}>
    <tr>
      {titles.map((title) => (
        <th key={title} scope="col" class={numbers.includes(title) ? "number" : undefined}>
          {title}
        </th>
      ))}
    </tr>
  </thead>
);
