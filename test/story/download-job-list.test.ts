import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createCsvReader } from "@mailproof/core/intake/csv-reader";
import { openWorkbook } from "@mailproof/core/intake/spreadsheet/read-spreadsheet";
import { parse } from "csv-parse/sync";
import { expect, test } from "vitest";
import { given } from "../app/given.ts";
import { send } from "../app/send.ts";
import { asRows } from "../runner/as-rows.ts";
import { describeUnless } from "../runner/describe-when.ts";
import { createFolder } from "../servers/running.ts";
import { getJson, givenFileDone, givenOneOfEach, OURS, whenExported } from "../things/downloads.ts";
import {
  createRows,
  givenFileJob,
  givenJobOf,
  givenSmallChunks,
  type TestContext,
  verifyEmail,
  whenChunkIsGone,
  whenMessagesWorked,
} from "../things/export-jobs.ts";

type Query = Readonly<Record<string, string>>;

const givenBatchDone = async (
  emails: readonly string[],
): Promise<TestContext & { job: string }> => {
  const ctx = await givenSmallChunks();
  const { world, liveKey } = ctx;
  const { data } = await send(world, "POST /v1/verify/batch", { key: liveKey, body: { emails } });
  await whenMessagesWorked(ctx);
  return { ...ctx, job: data.job_id };
};

/** The four headers in which an export says what it lacks. */
const readMessage = ({ headers }: { readonly headers: Readonly<Record<string, string>> }) =>
  ["complete", "expected-rows", "missing-rows", "pending-rows"].map(
    (name) => headers[`x-export-${name}`],
  );

const LIST = [
  "id;E-Mail;phone;change",
  "1;Ann@X.com;+49 30 1234;-5",
  "2;n/a;;",
  '3;"Lovelace, Ada <ada@x.org>";=1+1;-1+1',
  "4;ann@x.com;(repeat);+5 %",
  "5;bob@x.com, cy@x.com;-;",
  "6;mailto:invalid@x.com",
  "7;ann@x.com;again;",
].join("\n");

test.each([
  ["a comma", "id,email\n1,ann@x.com\n", ","],
  ["a semicolon", "id;email\n1;ann@x.com\n", ";"],
  ["a tab", "id\temail\n1\tann@x.com\n", "\t"],
  ["a bar", "id|email\n1|ann@x.com\n", "|"],
  ["the character of sep=", "sep=^\nid^email\n1^ann@x.com\n", "^"],
])("the CSV uses the delimiter of the list: %s", async (_case, text, delimiter) => {
  const { world, liveKey, job } = await givenFileDone(text);

  const exported = await whenExported(world, liveKey, {}, job);

  const [header, record] = createCsvReader(delimiter)(exported.text, true);
  expect(header?.slice(0, 4)).toEqual(["id", "email", "mailproof_email", "status"]);
  expect(record?.slice(0, 4)).toEqual(["1", "ann@x.com", "ann@x.com", "valid"]);
});

test("the CSV uses a comma for a list of one column", async () => {
  const { world, liveKey, job } = await givenFileDone("ann@x.com\nbob@x.com\n");

  const { text } = await whenExported(world, liveKey, {}, job);

  expect(text).toMatch(/^email,mailproof_email,status,/);
});

test.each([
  ["comma", ","],
  ["Semicolon", ";"],
  ["TAB", "\t"],
])("the CSV uses the delimiter of the query: %s", async (delimiter, character) => {
  const { world, liveKey, job } = await givenFileDone("id|email\n1|ann@x.com\n");

  const { text } = await whenExported(world, liveKey, { delimiter }, job);

  expect(text.startsWith(["id", "email", "mailproof_email"].join(character))).toBe(true);
});

test.each<[string, Query, string]>([
  ["an unknown delimiter", { delimiter: ";" }, "delimiter: must be one of comma, semicolon, tab"],
  [
    "a delimiter for JSON",
    { delimiter: "tab", format: "json" },
    "delimiter: is only allowed for a CSV",
  ],
])("the download answers 400 for %s", async (_case, query, words) => {
  const { world, liveKey, job } = await givenFileDone("ann@x.com\n");

  const refused = await whenExported(world, liveKey, query, job);

  expect(refused).toMatchObject({ statusCode: 400 });
  expect(refused.error.message).toContain(words);
});

test("the CSV returns own cells unchanged, except those that a spreadsheet would run", async () => {
  const { world, liveKey, job } = await givenFileDone(LIST);

  const [, ...records] = createCsvReader(";")(
    (await whenExported(world, liveKey, {}, job)).text,
    true,
  );

  expect(records.map((cells) => cells.slice(0, 6))).toEqual([
    ["1", "Ann@X.com", "+49 30 1234", "-5", "Ann@x.com", "valid"],
    ["3", "Lovelace, Ada <ada@x.org>", "'=1+1", "'-1+1", "ada@x.org", "valid"],
    ["6", "mailto:invalid@x.com", "", "", "invalid@x.com", "invalid"],
  ]);
});

