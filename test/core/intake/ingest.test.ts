import { ingestBatch } from "@mailproof/core/intake/ingest";
import type { Blobs } from "@mailproof/core/ports/blobs";
import { describe, expect, test } from "vitest";
import { asRows } from "../../runner/as-rows.ts";
import { createMemoryBlobs } from "../../simulation/memory-blobs.ts";
import { ingestContent, ingestRows, KEY, listInputRows } from "./ingest-content.ts";

const LIST = [
  "id;E-Mail;note",
  "1;Ann@Example.com;first",
  "2;ann@example.com;again, in lower case",
  "3;;nobody",
  "4;n/a;nobody either",
  "",
  '5;"<mailto:bob@example.com>";"two\nlines"',
  "6;a@[192.0.2.1];a literal is an address",
  "7;jörg@bücher.example",
  "8;jörg@xn--bcher-kva.example;the same",
  "9;john doe@example.com;no",
  "",
].join("\r\n");

describe("a file", () => {
  test("the intake stores each address of a file once, and counts every row", async () => {
    const { rows, ...outcome } = await ingestRows(LIST);

    expect(outcome).toMatchObject({
      totalSubmitted: 9,
      duplicatesRemoved: 2,
      invalidSkipped: 3,
      unique: 4,
      format: { columns: ["id", "E-Mail", "note"], emailColumns: [1], hasHeader: true },
    });
    expect(rows).toEqual([
      [2, "Ann@example.com", "1", "Ann@Example.com", "first"],
      [6, "bob@example.com", "5", "<mailto:bob@example.com>", "two\nlines"],
      [7, "a@[192.0.2.1]", "6", "", "a literal is an address"],
      [8, "jörg@bücher.example", "7", ""],
    ]);
  });

  test("the input of a file with many columns and short rows takes less than twice the file's size", async () => {
    const header = ["email", ...Array.from({ length: 2_000 }, (_, n) => `c${n}`)].join(",");
    const text = [header, ...Array.from({ length: 500 }, (_, n) => `u${n}@b.co,`)].join("\n");

    const { input } = await ingestRows(text);

    expect(input.bytes).toBeLessThan(text.length * 2);
  });

  test.each<[what: string, text: string, counts: readonly number[]]>([
    ["one address", "a@example.com", [1, 0, 0, 1]],
    ["only duplicates", "a@example.com\n".repeat(20_000), [20_000, 19_999, 0, 1]],
    ["a header and one address", "email\na@example.com\n", [1, 0, 0, 1]],
    ["one address at its end", `email\n${"none\n".repeat(999)}a@example.com`, [1_000, 0, 999, 1]],
    ["an empty cell", 'email\n""\na@example.com\n', [2, 0, 1, 1]],
    [
      "more cells than columns",
      `a,b\n${"a@example.com,x\n".repeat(300)}b@example.com,1,2,3`,
      [301, 299, 0, 2],
    ],
  ])("the intake counts a file with %s to the last row", async (_, text, counts) => {
    const { totalSubmitted, duplicatesRemoved, invalidSkipped, unique } = await ingestRows(text);

    expect([totalSubmitted, duplicatesRemoved, invalidSkipped, unique]).toEqual(counts);
  });
});

describe("a refused file", () => {
  test.each(asRows<[what: string, text: string, options: object, fault: string, message: string]>`
  of no bytes | ${""} | ${{}} | empty | The file is empty.
  of a workbook | PK\x03\x04 | ${{}} | binary | The file is not a text file.
  without an address | ${"email\nnone\n"} | ${{}} | no_addresses | its only row is not an address.
  of a header alone | ${"email\n"} | ${{}} | no_addresses | there are no rows below the header.
  of other columns | a@example.com | ${{ emailColumns: ["x"] }} | unknown_column | no column
  of too many addresses | ${"a@example.com\nb@example.com\nc@example.com"} | ${{ addressesMax: 2 }} | too_many | The file has more than 2 addresses.
  of too many bytes | a@example.com | ${{ bytesMax: 12 }} | too_large | The file is larger than 12 bytes.
`)("the intake refuses a file %s, and writes nothing", async (_, text, options, fault, message) => {
    const blobs = createMemoryBlobs();
    const { outcome } = await ingestContent(text, options, blobs);

    expect(outcome).toMatchObject({ fault, message: expect.stringContaining(message) });
    expect(blobs.keys()).toEqual([]);
  });

  test("the intake does not overwrite an existing input", async () => {
    const blobs = createMemoryBlobs();
    await ingestContent("a@example.com", {}, blobs);
    const before = await blobs.head(KEY);
    await ingestContent("a@example.com\nb@example.com", { addressesMax: 1 }, blobs);

    expect(await blobs.head(KEY)).toEqual(before);
  });
});

