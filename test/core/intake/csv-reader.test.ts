import { toByteText, toText } from "@mailproof/core/intake/byte-text";
import { createCsvReader } from "@mailproof/core/intake/csv-reader";
import { isAddress } from "@mailproof/mail/address";
import { hasAddress, parseAddressCell } from "@mailproof/mail/address-cell";
import { describe, expect, test } from "vitest";
import { asRows } from "../../runner/as-rows.ts";

const CELL_LENGTH_MAX = 65_536;

const read = (text: string, delimiter = ",") => createCsvReader(delimiter)(text, true);

test.each(asRows<[what: string, text: string, records: string[][]]>`
  blanks may stand around quotes | x, "a,b" ,c | ${[["x", "a,b", "c"]]}
  a quote within a plain cell is a character | a"b,5" x | ${[['a"b', '5" x']]}
  a quoted local part keeps its quotes | "john doe"@example.com,x | ${[['"john doe"@example.com', "x"]]}
  blank lines are no records | ${"\n  \na\n\r\n\t\n\n"} | ${[["a"]]}
  white space beyond ASCII is blank, too | ${toByteText("\u3000\u00a0\na\n")} | ${[["a"]]}
  an empty cell in quotes is a record | ${'""\n'} | ${[[""]]}
  a quote that nothing closes ends with its line | ${'a,"b\nc,d\n'} | ${[["a", '"b'], ["c", "d"]]}
  a quoted cell with a line break and a later stray quote | ${'"a,b\nc,"d\ne"\nf,g'} | ${[['"a', "b"], ["c", "d\ne"], ["f", "g"]]}
  a stray quote takes no quote of another line | ${'a,"b\n"c,d",e'} | ${[["a", '"b'], ["c,d", "e"]]}
  a record whose later quote is stray, read anew | ${'"Ann\n"",b@x\n","7\nDan,d@x\n'}
    | ${[['"Ann'], ["", "b@x"], ['","7'], ["Dan", "d@x"]]}
`)("the reader splits a text into records: %s", (_, text, records) => {
  expect(read(text)).toEqual(records);
});

test("the reader returns a line without a delimiter as one cell, without its quotes", () => {
  expect(read('a,b;c\n"d,e"', "")).toEqual([["a,b;c"], ["d,e"]]);
});

test("the reader does not treat a tab that is the delimiter as blank", () => {
  expect(read('a\t"b"\t\t"c"', "\t")).toEqual([["a", "b", "", "c"]]);
});

describe("input that would fill the memory", () => {
  const long = "x".repeat(CELL_LENGTH_MAX);

  test("the reader cuts a cell at its limit, and continues with the row", () => {
    expect(read(`${long}yz,"${long}yz",c`)).toEqual([[long, long, "c"]]);
  });

  test("the reader cuts no character in half at the limit of a cell", () => {
    const cells = read(toByteText(`x${"中".repeat(CELL_LENGTH_MAX)},"${long}é"`))[0] ?? [];

    expect(cells.map(toText)).toEqual([`x${"中".repeat((CELL_LENGTH_MAX - 1) / 3)}`, long]);
  });

  test("the reader returns at most as many cells of a line as a table may have", () => {
    const line = (cells: number) => ",".repeat(cells - 1);
    const cells = read(`${line(16_384)}\n${line(16_385)}\na\n`).map(({ length }) => length);

    expect(cells).toEqual([16_384, 0, 1]);
  });

  test("a stray quote affects only its own line of a long file", () => {
    const others = Array.from({ length: 20_000 }, (_, index) => [`${index}`, "abc"]);
    const text = `"a,b\n${others.map((cells) => cells.join(",")).join("\n")}`;

    expect(read(text)).toEqual([['"a', "b"], ...others]);
  });

  test("a quoted cell ends with its line after many stray quotes", () => {
    const strays = Array.from({ length: 20 }, (_, index) => `"s${index}\nplain`).join("\n");

    expect(read(`${strays}\n"a\nb",c\n`).slice(-2)).toEqual([['"a'], ['b"', "c"]]);
  });

  test("the reader returns a record without cells for a line of more cells than any table has", () => {
    const cells = "a@example.com,".repeat(20_000);
    const reader = createCsvReader(",");

    expect(read(`a\n${cells}\nb,c`)).toEqual([["a"], [], ["b", "c"]]);
    expect([
      ...reader(cells, false),
      ...reader(`${cells},b@example.com`, false),
      ...reader("\nb,c", true),
    ]).toEqual([[], ["b", "c"]]);
  });

  test("the reader returns a record without cells for a line that is too long, and the next line whole", () => {
    const reader = createCsvReader(",");
    const records = [
      ...reader("a,b\n", false),
      ...Array.from({ length: 40 }, () => reader(`a@example.com,${long}`, false)).flat(),
      ...reader("tail\r", false),
      ...reader("\nc,d", true),
    ];

    expect(records).toEqual([["a", "b"], [], ["c", "d"]]);
  });
});

const shown = (cell: string): string => {
  const read = parseAddressCell(cell);
  return isAddress(read) ? read.display : read.fault;
};

test.each([
  ["a name before the address", "Ada Lovelace <ada@x.org>", "ada@x.org"],
  ["a name in quotes, with a comma", '"Lovelace, Ada" <ada@x.org>', "ada@x.org"],
  ["the address as its own name", "ada@x.org <ada@x.org>", "ada@x.org"],
  ["a quoted local part in brackets", 'Ada <"a b"@x.org>', '"a b"@x.org'],
  ["mailto:", "mailto:ada@x.org", "ada@x.org"],
  ["mailto: with an encoded plus", "mailto:ada%2Bnews@x.org", "ada+news@x.org"],
  ["mailto: with a broken escape", "mailto:ada%ZZ@x.org", "ada%ZZ@x.org"],
  ["a percent sign that is no escape", "ada%41@x.org", "ada%41@x.org"],
  ["a semicolon behind the address", "ada@x.org;", "ada@x.org"],
  ["no-break spaces around the address", "\u00a0ada@x.org\u00a0", "ada@x.org"],
  ["characters of no width around the address", "\u200bada@x.org\ufeff\u200e", "ada@x.org"],
])("the parser reads one address from a cell with %s", (_case, cell, address) => {
  expect(shown(cell)).toBe(address);
  expect(hasAddress(cell)).toBe(true);
});

test.each([
  "ada@x.org;bob@y.org",
  "ada@x.org bob@y.org",
  "Ada <ada@x.org>, Bob <bob@y.org>",
  "bob@y.org <ada@x.org>",
  "ada@x.org\nbob@y.org",
])("the parser reads no address from a cell with several: %j", (cell) => {
  expect(shown(cell)).toBe("several_addresses");
  expect(hasAddress(cell)).toBe(true);
});

test.each([
  ["a word after the address", "ada@x.org, Ada", "syntax.domain_character"],
  ["a word before the address", "E-Mail: ada@x.org", "syntax.local_character"],
  ["a blank within the address", "ada @x.org", "syntax.white_space"],
  ["a character of no width within the address", "ada\u200b@x.org", "syntax.invisible"],
  ["a malformed address in brackets", "Ada <ada@x>", "syntax.domain_no_dot"],
  ["more than a thousand letters", `<${"x".repeat(2_000)}@x.org>`, "syntax.too_long"],
])(
  "the parser reads no address from a cell with %s, and the fault states the reason",
  (_case, cell, fault) => {
    expect(shown(cell)).toBe(fault);
    expect(hasAddress(cell)).toBe(false);
  },
);