test("the CSV puts a row's cells beyond the header at the end of the row", async () => {
  const text = `email,id\n${"ann@x.com,1\n".repeat(250)}bob@x.com,251,one,=two\n`;
  const { world, liveKey, job } = await givenFileDone(text);

  const exported = await whenExported(world, liveKey, {}, job);

  const [header = [], ann, bob] = createCsvReader(",")(exported.text, true);
  expect(header.slice(0, 3)).toEqual(["email", "id", "mailproof_email"]);
  expect(ann).toHaveLength(header.length);
  expect(bob?.slice(0, 4)).toEqual(["bob@x.com", "251", "bob@x.com", "valid"]);
  expect(bob?.slice(header.length)).toEqual(["one", "'=two"]);
});

test("the CSV lists every row in order and states the reason where a result is absent", async () => {
  const { world, liveKey, job } = await givenFileDone(LIST);

  const exported = await whenExported(world, liveKey, { selection: "ALL" }, job);

  const [header, ...records] = createCsvReader(";")(exported.text, true);
  expect(header?.slice(0, 11)).toEqual([
    "id",
    "E-Mail",
    "phone",
    "change",
    "row",
    "row_outcome",
    "duplicate_of",
    "skip_reason",
    "skip_message",
    "email",
    "status",
  ]);
  expect(records.map((cells) => [cells[0], ...cells.slice(4, 8), ...cells.slice(9, 11)])).toEqual([
    ["1", "2", "verified", "", "", "Ann@x.com", "valid"],
    ["2", "3", "skipped", "", "syntax.no_at", "", ""],
    ["3", "4", "verified", "", "", "ada@x.org", "valid"],
    ["4", "5", "duplicate", "2", "", "", ""],
    ["5", "6", "skipped", "", "several_addresses", "", ""],
    ["6", "7", "verified", "", "", "invalid@x.com", "invalid"],
    ["7", "8", "duplicate", "2", "", "", ""],
  ]);
  expect(records[4]?.[1]).toBe("bob@x.com, cy@x.com");
  expect(readMessage(exported)).toEqual(["true", "7", "0", "0"]);
  expect(exported.headers["content-disposition"]).toContain("-all-rows.csv");
});

test("the JSON of an export lists every row with its cells and its submitted text", async () => {
  const { world, liveKey, job } = await givenFileDone(LIST);

  const { rows, ...fields } = await getJson(world, liveKey, { selection: "all" }, job);

  expect(fields).toMatchObject({
    selection: "all",
    complete: true,
    expected_rows: 7,
    rows_missing: 0,
  });
  expect(rows[1]).toEqual({
    row: 3,
    row_outcome: "skipped",
    skip_reason: "syntax.no_at",
    skip_message: "The @ is missing.",
    submitted: "n/a",
    columns: { id: "2", "E-Mail": "n/a", phone: "", change: "" },
  });
  expect(rows[2]).toMatchObject({
    row: 4,
    row_outcome: "verified",
    email: "ada@x.org",
    status: "valid",
    submitted: "Lovelace, Ada <ada@x.org>",
    columns: { id: "3", phone: "=1+1", change: "-1+1" },
  });
  expect(rows[3]).toMatchObject({ row: 5, row_outcome: "duplicate", duplicate_of: 2 });
  expect(rows[4].skip_message).toMatch(/several addresses/);
});

test("the export of a running job lists the waiting rows", async () => {
  const ctx = await givenSmallChunks();
  const { world, liveKey } = ctx;
  const job = await givenFileJob(ctx, { text: `${LIST}\n8;dan@x.com;;\n9;none` });
  await whenMessagesWorked(ctx, 1);

  const csv = await whenExported(world, liveKey, { selection: "all" }, job);
  const json = await getJson(world, liveKey, { selection: "all" }, job);

  const outcomes = json.rows.map(({ row_outcome }: { row_outcome: string }) => row_outcome);
  expect(outcomes).toEqual([
    "verified",
    "skipped",
    "verified",
    "duplicate",
    "skipped",
    "pending",
    "duplicate",
    "pending",
    "skipped",
  ]);
  expect(createCsvReader(";")(csv.text, true).slice(1)).toHaveLength(9);
  expect(readMessage(csv)).toEqual(["false", "9", "0", "2"]);
});

