import { formatCsvRecord } from "@mailproof/core/exports/csv";
import { createCsvReader } from "@mailproof/core/intake/csv-reader";
import { parse } from "csv-parse/sync";
import fc from "fast-check";
import { describe, expect, test } from "vitest";

const cell = fc
  .array(
    fc.oneof(
      fc.stringMatching(/^[a-z0-9@.]{1,8}$/),
      fc.constantFrom(
        '"',
        '""',
        ",",
        ";",
        "\t",
        "|",
        "\n",
        "\r",
        "\r\n",
        " ",
        "é",
        "中",
        "😀",
        "'",
        "=",
      ),
    ),
    { maxLength: 6 },
  )
  .map((pieces) => pieces.join(""));

type File = { readonly text: string; readonly delimiter: string; readonly cuts: readonly number[] };

/** Quoted where it must be, and elsewhere as it happens. Blanks before quotes are ours alone, so none are made. */
const written = (content: string, isQuoted: boolean, delimiter: string): string =>
  isQuoted || /["\r\n]|^\s|\s$/.test(content) || content.includes(delimiter)
    ? `"${content.replaceAll('"', '""')}"`
    : content;

const file: fc.Arbitrary<File> = fc
  .record({
    records: fc.array(
      fc.tuple(
        fc.array(fc.tuple(cell, fc.boolean()), { minLength: 1, maxLength: 5 }),
        fc.constantFrom("\n", "\r\n", "\r", "\n\n"),
      ),
      { maxLength: 12 },
    ),
    delimiter: fc.constantFrom(",", ";", "\t", "|"),
    hasLastEnd: fc.boolean(),
    cuts: fc.array(fc.nat(400), { maxLength: 12 }),
  })
  .map(({ records, delimiter, hasLastEnd, cuts }) => {
    const lines = records.map(
      ([cells, end]) =>
        cells.map(([content, isQuoted]) => written(content, isQuoted, delimiter)).join(delimiter) +
        end,
    );
    const text = lines.join("");
    return { text: hasLastEnd ? text : text.replace(/[\r\n]+$/, ""), delimiter, cuts };
  });

const readCut = (text: string, delimiter: string, cuts: readonly number[]) => {
  const read = createCsvReader(delimiter);
  const at = [0, ...cuts.toSorted((a, b) => a - b), text.length];
  const pieces = at
    .slice(1)
    .map((to, index) => text.slice(at[index], Math.max(to, at[index] ?? 0)));
  return [...pieces.flatMap((piece) => read(piece, false)), ...read("", true)];
};

const RUNS = { numRuns: 5_000 };

describe("a CSV reader", () => {
  test("reads what csv-parse reads, wherever the file is cut", () => {
    fc.assert(
      fc.property(file, ({ text, delimiter, cuts }) => {
        const oracle: unknown = parse(text, {
          delimiter,
          record_delimiter: ["\r\n", "\n", "\r"],
          relax_column_count: true,
          relax_quotes: true,
          skip_empty_lines: true,
        });
        expect(readCut(text, delimiter, cuts)).toEqual(oracle);
      }),
      RUNS,
    );
  });

  test("reads the same of any text, wherever it is cut", () => {
    const text = fc
      .array(fc.constantFrom('"', '"', ",", "\n", "\r", " ", "a", "b"), { maxLength: 60 })
      .map((pieces) => pieces.join(""));
    fc.assert(
      fc.property(text, fc.array(fc.nat(60), { maxLength: 12 }), (content, cuts) => {
        expect(readCut(content, ",", cuts)).toEqual(createCsvReader(",")(content, true));
      }),
      RUNS,
    );
  });

  test("reads a tidy record as it reads one that needs a closer look", () => {
    const text = fc
      .array(fc.constantFrom('"', '""', '",', ',"', '"\n', ",", "\n", "\r", " ", "a"), {
        maxLength: 40,
      })
      .map((pieces) => pieces.join(""));
    // A cell of this length is more than the short way takes, and nothing else to the long one.
    const long = "x".repeat(20_000);
    fc.assert(
      fc.property(text, (content) => {
        const [tidy, close] = ["x", long].map((first) =>
          createCsvReader(",")(`${first},${content}`, true),
        );

        expect(close?.[0]?.slice(1)).toEqual(tidy?.[0]?.slice(1));
        expect(close?.slice(1)).toEqual(tidy?.slice(1));
      }),
      RUNS,
    );
  });

  test("reads back what was written, but for the mark before a formula", () => {
    fc.assert(
      fc.property(fc.array(fc.array(cell, { minLength: 1, maxLength: 5 })), (records) => {
        const back = createCsvReader(",")(
          records.map((cells) => formatCsvRecord(cells)).join(""),
          true,
        );
        const safe = (text: string) => (/^[=+\-@\t\r\n]/.test(text) ? `'${text}` : text);

        expect(back).toEqual(records.map((cells) => cells.map(safe)));
      }),
      RUNS,
    );
  });
});
