import { csvLine } from "@mailproof/core/jobs/csv-out";
import { expect, test } from "vitest";

test.each<[what: string, cells: string[], line: string]>([
  ["plain cells stand as they are", ["a", "b c", ""], "a,b c,"],
  ["a comma is quoted", ["Doe, John"], '"Doe, John"'],
  ["quotes are doubled", ['say "hi"'], '"say ""hi"""'],
  ["line breaks are quoted", ["a\nb", "c\rd"], '"a\nb","c\rd"'],
  ["what other countries split at is quoted", ["a;=1+1", "b|c"], '"a;=1+1","b|c"'],
  ["blanks at an end are quoted", [" a", "b "], '" a","b "'],
  ["one empty cell is no blank line", [""], '""'],
  ["=", ["=1+1"], "'=1+1"],
  ["+", ["+49 30"], "'+49 30"],
  ["-", ["-5"], "'-5"],
  ["@", ["@sum(a1)"], "'@sum(a1)"],
  ["a tab", ["\t=1"], '"\'\t=1"'],
  ["a carriage return", ["\r=1"], '"\'\r=1"'],
  ["a full-width sign", ["＝1"], "'＝1"],
  ["an address that is a formula", ["=cmd@example.com"], "'=cmd@example.com"],
  ["a sign further on is none", ["a=b", "a-b@example.com"], "a=b,a-b@example.com"],
])("a line: %s", (_, cells, line) => {
  expect(csvLine(cells)).toBe(`${line}\r\n`);
});