test("the export of a batch lists the duplicate entries with their texts", async () => {
  const emails = [" Ann@X.com", "ann@x.com", "Ada <ada@x.org>", "nobody"];
  const { world, liveKey, job } = await givenBatchDone(emails);

  const { rows } = await getJson(world, liveKey, { selection: "all" }, job);
  const csv = await whenExported(world, liveKey, { selection: "all" }, job);

  expect(rows.map((row: any) => [row.row, row.row_outcome, row.submitted])).toEqual([
    [1, "verified", " Ann@X.com"],
    [2, "duplicate", "ann@x.com"],
    [3, "verified", "Ada <ada@x.org>"],
    [4, "verified", "nobody"],
  ]);
  expect(rows[1]).toMatchObject({ duplicate_of: 1 });
  const [header, ...records] = createCsvReader(",")(csv.text, true);
  expect(header?.slice(0, 7)).toEqual([
    "row",
    "row_outcome",
    "duplicate_of",
    "skip_reason",
    "skip_message",
    "submitted",
    "email",
  ]);
  expect(records.map((cells) => cells[5])).toEqual(emails);
});

test("the export answers 404 when the list's rows are gone, and 400 with a filter", async () => {
  const { world, liveKey, job, blobs } = await givenFileDone(LIST);

  const filtered = await whenExported(world, liveKey, { selection: "all", filter: "valid" }, job);
  for (const key of blobs.keys()) await blobs.remove(key);
  const gone = await whenExported(world, liveKey, { selection: "all" }, job);

  expect(filtered).toMatchObject({ statusCode: 400 });
  expect(gone).toMatchObject({ statusCode: 404 });
  expect(gone.error.message).toMatch(/no longer stored.*Nothing was charged\.$/);
});

test("the JSON of an export stores each row's cells under their columns' names and distinguishes equal names", async () => {
  const text = "name,email,name,__proto__\nAnn,ann@x.com,Smith,x,beyond\n";
  const { world, liveKey, job } = await givenFileDone(text);

  const { text: sent } = await whenExported(world, liveKey, { format: "json" }, job);

  expect(sent).toContain(
    '"submitted":"ann@x.com","columns":{"name":"Ann","email":"ann@x.com","name_2":"Smith","__proto__":"x","column_5":"beyond"}',
  );
});

test("the JSON of an export omits cells and text when the input is gone", async () => {
  const { world, liveKey, job, blobs } = await givenFileDone(LIST);
  for (const key of blobs.keys()) await blobs.remove(key);

  const { rows } = await getJson(world, liveKey, {}, job);

  expect(rows).toHaveLength(3);
  expect(rows[0]).not.toHaveProperty("columns");
  expect(rows[0]).not.toHaveProperty("submitted");
});

const EMAILS = ["ann@x.com", "invalid@x.com", "info@x.com", "bob@x.com", "cy@x.com"];

const givenMiddle = async () => {
  const ctx = await givenSmallChunks();
  const job = await givenFileJob(ctx, { text: EMAILS.join("\n") });
  await whenMessagesWorked(ctx, 2);
  return { ...ctx, job };
};

test.each<[Query, readonly string[]]>([
  [{}, ["false", "4", "0", "1"]],
  [{ filter: "valid" }, ["false", "2", "0", "1"]],
  [{ filter: "risky" }, ["false", "1", "0", "1"]],
  [{ filter: "role" }, ["false", "1", "0", "1"]],
  [{ filter: "spam_trap" }, ["false", "0", "0", "1"]],
])("the headers of a running job's export with %j are %j", async (query, expected) => {
  const { world, liveKey, job } = await givenMiddle();

  const csv = await whenExported(world, liveKey, query, job);
  const json = await whenExported(world, liveKey, { ...query, format: "json" }, job);

  expect(readMessage(csv)).toEqual(expected);
  expect(readMessage(json)).toEqual(expected);
  const { complete, expected_rows, rows_missing, rows_pending, rows } = JSON.parse(json.text);
  expect([complete, expected_rows, rows_missing, rows_pending].map(String)).toEqual(expected);
  expect(rows).toHaveLength(expected_rows);
  expect(createCsvReader(",")(csv.text, true).slice(1)).toHaveLength(expected_rows);
});

test.each<[Query, readonly string[]]>([
  [{}, ["false", "5", "2", "0"]],
  [{ filter: "valid" }, ["false", "3", "1", "0"]],
  // The rows that cannot be read may be of any status.
  [{ filter: "role" }, ["false", "3", "2", "0"]],
])("the headers of an export with unreadable rows and %j are %j", async (query, expected) => {
  const { world, liveKey, job, table } = await givenFileDone(EMAILS.join("\n"));
  await whenChunkIsGone(table, job, 0);

  const json = await whenExported(world, liveKey, { ...query, format: "json" }, job);

  expect(readMessage(json)).toEqual(expected);
});

const XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";

const LIST_WITH_NOTES = [
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
  const { world, liveKey, job } = await givenFileDone(LIST_WITH_NOTES, "Autumn");

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
    const { world, liveKey, job } = await givenFileDone(LIST_WITH_NOTES);
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
