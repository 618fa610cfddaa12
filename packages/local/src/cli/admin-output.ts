import type { Json } from "@mailproof/core/ports/table";
import { replaceControls } from "./terminal.ts";

type Fields = Readonly<Record<string, Json | undefined>>;

export const formatAdminOutput = (output: Json): string => {
  const rows = toRows(output);
  if (rows) return formatTable(rows);
  if (!isFields(output)) return `${formatValue(output)}\n`;
  const names = Object.keys(output);
  const width = Math.max(...names.map((name) => name.length));
  return names.map((name) => formatField(name, output[name], width)).join("");
};

const formatField = (name: string, value: Json | undefined, width: number): string => {
  const rows = toRows(value);
  return rows && rows.length > 0
    ? `\n${formatTable(rows)}`
    : `${name.padEnd(width)}  ${formatValue(value)}\n`;
};

const isFields = (value: Json | undefined): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const toRows = (value: Json | undefined): readonly Fields[] | undefined => {
  if (!Array.isArray(value)) return undefined;
  const rows = (value as readonly Json[]).filter(isFields);
  return rows.length === value.length ? rows : undefined;
};

const formatTable = (rows: readonly Fields[]): string => {
  if (rows.length === 0) return "None.\n";
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const lines = [names, ...rows.map((row) => names.map((name) => formatValue(row[name])))];
  const widths = names.map((_, column) =>
    Math.max(...lines.map((line) => line[column]?.length ?? 0)),
  );
  const areNumbers = names.map((name) => isNumbers(rows.map((row) => row[name] ?? null)));
  const pad = (cell: string, column: number): string => {
    const width = widths[column] ?? 0;
    return areNumbers[column] ? cell.padStart(width) : cell.padEnd(width);
  };
  return lines
    .map((line) => line.map(pad).join("  "))
    .map((line) => `${line.trimEnd()}\n`)
    .join("");
};

/** A column of numbers is right-aligned, so that a large number looks large. */
const isNumbers = (column: readonly Json[]): boolean => {
  const present = column.filter((value) => value !== null);
  return present.length > 0 && present.every((value) => typeof value === "number");
};

const formatValue = (value: Json | undefined): string => {
  if (value === undefined || value === null) return "-";
  return replaceControls(typeof value === "object" ? JSON.stringify(value) : String(value));
};
