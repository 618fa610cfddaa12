import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { openWorkbook } from "@mailproof/core/intake/spreadsheet/read-spreadsheet";
import { parse } from "csv-parse/sync";
import { expect, test } from "vitest";
import { given } from "../app/given.ts";
import { asRows } from "../runner/as-rows.ts";
import { describeUnless } from "../runner/describe-when.ts";
import { createFolder } from "../servers/running.ts";
import { givenFileDone, givenOneOfEach, OURS, whenExported } from "../things/downloads.ts";
import { createRows, givenJobOf, verifyEmail } from "../things/export-jobs.ts";

const XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";

const LIST = [
  "id;E-Mail;note",
  '007;ann@x.com;"=1+1"',
  '2;invalid@x.com;"two\nlines; <&>"',
  "3;n/a;skipped",
  "4;bob@x.com;+49 30 1234",
].join("\n");

const writeFile = (bytes: Uint8Array): string => {
  const file = join(createFolder(), "results.xlsx");
  writeFileSync(file, bytes);
  return file;
};

const readRows = async (bytes: Uint8Array): Promise<readonly (readonly string[])[]> => {
  const rows: (readonly string[])[] = [];
  const { sheets, read } = await openWorkbook(new Blob([bytes as Uint8Array<ArrayBuffer>]));
  await read(sheets[0] ?? "", (cells) => void rows.push([...cells]));
  return rows;
};

/** A reader leaves out the empty cells at the end of a row. */
const trimEnd = (cells: readonly string[]): readonly string[] =>
  cells.slice(0, cells.findLastIndex((cell) => cell !== "") + 1);

test("as=spreadsheet answers 200 with the list's own columns unchanged and ours behind them", async () => {
  const { world, liveKey, job } = await givenFileDone(LIST, "Autumn");

  const { statusCode, headers, bytes } = await whenExported(
    world,
    liveKey,
    { as: "spreadsheet" },
    job,
  );
  const [header, ...rows] = await readRows(bytes);

  expect(statusCode).toBe(200);
  expect(headers).toMatchObject({
    "content-type": XLSX,
    "content-disposition":
      "attachment; filename=\"Autumn-results.xlsx\"; filename*=UTF-8''Autumn-results.xlsx",
    "x-export-complete": "true",
    "x-export-expected-rows": "3",
  });
  expect(header).toEqual(["id", "E-Mail", "note", ...OURS]);
  expect(rows.map((cells) => cells.slice(0, 5))).toEqual([
    ["007", "ann@x.com", "=1+1", "ann@x.com", "valid"],
    ["2", "invalid@x.com", "two\nlines; <&>", "invalid@x.com", "invalid"],
    ["4", "bob@x.com", "+49 30 1234", "bob@x.com", "valid"],
  ]);
});

test.each([{}, { selection: "all" }, { filter: "risky" }, { filter: "safe_to_send" }])(
  "a spreadsheet with %j contains the same cells as the CSV",
  async (query) => {
    const { world, liveKey, job } = await givenOneOfEach();

    const csv = await whenExported(world, liveKey, query, job);
    const sheet = await whenExported(world, liveKey, { ...query, as: "spreadsheet" }, job);

    const records: string[][] = parse(csv.text, { relax_column_count: true });
    expect(records.length).toBeGreaterThan(1);
    expect(await readRows(sheet.bytes)).toEqual(records.map(trimEnd));
  },
);

test("filter=safe_to_send returns the valid addresses as CSV, JSON and .xlsx", async () => {
  const { world, liveKey, job } = await givenOneOfEach();
  const query = { filter: "safe_to_send" };

  const csv = await whenExported(world, liveKey, query, job);
  const json = await whenExported(world, liveKey, { ...query, format: "json" }, job);
  const sheet = await whenExported(world, liveKey, { ...query, as: "spreadsheet" }, job);

  expect(parse(csv.text, { columns: true })).toMatchObject([{ email: "ann@x.com" }]);
  expect(JSON.parse(json.text).rows).toMatchObject([{ email: "ann@x.com", status: "valid" }]);
  expect((await readRows(sheet.bytes)).slice(1)).toEqual([
    expect.arrayContaining(["ann@x.com", "valid"]),
  ]);
});

test.each(asRows`
  ${{ as: "Spreadsheet", delimiter: "comma" }} | delimiter: is only allowed for a CSV
  ${{ format: "xlsx" }} | format: must be one of csv, json
  ${{ as: "xlsx" }} | as: must be one of spreadsheet
  ${{ as: "spreadsheet", format: "json" }} | as: must be left out with format=json
  ${{ as: "spreadsheet", selection: "all", filter: "valid" }} | filter: must be left out with selection=all
`)("a download with %j answers 400 and states the field", async (query, message) => {
  const { world, liveKey, job } = await givenOneOfEach();

  const { statusCode, error } = await whenExported(world, liveKey, query, job);

  expect(statusCode).toBe(400);
  expect(error.message).toContain(message);
});

const ROWS = 2_500;

/** More rows than a request makes into a file. */
const givenLarge = async () => {
  const ctx = await given();
  const rows = createRows(await verifyEmail(ctx.world, "ann@x.com"), ROWS);
  await givenJobOf(ctx, [rows.slice(0, 1_000), rows.slice(1_000)], { valid: ROWS });
  const exportRows = { inRequest: 1_000, part: 1_000 };
  return { ...ctx, world: { ...ctx.world, settings: { ...ctx.world.settings, exportRows } } };
};

test("the download streams a large spreadsheet whole", async () => {
  const { world, liveKey } = await givenLarge();

  const { bytes } = await whenExported(world, liveKey, { as: "spreadsheet" });

  expect(await readRows(bytes)).toHaveLength(ROWS + 1);
});

const OPENPYXL = `
import json, sys, openpyxl
sheet = openpyxl.load_workbook(sys.argv[1], read_only=True).worksheets[0]
print(json.dumps([[cell for cell in row] for row in sheet.iter_rows(values_only=True)]))
`;

const hasOpenpyxl = spawnSync("python3", ["-c", "import openpyxl"]).status === 0;

describeUnless(hasOpenpyxl ? null : "there is no openpyxl for python3", "Python's openpyxl", () => {
  test("Python's openpyxl reads every cell: texts as texts, numbers as numbers", async () => {
    const { world, liveKey, job } = await givenFileDone(LIST);
    const { bytes } = await whenExported(world, liveKey, { as: "spreadsheet" }, job);

    const { stdout } = spawnSync("python3", ["-c", OPENPYXL, writeFile(bytes)]);
    const [header, ...rows] = JSON.parse(stdout.toString()) as (string | number | null)[][];

    expect(header).toEqual(["id", "E-Mail", "note", ...OURS]);
    expect(rows.map((cells) => cells.slice(0, 7))).toEqual([
      ["007", "ann@x.com", "=1+1", "ann@x.com", "valid", "yes", expect.any(Number)],
      [2, "invalid@x.com", "two\nlines; <&>", "invalid@x.com", "invalid", "no", expect.any(Number)],
      [4, "bob@x.com", "+49 30 1234", "bob@x.com", "valid", "yes", expect.any(Number)],
    ]);
  });
});
