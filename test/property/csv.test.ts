import { formatCsvRecord } from "@mailproof/core/exports/csv";
import { createCsvReader } from "@mailproof/core/intake/csv-reader";
import { parse } from "csv-parse/sync";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { encodeForm, type FormPart, readParts, splitAt } from "../app/form.ts";

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

test("the reader returns the same cells as csv-parse, with the file cut at any place", () => {
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

test("the reader returns the same cells of any text, cut at any place", () => {
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

test("the reader returns the same cells of a tidy record by its fast and its careful way", () => {
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

test("the reader returns the written cells, except for the mark before a formula", () => {
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

describe("a form", () => {
  const RUNS = { seed: 20261121, numRuns: 500 };

  /** Names as people give them. A percent is left out: what it means is a matter of who sent it. */
  const name = fc
    .array(fc.constantFrom("a", "é", "中", "😀", '"', " ", ";", "=", "'", "\r\n", "."))
    .map((letters) => letters.join(""));

  /** Bytes, and more often than chance would have it what a boundary is made of. */
  const content = fc
    .array(
      fc.oneof(
        fc.constantFrom("\r\n", "\r", "\n", "-", "--", "\r\n--", "\r\n------formdata-undici-0"),
        fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes).toString("latin1")),
      ),
      { maxLength: 30 },
    )
    .map((pieces) => Buffer.from(pieces.join(""), "latin1"));

  // fetch leaves out a file's name when it is empty, and writes the line ends of a field as CRLF.
  const fileName = name.map((text) => `${text}.csv`);
  const file = fc.record({ name, fileName, content });
  const field = fc.record({ name, content: fc.stringMatching(/^[ -~]{0,40}$/) });
  const parts = fc.array(fc.oneof(file, field), { maxLength: 20 });
  const cuts = fc.array(fc.nat(5_000), { maxLength: 40 });

  const asRead = (part: FormPart) => ({
    name: part.name,
    fileName: part.fileName ?? null,
    content: Buffer.from(part.content).toString("latin1"),
  });

  test("the reader returns the bytes of the form that fetch sends, cut at any place", async () => {
    await fc.assert(
      fc.asyncProperty(parts, cuts, async (sent, at) => {
        const { contentType, bytes } = await encodeForm(sent);

        expect(await readParts(contentType, bytes, at)).toEqual(sent.map(asRead));
      }),
      RUNS,
    );
  });

  test("the reader refuses a form that ends early, cut at any place", async () => {
    await fc.assert(
      fc.asyncProperty(parts, cuts, fc.nat(), async (sent, at, length) => {
        const { contentType, bytes } = await encodeForm(sent);
        // The last boundary may lack its line end, and nothing before it.
        const broken = bytes.subarray(0, length % (bytes.length - "\r\n".length));

        await expect(readParts(contentType, broken, at)).rejects.toMatchObject({
          code: "INVALID_REQUEST",
        });
      }),
      RUNS,
    );
  });

  test("the reader returns the same outcome for random bytes, cut at any place", async () => {
    const nonsense = fc
      .array(
        fc.constantFrom(
          "--b",
          "--b--",
          "\r\n--b\r\n",
          "\r\n",
          "\r",
          "\n",
          "-",
          " ",
          "x",
          "\0",
          'Content-Disposition: form-data; name="a"',
          "; filename=f",
          "\r\n\r\n",
        ),
        { maxLength: 30 },
      )
      .map((pieces) => Buffer.from(pieces.join("")));
    const outcome = (bytes: Uint8Array, at: readonly number[]) =>
      readParts("multipart/form-data; boundary=b", bytes, at).catch(
        (error: Error) => error.message,
      );

    await fc.assert(
      fc.asyncProperty(nonsense, cuts, async (bytes, at) => {
        expect(await outcome(bytes, at)).toEqual(await outcome(bytes, []));
      }),
      { ...RUNS, numRuns: 2_000 },
    );
  });

  test("the helper that cuts a text loses no byte", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array(), cuts, async (bytes, at) => {
        const pieces = await Array.fromAsync(splitAt(bytes, at));

        expect(Buffer.concat(pieces).equals(bytes)).toBe(true);
      }),
      RUNS,
    );
  });
});