const PIECE = 65_536;

/** A file of `count` pieces, each of its own text, that counts how far it was read. */
const createWatchedSource = (count: number, textOf: (piece: number) => string) => {
  const seen = { pieces: 0, isClosed: false };
  async function* source(): AsyncGenerator<Uint8Array> {
    try {
      for (; seen.pieces < count; seen.pieces += 1)
        yield Buffer.from(textOf(seen.pieces).padEnd(PIECE, "\n"));
    } finally {
      seen.isClosed = true;
    }
  }
  return { seen, source: source() };
};

const createPiece = (piece: number): string =>
  Array.from({ length: 1_000 }, (_, index) => `u${piece}.${index}@example.com\n`).join("");

describe("the source of a file", () => {
  test.each([
    ["addresses", { addressesMax: 5_000 }, "too_many"],
    ["bytes", { bytesMax: 5 * PIECE }, "too_large"],
  ])(
    "the intake stops at the first of too many %s, and closes the source",
    async (_, options, fault) => {
      const { seen, source } = createWatchedSource(1_000, createPiece);
      const { outcome } = await ingestContent(source, options);

      expect(outcome).toMatchObject({ fault });
      expect(seen.pieces).toBeLessThan(10);
      expect(seen.isClosed).toBe(true);
    },
  );

  test("the intake closes the source when the store fails, even before its first read", async () => {
    const refused = new Error("the disk is full");
    const puts: Blobs["put"][] = [
      () => Promise.reject(refused),
      async (_key, content) => {
        for await (const _ of content) throw refused;
        return { version: "", bytes: 0 };
      },
    ];
    for (const put of puts) {
      const { seen, source } = createWatchedSource(1_000, createPiece);

      await expect(ingestContent(source, {}, { put })).rejects.toBe(refused);
      expect(seen.isClosed).toBe(true);
    }
  });

  test("the intake throws an error and stores nothing when its source breaks off", async () => {
    async function* broken(): AsyncGenerator<Uint8Array> {
      for (let piece = 0; piece < 20; piece += 1) yield Buffer.from(createPiece(piece));
      throw new Error("lost");
    }
    const blobs = createMemoryBlobs();

    await expect(ingestContent(broken(), {}, blobs)).rejects.toThrow("lost");
    expect(blobs.keys()).toEqual([]);
  });

  test("the intake throws the source's own error instead of the store's", async () => {
    const put: Blobs["put"] = async (_key, content) => {
      try {
        await Array.fromAsync(content);
      } catch {
        throw new Error("upload aborted");
      }
      return { version: "", bytes: 0 };
    };

    const { outcome } = await ingestContent("email\nnone", {}, { put });
    expect(outcome).toMatchObject({ fault: "no_addresses" });
  });
});

