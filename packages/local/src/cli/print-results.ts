import { UsageError } from "./define-command.ts";
import type { CsvList } from "./result-table.ts";
import {
  createCsvFormat,
  createSpreadsheetFormat,
  createTextFormat,
  formatJsonLines,
  type ResultFormat,
} from "./show-results.ts";
import { choosePaint } from "./terminal.ts";

export type OutputKind = "json" | "csv" | "spreadsheet";

type Wanted = { readonly json: boolean; readonly out?: string | undefined };

export const getOutputKind = ({ json, out }: Wanted): OutputKind => {
  const isSpreadsheet = out?.toLowerCase().endsWith(".xlsx") === true;
  if (json && isSpreadsheet)
    throw new UsageError(
      "--json writes lines of JSON. Choose an --out that ends with .jsonl, or leave out --json.",
    );
  if (isSpreadsheet) return "spreadsheet";
  return json || out?.endsWith(".jsonl") === true ? "json" : "csv";
};

export const chooseFormat = (wanted: Wanted, list: CsvList): ResultFormat => {
  const kind = getOutputKind(wanted);
  if (kind === "spreadsheet") return createSpreadsheetFormat(list);
  if (kind === "json") return formatJsonLines;
  if (wanted.out !== undefined) return createCsvFormat(list);
  return process.stdout.isTTY ? createTextFormat(choosePaint(process.stdout)) : formatJsonLines;
};
