import { isOpenJob, type Job } from "../rows/items.ts";
import type { RowSelection } from "./export-rows.ts";
import type { WantedRows } from "./exported-rows.ts";

export const EXPORT_FORMATS = ["csv", "json", "xlsx", "zip"] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

export const CONTENT_TYPES: Readonly<Record<ExportFormat, string>> = {
  csv: "text/csv; charset=utf-8",
  json: "application/json; charset=utf-8",
  xlsx: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
  zip: "application/zip",
};

export const DELIMITERS = { comma: ",", semicolon: ";", tab: "\t" } as const;
export type DelimiterName = keyof typeof DELIMITERS;
export const DELIMITER_NAMES = Object.keys(DELIMITERS) as readonly DelimiterName[];

export type ExportOptions = Pick<WantedRows, "filter" | "text"> & {
  /** A zip contains a CSV for each advice. */
  readonly format: ExportFormat;
  readonly selection: RowSelection;
  readonly delimiter: DelimiterName | null;
};

/** The whole name stays below the 255 bytes that file systems allow, in any script. */
const NAME_LENGTH_MAX = 70;
/** Characters that a path or a Windows file name cannot contain, and characters that make one name look like another. */
const UNFIT = /[\p{C}\p{Zl}\p{Zp}"*/:<>?\\|]+/gu;

export const toExportFileName = (
  job: Job,
  { format, filter, text, selection }: Omit<ExportOptions, "delimiter">,
): string => {
  const cut = (job.name ?? "").replace(/\.(?:csv|txt|xlsx)$/i, "").slice(0, NAME_LENGTH_MAX);
  // A leading dot hides a file or names a parent folder.
  const name =
    cut
      .replaceAll(UNFIT, "_")
      .replace(/^[\s.]+/, "")
      .trim() || job.id;
  const state = isOpenJob(job) ? "-so-far" : "";
  const rows = selection === "all" ? "all-rows" : toRowsName(filter, text);
  return `${name}-${rows}${state}.${format}`;
};

/** The searched text is part of a person's address, so no file name contains it. */
const toRowsName = (filter: string, text: string | null): string => {
  if (text !== null || filter.includes(",")) return "selected";
  return filter === "all" ? "results" : filter.replace(":", "-");
};
