import { holdsAddress } from "./address-cell.ts";

type Rows = readonly (readonly string[])[];

export type ColumnOptions = {
  /** A name, whatever its case, or a zero-based index. A name wins where a column is called "2". */
  readonly emailColumn?: string | undefined;
  readonly hasHeader?: boolean | undefined;
};

export type Columns = {
  readonly columns: readonly string[];
  readonly emailColumn: number;
  /** Other columns that hold addresses, and are not verified. */
  readonly otherEmailColumns: readonly number[];
  readonly hasHeader: boolean;
};

/** `sample` is the beginning of the file, its header included if it has one. */
export const findColumns = (
  sample: Rows,
  options: ColumnOptions,
): Columns | "no_email_column" | "unknown_column" => {
  const first = sample[0] ?? [];
  const emailColumn =
    options.emailColumn === undefined
      ? guessColumn(sample, options.hasHeader)
      : columnCalled(options.emailColumn, sample, options.hasHeader);
  if (emailColumn === null) return "no_email_column";
  if (emailColumn === undefined) return "unknown_column";

  const hasHeader =
    options.hasHeader ?? (isNamed(options.emailColumn, first) || isName(first[emailColumn] ?? ""));
  const columns = namesOf(sample, hasHeader);
  const otherEmailColumns = [...columns.keys()].filter(
    (index) => index !== emailColumn && countIn(sample, index) > 0,
  );
  return { columns, emailColumn, otherEmailColumns, hasHeader };
};

/** What the columns are called; one without a name is called by its place, from column_1. */
export const namesOf = (sample: Rows, hasHeader: boolean): readonly string[] => {
  const header = hasHeader ? (sample[0] ?? []) : [];
  return Array.from(
    { length: widthOf(sample) },
    (_, index) => header[index]?.trim() || `column_${index + 1}`,
  );
};

/** How many of these rows hold an address in any cell. */
export const countWithAddress = (rows: Rows): number =>
  rows.filter((cells) => cells.some(holdsAddress)).length;

/** A broken address is no name: a list without a header may well begin with one. */
const isName = (cell: string): boolean => !cell.includes("@");

const widthOf = (sample: Rows): number =>
  sample.reduce((width, cells) => Math.max(width, cells.length), 0);

const isNamed = (name: string | undefined, header: readonly string[]): boolean =>
  name !== undefined && indexOfName(name, header) >= 0;

const indexOfName = (name: string, names: readonly string[]): number => {
  const wanted = name.trim().toLowerCase();
  return wanted === "" ? -1 : names.findIndex((one) => one.trim().toLowerCase() === wanted);
};

const columnCalled = (
  wanted: string,
  sample: Rows,
  hasHeader: boolean | undefined,
): number | undefined => {
  const byName = indexOfName(wanted, namesOf(sample, hasHeader ?? true));
  if (byName >= 0) return byName;
  const index = /^\d+$/.test(wanted) ? Number(wanted) : Number.NaN;
  return index < widthOf(sample) ? index : undefined;
};

const CALLED_EXACTLY =
  /^(?:e[-_ ]?)?mail(?:[-_ ]?(?:address|adresse|addr|id))?$|^(?:correo(?:[-_ ]electr[oó]nico)?|courriel|adresse|adresse[-_ ](?:e-?mail|mail|[eé]lectronique))$/i;
const CALLED_LIKE = /mail|correo|courriel|^adresse/i;

const rankOf = (name: string): number => {
  if (CALLED_EXACTLY.test(name)) return 2;
  return CALLED_LIKE.test(name) ? 1 : 0;
};

/**
 * Among the columns that hold addresses the one with the best name, then the one with the most. Only where no
 * column holds any does a name alone decide: "mailing city" and "email opt-in" sound like it, too.
 */
const guessColumn = (sample: Rows, hasHeader: boolean | undefined): number | null => {
  const first = hasHeader === false ? [] : (sample[0] ?? []);
  const found = Array.from({ length: widthOf(sample) }, (_, index) => {
    const name = first[index]?.trim() ?? "";
    const rank = hasHeader || isName(name) ? rankOf(name) : 0;
    return { index, rank, count: countIn(sample, index) };
  });
  const best = found
    .filter(({ rank, count }) => rank > 0 || count > 0)
    .toSorted(
      (a, b) => Number(b.count > 0) - Number(a.count > 0) || b.rank - a.rank || b.count - a.count,
    )[0];
  return best?.index ?? null;
};

const countIn = (sample: Rows, column: number): number =>
  sample.filter((cells) => holdsAddress(cells[column] ?? "")).length;
