import { hasAddress } from "@mailproof/mail/address-cell";
import { findVendorColumn, type VendorColumn } from "./vendors.ts";

type Rows = readonly (readonly string[])[];

export type ColumnOptions = {
  /** Names, in any case, or zero-based indexes. A column with the name "2" precedes the index 2. */
  readonly emailColumns?: readonly string[] | undefined;
  readonly hasHeader?: boolean | undefined;
};

export type ListColumns = {
  readonly columns: readonly string[];
  /** The columns whose addresses are verified; at least one. */
  readonly emailColumns: readonly number[];
  readonly otherEmailColumns: readonly number[];
  readonly hasHeader: boolean;
  /** The column with another service's verdicts. Null: none is recognized. */
  readonly vendor: VendorColumn | null;
};

export const findColumns = (
  sample: Rows,
  options: ColumnOptions,
): ListColumns | "no_email_column" | { readonly unknown: string } => {
  const first = sample[0] ?? [];
  const names = options.emailColumns ?? [];
  const found = names.map((name) => findColumn(name, sample, options.hasHeader));
  const unknown = names[found.indexOf(undefined)];
  if (unknown !== undefined) return { unknown };
  const guessed = names.length === 0 ? guessColumn(sample, options.hasHeader) : undefined;
  if (guessed === null) return "no_email_column";
  const emailColumns = [...new Set([...found, guessed].filter((index) => index !== undefined))];

  const hasHeader =
    options.hasHeader ??
    (names.some((name) => indexOfName(name, first) >= 0) ||
      emailColumns.every((index) => looksLikeName(first[index] ?? "")));
  const columns = listColumnNames(sample, hasHeader);
  const otherEmailColumns = [...columns.keys()].filter(
    (index) => !emailColumns.includes(index) && countAddressesIn(sample, index) > 0,
  );
  const vendor = hasHeader ? findVendorColumn(columns, sample.slice(1)) : null;
  return { columns, emailColumns, otherEmailColumns, hasHeader, vendor };
};

/** Lists the column names. A column without a name gets its position, from column_1. */
export const listColumnNames = (sample: Rows, hasHeader: boolean): readonly string[] => {
  const header = hasHeader ? (sample[0] ?? []) : [];
  return Array.from(
    { length: getWidth(sample) },
    (_, index) => header[index]?.trim() || `column_${index + 1}`,
  );
};

export const countWithAddress = (rows: Rows): number =>
  rows.filter((cells) => cells.some(hasAddress)).length;

/** A cell with an @ is no column name: a list without a header may start with an invalid address. */
const looksLikeName = (cell: string): boolean => !cell.includes("@");

const getWidth = (sample: Rows): number =>
  sample.reduce((width, cells) => Math.max(width, cells.length), 0);

const indexOfName = (name: string, names: readonly string[]): number => {
  const normalized = name.trim().toLowerCase();
  return normalized === "" ? -1 : names.findIndex((one) => one.trim().toLowerCase() === normalized);
};

const findColumn = (
  name: string,
  sample: Rows,
  hasHeader: boolean | undefined,
): number | undefined => {
  const byName = indexOfName(name, listColumnNames(sample, hasHeader ?? true));
  if (byName >= 0) return byName;
  const index = /^\d+$/.test(name) ? Number(name) : Number.NaN;
  return index < getWidth(sample) ? index : undefined;
};

const EXACT_NAME =
  /^(?:e[-_ ]?)?mail(?:[-_ ]?(?:address|adresse|addr|id))?$|^(?:correo(?:[-_ ]electr[oó]nico)?|courriel|adresse|adresse[-_ ](?:e-?mail|mail|[eé]lectronique))$/i;
const SIMILAR_NAME = /mail|correo|courriel|^adresse/i;

const rankName = (name: string): number => {
  if (EXACT_NAME.test(name)) return 2;
  return SIMILAR_NAME.test(name) ? 1 : 0;
};

/**
 * Chooses among the columns with addresses: first by the best name, then by the number of addresses. A name alone decides only
 * if no column has addresses, because "mailing city" and "email opt-in" would also match by name.
 */
const guessColumn = (sample: Rows, hasHeader: boolean | undefined): number | null => {
  const first = hasHeader === false ? [] : (sample[0] ?? []);
  const found = Array.from({ length: getWidth(sample) }, (_, index) => {
    const name = first[index]?.trim() ?? "";
    const rank = hasHeader || looksLikeName(name) ? rankName(name) : 0;
    return { index, rank, count: countAddressesIn(sample, index) };
  });
  const best = found
    .filter(({ rank, count }) => rank > 0 || count > 0)
    .toSorted(
      (a, b) => Number(b.count > 0) - Number(a.count > 0) || b.rank - a.rank || b.count - a.count,
    )[0];
  return best?.index ?? null;
};

export const countAddressesIn = (sample: Rows, column: number): number =>
  sample.filter((cells) => hasAddress(cells[column] ?? "")).length;
