import type { SheetSummary } from "@mailproof/core/intake/spreadsheet/convert-sheets";
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
  /** Of a workbook. */
  readonly sheets: readonly SheetSummary[];
  readonly onSheets: (names: readonly string[]) => void;
  readonly onColumns: (columns: readonly number[]) => void;
  readonly onHeader: (hasHeader: boolean) => void;
};

const Rows = ({ list: { format, firstRows } }: Pick<Props, "list">) => (
  <div class="scroll first-rows" tabIndex={0} role="region" aria-label="The first rows">
    <table>
      <thead>
        <tr>
          {format.columns.map((name, at) => (
            <th key={at} scope="col" class={format.emailColumns.includes(at) ? "chosen" : ""}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {firstRows.map((cells, row) => (
          <tr key={row}>
            {format.columns.map((_, at) => (
              <td key={at} class={format.emailColumns.includes(at) ? "chosen" : ""}>
                {cells[at] ?? ""}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);

type SettledProps = {
  readonly list: ReadList;
  readonly price: number | undefined;
  readonly isSkipped: boolean;
  readonly onSkip: (isSkipped: boolean) => void;
};

/** The choice to leave out what another service has settled, with the price of either. */
export const Settled = ({ list, price = 0, isSkipped, onSkip }: SettledProps) => {
  const { format, unique, settled } = list;
  const { vendor, columns } = format;
  if (!vendor) return null;
  return (
    <>
      <p>
        Column {columns[vendor.at]} has the verdicts of {vendor.name}, which settle{" "}
        {formatCount(settled, "address", "addresses")}: {formatCount(unique * price, "credit")} with
        them, {formatNumber((unique - settled) * price)} without.
      </p>
      <label class="check">
        <input
          type="checkbox"
          checked={isSkipped}
          onChange={(event) => onSkip(event.currentTarget.checked)}
        />
        Leave out what {vendor.name} settled
      </label>
    </>
  );
};

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

const Sheets = ({ sheets, onSheets }: Pick<Props, "sheets" | "onSheets">) => {
  const chosen = sheets.filter(({ isChosen }) => isChosen).map(({ name }) => name);
  return (
    <Choices
      legend="Sheets"
      all={sheets.map(({ name, rows, column }) => ({
        value: name,
        label: `${name}: ${formatCount(rows, "row")}, ${column === null ? "no addresses" : `addresses in ${column}`}`,
      }))}
      chosen={chosen}
      onChoose={onSheets}
    />
  );
};

type ChoicesProps<T> = {
  readonly legend: string;
  readonly all: readonly { readonly value: T; readonly label: string }[];
  readonly chosen: readonly T[];
  readonly onChoose: (chosen: readonly T[]) => void;
};

/** At least one stays chosen. */
const Choices = <T extends string | number>({ legend, all, chosen, onChoose }: ChoicesProps<T>) => (
  <fieldset class="choice">
    <legend>{legend}</legend>
    {all.map(({ value, label }) => (
      <label key={value} class="check">
        <input
          type="checkbox"
          checked={chosen.includes(value)}
          disabled={chosen.length === 1 && chosen[0] === value}
          onChange={() =>
            onChoose(
              all.map((one) => one.value).filter((one) => chosen.includes(one) !== (one === value)),
            )
          }
        />
        {label}
      </label>
    ))}
  </fieldset>
);

const AddressColumns = ({ list, onColumns }: Pick<Props, "list" | "onColumns">) => {
  const { columns, emailColumns, otherEmailColumns } = list.format;
  const found = [...emailColumns, ...otherEmailColumns].toSorted((a, b) => a - b);
  if (found.length === 1) return null;
  return (
    <Choices
      legend="Columns with addresses"
      all={found.map((at) => ({ value: at, label: columns[at] ?? "" }))}
      chosen={emailColumns}
      onChoose={onColumns}
    />
  );
};

export const Preview = ({ list, sheets, onSheets, onColumns, onHeader }: Omit<Props, "price">) => {
  const { columns, emailColumns, hasHeader } = list.format;
  return (
    <>
      <Counts list={list} />
      {sheets.length > 1 && <Sheets sheets={sheets} onSheets={onSheets} />}
      <AddressColumns list={list} onColumns={onColumns} />
      <div class="options">
        <label>
          Column with the addresses
          <select
            value={String(emailColumns[0])}
            onChange={(event) => onColumns([Number(event.currentTarget.value)])}
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
