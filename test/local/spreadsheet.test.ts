import { spawnSync } from "node:child_process";
import { openAsBlob, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { writeSpreadsheet } from "@mailproof/core/exports/write-spreadsheet";
import { writeZip } from "@mailproof/core/exports/write-zip";
import {
  convertSheets,
  type WantedSheets,
} from "@mailproof/core/intake/spreadsheet/convert-sheets";
import { openWorkbook } from "@mailproof/core/intake/spreadsheet/read-spreadsheet";
import { openZip } from "@mailproof/core/lib/zip";
import { expect, test } from "vitest";
import { describeUnless } from "../runner/describe-when.ts";
import { createFolder } from "../servers/running.ts";
import { createSheets, createWorkbook } from "../things/workbook.ts";

type Parts = Readonly<Record<string, string>>;

async function* toPieces(text: string): AsyncGenerator<Uint8Array> {
  // In small pieces: every tag and character is cut somewhere.
  const bytes = Buffer.from(text);
  const size = bytes.length > 10_000 ? 4_096 : 7;
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

const writeFile = async (pieces: AsyncIterable<Uint8Array>): Promise<string> => {
  const file = join(createFolder(), "list.xlsx");
  writeFileSync(file, Buffer.concat(await Array.fromAsync(pieces)));
  return file;
};

const zip = (parts: Parts): Promise<string> =>
  writeFile(
    writeZip(Object.entries(parts).map(([name, text]) => ({ name, pieces: toPieces(text) }))),
  );

const RELATION = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet";

/** A workbook as spreadsheet programs write it, with this in its parts. */
const workbook = (parts: {
  readonly sheet: string;
  readonly texts?: string;
  readonly styles?: string;
  readonly properties?: string;
  readonly sheets?: string;
}): Parts => ({
  "xl/workbook.xml": `<?xml version="1.0"?><workbook xmlns:r="r">${parts.properties ?? ""}<sheets>${parts.sheets ?? '<sheet name="One" sheetId="1" r:id="rId1"/>'}</sheets></workbook>`,
  "xl/_rels/workbook.xml.rels": `<Relationships><Relationship Id="rId1" Type="${RELATION}" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="${RELATION}" Target="/xl/worksheets/sheet2.xml"/></Relationships>`,
  "xl/worksheets/sheet1.xml": `<worksheet><sheetData>${parts.sheet}</sheetData></worksheet>`,
  "xl/worksheets/sheet2.xml": `<worksheet><sheetData><row><c t="str"><v>second</v></c></row></sheetData></worksheet>`,
  ...(parts.texts !== undefined && { "xl/sharedStrings.xml": `<sst>${parts.texts}</sst>` }),
  ...(parts.styles !== undefined && {
    "xl/styles.xml": `<styleSheet>${parts.styles}</styleSheet>`,
  }),
});

const readRows = async (file: string) => {
  const rows: (readonly string[])[] = [];
  const { sheets, read } = await openWorkbook(await openAsBlob(file));
  const formulas = await read(sheets[0] ?? "", (cells) => void rows.push([...cells]));
  return { rows, sheets, formulas };
};

const read = async (parts: Parameters<typeof workbook>[0]) => readRows(await zip(workbook(parts)));

test("the spreadsheet reader refuses a row number beyond a spreadsheet's limit and emits no empty rows up to it", async () => {
  const rows: unknown[] = [];
  const row = (number: number) => `<row r="${number}"><c t="str"><v>a@x.com</v></c></row>`;
  const file = await zip(workbook({ sheet: `${row(1)}${row(250_000_000)}` }));

  const { read } = await openWorkbook(await openAsBlob(file));
  await expect(read("One", (cells) => void rows.push(cells))).rejects.toThrow("row 250000000");
  expect(rows).toEqual([["a@x.com"]]);
});

test("the spreadsheet reader finds texts in every place that programs use, with parts, escapes and entities", async () => {
  const { rows } = await read({
    texts:
      "<si><t>e-mail</t></si><si><r><t>Ada </t></r><r><rPr><b/></rPr><t xml:space='preserve'>&amp; Bob</t></r><rPh><t>アダ</t></rPh></si>",
    sheet: `<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c></row>
      <row r="2"><c r="A2" t="inlineStr"><is><t>ada&#64;example.com</t></is></c><c r="B2" t="str"><f>A1&amp;"x"</f><v>a_x000D_b&#x20AC;</v></c></row>
      <x:row r="3" title="a > b"><x:c r="A3" t="inlineStr"><x:is><x:t><![CDATA[<b@example.com>]]></x:t></x:is></x:c><!-- <c/> --></x:row>`,
  });

  expect(rows).toEqual([
    ["e-mail", "Ada & Bob"],
    ["ada@example.com", "a\rb€"],
    ["<b@example.com>"],
  ]);
});

test("the spreadsheet reader returns numbers, dates, booleans and errors as a person sees them", async () => {
  const { rows } = await read({
    styles:
      '<numFmts><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd hh:mm"/><numFmt numFmtId="165" formatCode="[Red]0.00&quot;days&quot;"/></numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/><xf numFmtId="165"/><xf numFmtId="21"/></cellXfs>',
    sheet: `<row>${[
      "<c><v>1.1000000000000001</v></c>",
      '<c s="1"><v>45306</v></c>',
      '<c s="2"><v>45306.5</v></c>',
      '<c s="3"><v>3</v></c>',
      '<c s="4"><v>0.75</v></c>',
      '<c s="1"><v>59</v></c>',
      '<c s="1"><v>-1</v></c>',
      '<c t="b"><v>1</v></c>',
      '<c t="e"><v>#N/A</v></c>',
      '<c t="d"><v>2026-01-31</v></c>',
    ].join("")}</row>`,
  });

  expect(rows).toEqual([
    [
      "1.1",
      "2024-01-15",
      "2024-01-15T12:00:00",
      "3",
      "18:00:00",
      "1900-02-28",
      "-1",
      "TRUE",
      "#N/A",
      "2026-01-31",
    ],
  ]);
});

test("the spreadsheet reader counts a workbook's days from 1904 when the workbook declares it", async () => {
  const { rows } = await read({
    properties: '<workbookPr date1904="1"/>',
    styles: '<cellXfs><xf numFmtId="14"/></cellXfs>',
    sheet: "<row><c><v>43844</v></c></row>",
  });

  expect(rows).toEqual([["2024-01-15"]]);
});

test("the spreadsheet reader keeps the shown row numbers and columns, and drops empty cells at the end", async () => {
  const { rows } = await read({
    sheet: `<row r="2"><c r="B2" t="str"><v>head</v></c><c r="AA2"><v>7</v></c></row><row r="5"><c r="B5" t="str"><v>a</v></c></row><row r="900"><c r="A900" s="0"/></row>`,
  });

  const [head = [], ...others] = rows;
  expect([head.length, head[1], head[26]]).toEqual([27, "head", "7"]);
  expect(others).toEqual([[], [], ["", "a"]]);
});

test("the spreadsheet reader lists the visible sheets and reads one by its name", async () => {
  const { rows, sheets } = await read({
    sheets:
      '<sheet name="Hidden" state="hidden" r:id="rId1"/><sheet name="Two" r:id="rId2"/><sheet name="One" r:id="rId1"/>',
    sheet: "<row><c><v>1</v></c></row>",
  });

  expect(rows).toEqual([["second"]]);
  expect(sheets).toEqual(["Two", "One"]);
});

test("the spreadsheet reader returns a formula's stored result, never runs it, and counts one without a result", async () => {
  const { rows, formulas } = await read({
    sheet: `<row><c><f>1+1</f><v>2</v></c><c><f>HYPERLINK("http://evil.example")</f></c><c t="str"><v>x</v></c></row>`,
  });

  expect(rows).toEqual([["2", "", "x"]]);
  expect(formulas).toBe(1);
});

/** The sentence that a file is refused with. */
const readFault = (file: string): Promise<string> =>
  readRows(file).then(
    () => "it was read",
    (error: Error) => error.message,
  );

test.each([
  ["a document type", '<!DOCTYPE x [<!ENTITY a "b">]>', "a document type is not allowed"],
  ["an entity of its own", "<row><c t='str'><v>&a;</v></c></row>", "the entity &a;"],
  ["a missing text", '<row><c t="s"><v>7</v></c></row>', "the text 7"],
  ["rows out of order", '<row r="3"/><row r="2"/>', "row 2"],
  ["a column beyond the last", '<row><c r="ZZZ1"><v>1</v></c></row>', "column 18278"],
  ["half a tag", "<row><c", "its XML ends too early"],
])("the spreadsheet reader refuses a sheet with %s", async (_, sheet, words) => {
  const parts = workbook({ sheet: "" });
  const file = await zip({ ...parts, "xl/worksheets/sheet1.xml": sheet });

  expect(await readFault(file)).toContain(words);
});

test("the spreadsheet reader refuses a small file with huge content before it fills memory or disk", async () => {
  const text = "x".repeat(30_000);
  const cells = '<c t="s"><v>0</v></c>'.repeat(16_000);
  const many = `<row>${cells}</row>`.repeat(2);

  await expect(read({ texts: `<si><t>${text}</t></si>`, sheet: many })).rejects.toThrow(
    "the spreadsheet is too large (its cells)",
  );
  await expect(
    read({ texts: `<si><t>${"x".repeat(1_100_000)}</t></si>`, sheet: "" }),
  ).rejects.toThrow("too large (a cell)");
});

test("the spreadsheet reader counts the real size of a part and finds a wrong checksum", async () => {
  const bomb = Buffer.alloc(20_000_000, " ");
  const file = await zip({ ...workbook({ sheet: "" }), "xl/workbook.xml": bomb.toString() });
  expect(await readFault(file)).toContain("too large (xl/workbook.xml)");

  const other = await zip(workbook({ sheet: "<row><c><v>1</v></c></row>" }));
  const bytes = readFileSync(other);
  const directory = bytes.indexOf("PK\u0001\u0002");
  bytes.writeUInt32LE(7, directory + 16);
  writeFileSync(other, bytes);
  expect(await readFault(other)).toContain("wrong checksum");
});

test("the spreadsheet reader refuses a truncated, encrypted or foreign zip file with a sentence", async () => {
  const cut = await zip(workbook({ sheet: "" }));
  truncateSync(cut, 300);
  expect(await readFault(cut)).toContain("it ends too early");

  const encrypted = await zip(workbook({ sheet: "" }));
  const bytes = readFileSync(encrypted);
  bytes.writeUInt16LE(1, bytes.indexOf("PK\u0001\u0002") + 8);
  writeFileSync(encrypted, bytes);
  expect(await readFault(encrypted)).toContain("encrypted");

  expect(await readFault(await zip({ "word/document.xml": "<x/>" }))).toContain("no .xlsx");
});

async function* toRows(rows: readonly (readonly string[])[]) {
  yield* rows;
}

test("the spreadsheet reader reads a written spreadsheet back, with formula-like cells as texts", async () => {
  const rows = [
    ["=1+1", "+49 30 1234", "@x", "-5", "007", "1e5"],
    ["a\r\nb\u0001c_x0041_", " <&> \ud800", "", "123456789012345", "0.50", "12.25"],
  ];
  const file = await writeFile(writeSpreadsheet(toRows([["e-mail", "A & B"], ...rows])));
  const { rows: found } = await readRows(file);

  expect(found).toEqual([
    ["e-mail", "A & B"],
    rows[0],
    ["a\r\nb\u0001c_x0041_", " <&> \ufffd", "", "123456789012345", "0.50", "12.25"],
  ]);
  const sheet = await readPart(file);
  expect(sheet).not.toContain("<f>");
  expect(sheet).toContain('<c t="inlineStr" s="1"><is><t xml:space="preserve">=1+1</t></is></c>');
  expect(sheet).toContain("<c><v>-5</v></c>");
  expect(sheet).toContain('preserve">007<');
});

/** The sheet's XML. */
const readPart = async (file: string): Promise<string> => {
  const zip = await openZip(await openAsBlob(file));
  const pieces = await Array.fromAsync(zip.read("xl/worksheets/sheet1.xml", 1_000_000));
  return Buffer.concat(pieces).toString();
};

const convert = async (file: Blob, wanted: WantedSheets = {}) => {
  const lines: string[] = [];
  const { sheets } = await convertSheets(file, wanted, (line) => void lines.push(line));
  const csv = lines.join("").replaceAll(/"|\r/g, "").trimEnd().split("\n");
  return { sheets, csv };
};

const toBlob = (bytes: Buffer): Blob => new Blob([new Uint8Array(bytes)]);

test("a workbook's first list is read, and its cover sheet is skipped", async () => {
  const { sheets, csv } = await convert(toBlob(await createWorkbook(createSheets("x.com"))));

  expect(sheets).toMatchObject([
    { name: "Cover", rows: 3, column: "column_2", isChosen: false },
    { name: "Berlin", rows: 2, column: "E-Mail", isChosen: true },
    { name: "Paris", rows: 2, column: "Courriel", isChosen: false },
    { name: "Notes", rows: 2, column: null, isChosen: false },
  ]);
  expect(csv).toEqual(["name,E-Mail", "Ann,ann@x.com", "Bob,bob@x.com"]);
});

test.each([
  [
    undefined,
    ["sheet,name,E-Mail,city", "Berlin,Ann,ann@x.com,", "Berlin,Bob,bob@x.com,"],
    ["Paris,Cy,cy@x.com,Paris", "Paris,Ann,ann@x.com,Lyon"],
  ],
  [
    ["Courriel"],
    ["sheet,name,E-Mail,Courriel,city", "Berlin,Ann,ann@x.com,,", "Berlin,Bob,bob@x.com,,"],
    ["Paris,Cy,,cy@x.com,Paris", "Paris,Ann,,ann@x.com,Lyon"],
  ],
])("several sheets become one table, with the named columns %j", async (columns, berlin, paris) => {
  const workbook = await createWorkbook(createSheets("x.com"));
  const { csv } = await convert(toBlob(workbook), { sheets: ["Paris", "Berlin"], columns });

  expect(csv).toEqual([...berlin, ...paris]);
});

test("an unknown sheet is refused with the names of all sheets", async () => {
  const workbook = toBlob(await createWorkbook(createSheets("x.com")));

  await expect(convert(workbook, { sheets: ["Berlin", "Rome"] })).rejects.toThrow(
    'has no sheet "Rome". It has "Cover", "Berlin", "Paris", "Notes".',
  );
});

const OPENPYXL = `
import json, sys, openpyxl
book = openpyxl.Workbook()
book.remove(book.active)
for name, rows in json.loads(sys.stdin.read()).items():
    sheet = book.create_sheet(name)
    for row in rows: sheet.append(row)
book.save(sys.argv[1])
`;

const hasOpenpyxl = spawnSync("python3", ["-c", "import openpyxl"]).status === 0;

describeUnless(
  hasOpenpyxl ? null : "there is no openpyxl for python3",
  "openpyxl's workbook",
  () => {
    test("a workbook that openpyxl wrote has the same sheets and rows", async () => {
      const file = join(createFolder(), "list.xlsx");
      spawnSync("python3", ["-c", OPENPYXL, file], {
        input: JSON.stringify(createSheets("x.com")),
      });
      const own = toBlob(await createWorkbook(createSheets("x.com")));
      const wanted = { sheets: ["Berlin", "Paris"] };

      expect(await convert(await openAsBlob(file), wanted)).toEqual(await convert(own, wanted));
    });
  },
);
