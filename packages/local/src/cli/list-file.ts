import {
  closeSync,
  createReadStream,
  createWriteStream,
  mkdtempSync,
  openAsBlob,
  openSync,
  readSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { ListFault } from "@mailproof/core/intake/open-list";
import {
  type ConvertedSheets,
  convertSheets,
  UnknownSheet,
  type WantedSheets,
} from "@mailproof/core/intake/spreadsheet/convert-sheets";
import { SpreadsheetFault } from "@mailproof/core/intake/spreadsheet/fault";
import * as v from "valibot";
import { describeOption, UsageError } from "./define-command.ts";
import { writeNote } from "./notes.ts";
import { replaceControls } from "./terminal.ts";

export const COLUMN = {
  column: describeOption(
    v.optional(v.array(v.string())),
    "a column of the list with addresses, by its name; repeat it for several (default: found by its name and its content)",
    { value: "NAME", multiple: true },
  ),
  sheet: describeOption(
    v.optional(v.array(v.string())),
    "a sheet of the spreadsheet, by its name; repeat it for several (default: the first with addresses)",
    { value: "NAME", multiple: true },
  ),
};

export const STANDARD_INPUT = "-";

export type ListFile = {
  readonly name: string;
  readonly path: string;
  readonly remove: () => void;
};

/** Copies standard input, and converts a spreadsheet; any other list stays in its place. */
export const openListFile = async (name: string, wanted: WantedSheets): Promise<ListFile> => {
  assertIsReadable(name);
  const isFile = name !== STANDARD_INPUT && statSync(name).isFile();
  if (isFile && !isZip(name)) {
    assertNoOldSpreadsheet(name, name);
    assertNoSheets(name, wanted);
    return { name, path: name, remove: () => {} };
  }
  const folder = mkdtempSync(join(tmpdir(), "mailproof-list-"));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  process.once("exit", remove);
  try {
    const path = isFile ? name : await copyStream(name, join(folder, "list.csv"));
    assertNoOldSpreadsheet(path, name);
    if (isZip(path)) return { name, path: await convert(path, name, folder, wanted), remove };
    assertNoSheets(name, wanted);
    return { name, path, remove };
  } catch (error) {
    remove();
    throw error;
  }
};

const assertIsReadable = (name: string): void => {
  if (name === STANDARD_INPUT) return;
  const found = statSync(name, { throwIfNoEntry: false });
  if (!found) throw new UsageError(`No such file: ${name}. Check the name and the folder.`);
  if (found.isDirectory())
    throw new UsageError(`${name} is a folder, not a list. Name a file in it.`);
  try {
    closeSync(openSync(name, "r"));
  } catch {
    throw new UsageError(`${name} cannot be read. Check its permissions.`);
  }
};

const copyStream = async (name: string, path: string): Promise<string> => {
  if (name === STANDARD_INPUT && process.stdin.isTTY)
    writeNote("Reading the list from the terminal. Ctrl-D ends it.\n");
  const source = name === STANDARD_INPUT ? process.stdin : createReadStream(name);
  await pipeline(source, createWriteStream(path, { mode: 0o600 }));
  return path;
};

const ZIP = Buffer.from("PK\u0003\u0004");
/** The first bytes of old .xls files, and of new spreadsheets with a password. */
const COMPOUND_FILE = Buffer.from([0xd0, 0xcf, 0x11, 0xe0]);

const readHead = (path: string): Buffer => {
  const head = Buffer.alloc(4);
  const handle = openSync(path, "r");
  readSync(handle, head, 0, head.length, 0);
  closeSync(handle);
  return head;
};

const isZip = (path: string): boolean => readHead(path).equals(ZIP);

const assertNoOldSpreadsheet = (path: string, name: string): void => {
  if (readHead(path).equals(COMPOUND_FILE))
    throw new UsageError(
      `${name}: an old or encrypted spreadsheet (.xls) cannot be read. Save it as .xlsx without a password, or as CSV.`,
    );
};

const assertNoSheets = (name: string, { sheets }: WantedSheets): void => {
  if (sheets)
    throw new UsageError(`--sheet is for spreadsheets, and ${name} is text. Leave it out.`);
};

/** A sheet without any of the named columns would count as rows without an address. A number names a column of the table. */
const assertColumns = (
  { sheets }: ConvertedSheets,
  { sheets: several, columns: wanted = [] }: WantedSheets,
): void => {
  if (several === undefined || wanted.length === 0 || wanted.some((name) => /^\d+$/.test(name)))
    return;
  const names = new Set(wanted.map((name) => name.toLowerCase()));
  const without = sheets.find(
    ({ isChosen, columns }) => isChosen && !columns.some((name) => names.has(name.toLowerCase())),
  );
  if (without)
    throw new UsageError(
      `--column: the sheet "${replaceControls(without.name)}" has none of these columns. It has ${replaceControls(without.columns.map((name) => `"${name}"`).join(", "))}.`,
    );
};

const convert = async (
  path: string,
  name: string,
  folder: string,
  wanted: WantedSheets,
): Promise<string> => {
  const converted = join(folder, "spreadsheet.csv");
  const handle = openSync(converted, "wx", 0o600);
  try {
    const write = (record: string) => void writeSync(handle, record);
    const found = await convertSheets(await openAsBlob(path), wanted, write);
    writeNote(formatNotes(name, found));
    assertColumns(found, wanted);
  } catch (error) {
    if (error instanceof UnknownSheet)
      throw new UsageError(`--sheet: ${name} ${replaceControls(error.message)}`);
    if (error instanceof SpreadsheetFault) throw new UsageError(`${name}: ${error.message}.`);
    throw error;
  } finally {
    closeSync(handle);
  }
  return converted;
};

const NEXT_STEPS: Readonly<Record<ListFault["fault"] | "no_addresses", string>> = {
  empty: "Put an address on each line.",
  binary: "Save it as CSV in UTF-8, or as .xlsx.",
  wide_header: "",
  no_email_column: "Name the column of the addresses with --column NAME.",
  unknown_column: "Name one of them with --column NAME.",
  no_addresses: "Name the column of the addresses with --column NAME.",
};

export const createListError = (name: string, { fault, message }: ListProblem): UsageError => {
  const next = Object.hasOwn(NEXT_STEPS, fault) ? NEXT_STEPS[fault as ListFault["fault"]] : "";
  return new UsageError(`${name}: ${message} ${next}`.trimEnd());
};

type ListProblem = { readonly fault: string; readonly message: string };

const formatNotes = (name: string, { sheets, formulasWithoutResult }: ConvertedSheets): string => {
  const lines = sheets.map(({ name: sheet, rows, column, isChosen }) => {
    const where = column === null ? "no addresses" : `addresses in "${replaceControls(column)}"`;
    const state = isChosen ? "read" : "not read";
    return `  "${replaceControls(sheet)}": ${rows} ${rows === 1 ? "row" : "rows"}, ${where}, ${state}\n`;
  });
  const sheetNote =
    sheets.length === 1
      ? ""
      : `${basename(name)}: its sheets (choose with --sheet NAME):\n${lines.join("")}`;
  const formulaNote =
    formulasWithoutResult === 0
      ? ""
      : `${basename(name)}: ${formulasWithoutResult} cells have a formula without a stored result, and count as empty. Save the file in a spreadsheet program to store them.\n`;
  return sheetNote + formulaNote;
};
