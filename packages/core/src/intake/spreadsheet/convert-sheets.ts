import { countAddressesIn, findColumns, listColumnNames } from "../columns.ts";
import { SpreadsheetFault } from "./fault.ts";
import { openWorkbook, type Workbook } from "./read-spreadsheet.ts";

// Converts sheets of a workbook into one CSV list. Several sheets become one table: columns of one name become one column, and so
// do the columns of addresses; the first column names the sheet of each row.

export type WantedSheets = {
  /** The names of the sheets. Undefined means the first sheet with a list of addresses. */
  readonly sheets?: readonly string[] | undefined;
  /** The columns of addresses that the caller names: they keep their names. */
  readonly columns?: readonly string[] | undefined;
};

export type SheetSummary = {
  readonly name: string;
  /** The number of rows with cells, without the header. */
  readonly rows: number;
  readonly columns: readonly string[];
  /** The name of the column with addresses. Null when the sheet lacks such a column. */
  readonly column: string | null;
  readonly isChosen: boolean;
};

export type ConvertedSheets = {
  readonly sheets: readonly SheetSummary[];
  readonly formulasWithoutResult: number;
};

export class UnknownSheet extends SpreadsheetFault {}

export const convertSheets = async (
  file: Blob,
  { sheets: wanted, columns }: WantedSheets,
  write: (record: string) => void,
): Promise<ConvertedSheets> => {
  const workbook = await openWorkbook(file);
  const { sheets: names } = workbook;
  const unknown = wanted?.find((name) => !names.includes(name));
  if (unknown !== undefined)
    throw new UnknownSheet(`has no sheet "${unknown}". It has ${names.map(quote).join(", ")}.`);
  const found: Sheet[] = [];
  for (const name of names) found.push(await examine(workbook, name));
  const usual =
    found.find(({ isList }) => isList) ?? found.find(({ emailColumn }) => emailColumn >= 0);
  const chosen = wanted ? found.filter(({ name }) => wanted.includes(name)) : [usual ?? found[0]];
  const sheets = found.map((sheet) => ({
    name: sheet.name,
    rows: sheet.rows,
    columns: sheet.columns,
    column: sheet.columns[sheet.emailColumn] ?? null,
    isChosen: chosen.includes(sheet),
  }));
  const read = chosen.filter((sheet) => sheet !== undefined);
  const formulas =
    read.length > 1
      ? await writeTable(workbook, read, columns === undefined, write)
      : await workbook.read(read[0]?.name ?? "", (cells) => write(formatRecord(cells)));
  return { sheets, formulasWithoutResult: formulas };
};

const quote = (name: string): string => `"${name}"`;

type Sheet = {
  readonly name: string;
  readonly rows: number;
  readonly columns: readonly string[];
  /** -1: the sheet has no addresses. */
  readonly emailColumn: number;
  readonly hasHeader: boolean;
  /** At least half of its first rows have an address, unlike those of a cover sheet. */
  readonly isList: boolean;
};

const SAMPLE_ROWS = 1_000;

const examine = async (workbook: Workbook, name: string): Promise<Sheet> => {
  const sample: (readonly string[])[] = [];
  let rows = 0;
  await workbook.read(name, (cells) => {
    if (cells.length === 0) return;
    rows += 1;
    if (sample.length < SAMPLE_ROWS) sample.push(cells);
  });
  const found = findColumns(sample, {});
  if (typeof found === "string" || "unknown" in found) return toSheet(name, rows, sample);
  const { columns, hasHeader, emailColumns } = found;
  const [emailColumn = 0] = emailColumns;
  const addresses = countAddressesIn(sample, emailColumn);
  if (addresses === 0) return toSheet(name, rows, sample);
  const header = Number(hasHeader);
  const isList = addresses * 2 >= sample.length - header;
  return { name, rows: rows - header, columns, emailColumn, hasHeader, isList };
};

const toSheet = (name: string, rows: number, sample: readonly (readonly string[])[]): Sheet => ({
  name,
  rows,
  columns: listColumnNames(sample, false),
  emailColumn: -1,
  hasHeader: false,
  isList: false,
});

/** Returns how many formulas have no stored result. */
const writeTable = async (
  workbook: Workbook,
  sheets: readonly Sheet[],
  joinsAddresses: boolean,
  write: (record: string) => void,
): Promise<number> => {
  const names: string[] = [];
  const positions = new Map<string, number>();
  const places = sheets.map(({ columns, emailColumn }) => {
    const counts = new Map<string, number>();
    return columns.map((name, at) => {
      const count = (counts.get(name.toLowerCase()) ?? 0) + 1;
      counts.set(name.toLowerCase(), count);
      const isJoined = joinsAddresses && at === emailColumn;
      const key = isJoined ? "addresses" : `${count} ${name.toLowerCase()}`;
      const position = positions.get(key) ?? names.push(name) - 1;
      positions.set(key, position);
      return position;
    });
  });
  write(formatRecord(["sheet", ...names]));
  let formulas = 0;
  for (const [index, { name, hasHeader }] of sheets.entries()) {
    const own = places[index] ?? [];
    let isHeader = hasHeader;
    formulas += await workbook.read(name, (cells) => {
      if (cells.length === 0) return;
      if (!isHeader) write(formatRecord([name, ...moveCells(cells, own, names.length)]));
      isHeader = false;
    });
  }
  return formulas;
};

/** A cell beyond the columns of its sheet moves beyond those of the table. */
const moveCells = (
  cells: readonly string[],
  places: readonly number[],
  width: number,
): readonly string[] => {
  const moved = Array.from({ length: width }, () => "");
  for (const [at, cell] of cells.entries()) {
    const place = places[at];
    if (place === undefined) moved.push(cell);
    else moved[place] = cell;
  }
  return moved;
};

/** Quotes every cell, so that the CSV reader returns the same cells and need not guess a delimiter. */
const formatRecord = (cells: readonly string[]): string =>
  `${cells.length === 0 ? '""' : cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(",")}\r\n`;