describe("a large file", () => {
  /** How many bytes had been read and not yet written, at most, and the longest block. */
  const measureHeld = async (count: number, textOf: (piece: number) => string) => {
    const { seen, source } = createWatchedSource(count, textOf);
    let [lag, longest] = [0, 0];
    const put: Blobs["put"] = async (key, content) => {
      let bytes = 0;
      for await (const block of content) {
        if (key !== KEY) continue;
        lag = Math.max(lag, seen.pieces * PIECE - bytes);
        longest = Math.max(longest, block.length);
        bytes += block.length;
      }
      return { version: "v", bytes };
    };
    const { outcome, pauses } = await ingestContent(
      source,
      { emailColumns: ["0"], hasHeader: false },
      { put },
    );
    return { outcome, lag, longest, pauses };
  };
  const full = (piece: number) =>
    Array.from(
      { length: 1_400 },
      (_, index) => `u${piece}.${index}@example.com,${"x".repeat(18)}\n`,
    )
      .join("")
      .slice(0, PIECE)
      .replace(/\n[^\n]*$/, "");

  test("the intake writes the rows of many addresses soon after it reads them", async () => {
    const { outcome, lag, longest } = await measureHeld(100, full);

    expect(outcome).toMatchObject({ invalidSkipped: 0, duplicatesRemoved: 0 });
    expect(lag).toBeLessThan(16 * PIECE);
    expect(longest).toBeLessThanOrEqual(PIECE);
  });

  test.each<[what: string, textOf: (piece: number) => string, rows: string]>([
    ["one line of letters", () => "x".repeat(PIECE), "its only row"],
    ["one line of addresses", () => "ab@cd.efg,".repeat(PIECE).slice(0, PIECE), "its only row"],
    ["nothing but quotes", () => '"'.repeat(PIECE), "its only row"],
    ["a cell that never ends", (piece) => (piece ? "x\n" : '"').repeat(PIECE / 2), "rows"],
  ])("the intake finds no address in a large file of %s", async (_, textOf, rows) => {
    const { outcome, longest } = await measureHeld(40, textOf);

    expect(outcome).toMatchObject({
      fault: "no_addresses",
      message: expect.stringContaining(rows),
    });
    expect(longest).toBe(0);
  });

  test.each<[what: string, textOf: (piece: number) => string]>([
    ["verified", full],
    ["duplicates", () => "a@example.com\n".repeat(4_000)],
    ["without an address", (piece) => `a@b.co\n${"none\n".repeat(12_000)}`.slice(piece ? 7 : 0)],
  ])("the intake yields to other work after every 500 rows that are %s", async (_, textOf) => {
    const { outcome, pauses } = await measureHeld(10, textOf);

    if ("fault" in outcome) throw new Error(outcome.message);
    expect(pauses).toBe(Math.ceil(outcome.totalSubmitted / 500) - 1);
  });
});

describe("a file without a list", () => {
  /** How many of a hundred pieces were read. */
  const readOf = async (textOf: (piece: number) => string) => {
    const { seen, source } = createWatchedSource(100, textOf);
    const { outcome } = await ingestContent(source, { emailColumns: ["0"], hasHeader: false });
    return { outcome, pieces: seen.pieces };
  };

  test("the intake refuses a file whose first ten thousand texts are no addresses, and stops reading", async () => {
    const { outcome, pieces } = await readOf(() => "some text, and more\n".repeat(3_000));

    expect(outcome).toMatchObject({
      fault: "no_addresses",
      message: expect.stringMatching(
        /^The first 1\d,\d{3} rows of the file have no e-mail address\.$/,
      ),
    });
    expect(pieces).toBeLessThan(15);
  });

  test("the intake accepts a file whose first address follows many rows without a text", async () => {
    const { outcome } = await readOf((piece) =>
      piece < 20 ? ",no mail\n".repeat(3_000) : `ann${piece}@example.com,Ann\n`,
    );

    expect(outcome).toMatchObject({ unique: 80, invalidSkipped: 60_000 });
  });

  test("the intake accepts a file whose texts follow an address", async () => {
    const { outcome } = await readOf((piece) =>
      piece ? "none\n".repeat(3_000) : "ann@example.com\n",
    );

    expect(outcome).toMatchObject({ unique: 1, invalidSkipped: 297_000 });
  });
});

describe("a batch", () => {
  const batch = async (emails: readonly string[], rowsPerChunk = 100) => {
    const blobs = createMemoryBlobs();
    const outcome = await ingestBatch(blobs, emails, { key: KEY, rowsPerChunk });
    return { ...outcome, rows: await listInputRows(blobs, outcome) };
  };

  test("the intake keeps texts that are not addresses, and the first of equal texts", async () => {
    const emails = [" Ann@Example.com ", "ann@example.com", "john@", " john@", "JOHN@", "", " "];

    expect(await batch(emails)).toMatchObject({
      totalSubmitted: 7,
      duplicatesRemoved: 3,
      unique: 4,
      rows: [
        [1, "Ann@example.com", " Ann@Example.com "],
        [3, "john@", ""],
        [5, "JOHN@", ""],
        [6, "", ""],
      ],
    });
  });

  test("the intake distinguishes a text from the address whose canonical form it equals", async () => {
    // In lower case its local part is longer than 127 octets, and so no address.
    const address = `${"Ⱥ".repeat(63)}@example.com`;
    const text = address.toLowerCase();

    expect((await batch([address, text])).rows.map(([row]) => row)).toEqual([1, 2]);
  });
});
