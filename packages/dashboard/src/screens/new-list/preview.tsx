import { formatCount, formatNumber } from "../../format.ts";
import { account, isTestKey } from "../../session.ts";
import type { ReadList } from "./read-list.ts";

const DELIMITERS: Readonly<Record<string, string>> = {
  ",": "comma",
  ";": "semicolon",
  "\t": "tab",
  "|": "pipe",
  "": "none, it has one column",
};

type Props = {
  readonly list: ReadList;
  readonly price: number;
  readonly onColumn: (column: number) => void;
  readonly onHeader: (hasHeader: boolean) => void;
};

const Rows = ({ list: { format, firstRows } }: Pick<Props, "list">) => (
  <div class="scroll first-rows" tabIndex={0} role="region" aria-label="The first rows">
    <table>
      <thead>
        <tr>
          {format.columns.map((name, at) => (
            <th key={at} scope="col" class={at === format.emailColumn ? "chosen" : ""}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {firstRows.map((cells, row) => (
          <tr key={row}>
            {format.columns.map((_, at) => (
              <td key={at} class={at === format.emailColumn ? "chosen" : ""}>
                {cells[at] ?? ""}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);

export const Price = ({ list, price }: Pick<Props, "list" | "price">) => (
  <PriceSentence sum={list.unique * price} />
);

export const PriceSentence = ({ sum }: { readonly sum: number }) => {
  const available = account.value?.credits.available;
  const isShort = !isTestKey.value && available !== undefined && sum > available;
  return (
    <p class="price">
      <b>{formatCount(sum, "credit")}</b>{" "}
      {isTestKey.value
        ? "with a live key; a test key is not charged."
        : available !== undefined && `of ${formatNumber(available)} available.`}
      {isShort && (
        <span class="bad" role="alert">
          {" "}
          {formatCount(sum - available, "credit")} more are needed.
        </span>
      )}
    </p>
  );
};

const Counts = ({
  list: { format, rows, unique, duplicates, withoutAddress },
}: Pick<Props, "list">) => (
  <dl class="counts">
    <div>
      <dt>Rows</dt>
      <dd>{formatNumber(rows)}</dd>
    </div>
    <div>
      <dt>Different addresses</dt>
      <dd id="unique">{formatNumber(unique)}</dd>
    </div>
    <div>
      <dt>Duplicates, free</dt>
      <dd>{formatNumber(duplicates)}</dd>
    </div>
    <div>
      <dt>Without an address, free</dt>
      <dd>{formatNumber(withoutAddress)}</dd>
    </div>
    <div>
      <dt>Delimiter</dt>
      <dd>{DELIMITERS[format.delimiter] ?? format.delimiter}</dd>
    </div>
    <div>
      <dt>Encoding</dt>
      <dd>{format.encoding}</dd>
    </div>
  </dl>
);

export const Preview = ({ list, onColumn, onHeader }: Omit<Props, "price">) => {
  const { columns, emailColumn, hasHeader } = list.format;
  return (
    <>
      <Counts list={list} />
      <div class="options">
        <label>
          Column with the addresses
          <select
            value={String(emailColumn)}
            onChange={(event) => onColumn(Number(event.currentTarget.value))}
          >
            {columns.map((name, at) => (
              <option key={at} value={String(at)}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <label class="check">
          <input
            type="checkbox"
            checked={hasHeader}
            onChange={(event) => onHeader(event.currentTarget.checked)}
          />
          The first row names the columns
        </label>
      </div>
      <Rows list={list} />
    </>
  );
};
