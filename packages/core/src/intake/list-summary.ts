import * as v from "valibot";
import type { FileIntake } from "./ingest.ts";
import { LIST_ENCODINGS } from "./list-decoder.ts";

/**
 * The format and counts of a list, short enough for an answer that is stored with its Idempotency-Key: a list may have
 * thousands of columns, and names of any length.
 */
export const ListSummary = v.object({
  columns: v.array(v.string()),
  columnCount: v.number(),
  emailColumn: v.object({ name: v.string(), index: v.number() }),
  /** The names of all columns of addresses, if several are verified. Absent in 0.2.0. */
  emailColumns: v.optional(v.array(v.string())),
  otherEmailColumns: v.array(v.string()),
  hasHeader: v.boolean(),
  /** 0.2.0 has none. */
  vendor: v.optional(v.object({ name: v.string(), column: v.string(), settled: v.number() })),
  encoding: v.picklist(LIST_ENCODINGS),
  /** "" when the list has one column. */
  delimiter: v.string(),
  skipped: v.array(v.object({ row: v.number(), text: v.string(), reason: v.string() })),
});

export type ListSummary = v.InferOutput<typeof ListSummary>;

const COLUMNS_MAX = 20;
const NAME_LENGTH_MAX = 100;

export const summarizeList = ({ format, settled, skippedSample }: FileIntake): ListSummary => {
  const { columns, emailColumns, otherEmailColumns, hasHeader, encoding, delimiter, vendor } =
    format;
  const [first = 0] = emailColumns;
  const nameAt = (index: number) => shorten(columns[index] ?? "");
  return {
    columns: columns.slice(0, COLUMNS_MAX).map(shorten),
    columnCount: columns.length,
    emailColumn: { name: nameAt(first), index: first },
    ...(emailColumns.length > 1 && { emailColumns: emailColumns.map(nameAt) }),
    otherEmailColumns: otherEmailColumns.slice(0, COLUMNS_MAX).map(nameAt),
    hasHeader,
    ...(vendor && { vendor: { name: vendor.name, column: nameAt(vendor.at), settled } }),
    encoding,
    delimiter,
    skipped: [...skippedSample],
  };
};

const shorten = (name: string): string =>
  name.length <= NAME_LENGTH_MAX ? name : `${name.slice(0, NAME_LENGTH_MAX - 1)}…`;
