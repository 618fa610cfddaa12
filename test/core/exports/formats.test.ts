import { formatCsvRecord } from "@mailproof/core/exports/csv";
import { SPREADSHEET_ROWS_MAX, writeSpreadsheet } from "@mailproof/core/exports/write-spreadsheet";
import { expect, test } from "vitest";

test.each<[what: string, cells: string[], line: string]>([
  ["plain cells stand as they are", ["a", "b c", ""], "a,b c,"],
  ["a comma is quoted", ["Doe, John"], '"Doe, John"'],
  ["quotes are doubled", ['say "hi"'], '"say ""hi"""'],
  ["line breaks are quoted", ["a\nb", "c\rd"], '"a\nb","c\rd"'],
  ["quotes around the delimiters of other countries", ["a;=1+1", "b|c"], '"a;=1+1","b|c"'],
  ["quotes around outer blanks", [" a", "b "], '" a","b "'],
  ["quotes for one empty cell", [""], '""'],
  ["=", ["=1+1"], "'=1+1"],
  [
    "a number with a sign, unchanged",
    ["-5", "+5", "-1,234.50", "-1.234,50", "- ", "-1e5", "-5 %", "-.5"],
    '-5,+5,"-1,234.50","-1.234,50","- ",-1e5,-5 %,-.5',
  ],
  [
    "a telephone number, unchanged",
    ["+49 30 1234", "+1 (800) 555-0199", "+49 (0)30/1234-56", "+1-800-555-0199 ext. 12"],
    "+49 30 1234,+1 (800) 555-0199,+49 (0)30/1234-56,+1-800-555-0199 ext. 12",
  ],
  ["a sign alone, unchanged", ["-", "--", "+"], "-,--,+"],
  ["+ and a name", ["+SUM(A1)"], "'+SUM(A1)"],
  ["- and a call", ["-cmd|' /C calc'!A0"], "\"'-cmd|' /C calc'!A0\""],
  ["a sum", ["-1+1", "+1-1", "-5-5", "+1*2"], "'-1+1,'+1-1,'-5-5,'+1*2"],
  ["a number and more", ["-5+A1", "+49 30 1234=1", "-5\n=1"], "'-5+A1,'+49 30 1234=1,\"'-5\n=1\""],
  ["a full-width sign before a number", ["＋1", "－A1"], "'＋1,'－A1"],
  ["@", ["@sum(a1)"], "'@sum(a1)"],
  ["a tab", ["\t=1"], '"\'\t=1"'],
  ["a carriage return", ["\r=1"], '"\'\r=1"'],
  ["a full-width sign", ["＝1"], "'＝1"],
  ["an address that is a formula", ["=cmd@example.com"], "'=cmd@example.com"],
  ["a sign further on, unchanged", ["a=b", "a-b@example.com"], "a=b,a-b@example.com"],
])("the writer formats a line: %s", (_, cells, line) => {
  expect(formatCsvRecord(cells)).toBe(`${line}\r\n`);
});

test.each([
  [";", "a;b"],
  ["\t", "a\tb"],
  ["^", "a^b"],
])("the writer quotes a cell that contains the delimiter %j", (delimiter, cell) => {
  expect(formatCsvRecord(["x", cell, "1,5"], delimiter)).toBe(
    ["x", `"${cell}"`, '"1,5"'].join(delimiter) + "\r\n",
  );
});

test("the writer closes its source of rows when the reader stops", async () => {
  const closed = Promise.withResolvers<void>();
  async function* createEndlessRows(): AsyncGenerator<readonly string[]> {
    try {
      for (let row = 0; ; row++) yield [`row ${row}`, String(Math.sin(row))];
    } finally {
      closed.resolve();
    }
  }

  let bytes = 0;
  for await (const piece of writeSpreadsheet(createEndlessRows())) {
    bytes += piece.length;
    if (bytes > 10_000) break;
  }

  await expect(closed.promise).resolves.toBeUndefined();
});

test("an error in the rows ends the file with that error", async () => {
  async function* createFailingRows(): AsyncGenerator<readonly string[]> {
    yield ["email"];
    throw new Error("a row is missing");
  }

  const reading = Array.fromAsync(writeSpreadsheet(createFailingRows()));

  await expect(reading).rejects.toThrow("a row is missing");
});

test("the writer throws an error, and writes no file, for more rows than a spreadsheet can contain", async () => {
  async function* createTooManyRows(): AsyncGenerator<readonly string[]> {
    for (let row = 0; row <= SPREADSHEET_ROWS_MAX; row++) yield [];
  }
  const read = async () => {
    for await (const piece of writeSpreadsheet(createTooManyRows())) void piece;
  };

  await expect(read()).rejects.toThrow("A spreadsheet has at most 1048576 rows");
});
