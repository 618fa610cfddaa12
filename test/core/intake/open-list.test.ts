import { openList } from "@mailproof/core/intake/open-list";
import { describe, expect, test } from "vitest";
import { getPieces, listEmails, listRows, readList } from "./ingest-content.ts";

describe("the delimiter of a list", () => {
  test.each([
    ["a comma", "name,email\nJohn,a@example.com\n", ","],
    ["a semicolon, with commas in the numbers", "1,5;a@example.com\n2,75;b@example.com\n", ";"],
    ["a tab", "John, Jr.\ta@example.com\nAnn, Sr.\tb@example.com\n", "\t"],
    ["a bar", "John|a@example.com\nAnn|b@example.com\n", "|"],
    [
      "a comma, with semicolons within quotes",
      '"a;b;c",a@example.com\n"d;e;f",b@example.com\n',
      ",",
    ],
    ["no delimiter in a plain list", "a@example.com\nb@example.com\n", ""],
    [
      "no delimiter although one line contains a comma",
      "a@example.com\nfoo, bar\nb@example.com\n",
      "",
    ],
    ["a semicolon in a header alone", "name;email\n", ";"],
    ["a semicolon after sep=", "sep=;\nJohn;a@example.com\n", ";"],
    ["an unusual character after sep=", '"sep=^"\r\nJohn^a@example.com\n', "^"],
  ])("the list reader finds the delimiter: %s", async (_, text, delimiter) => {
    expect((await listRows(text)).info.delimiter).toBe(delimiter);
  });
});

describe("the e-mail column", () => {
  test.each([
    ["by its name", "id,E-Mail,x\n1,a@example.com,y\n", 1],
    ["by its name in other languages", "nom;Courriel\nJean;a@example.com\n", 1],
    ["by its addresses", "id,contact,x\n1,a@example.com,y\n", 1],
    ["beside a street called adresse", "adresse,contact\nRue 1,a@example.com\n", 1],
    ["beside an answer called email_opt_in", "email_opt_in,work email\nyes,a@example.com\n", 1],
    ["with the best name of several", "owner email,email\nme@example.com,a@example.com\n", 1],
    [
      "with the most addresses of several",
      "x,y\nno,b@example.com\na@example.com,c@example.com\n",
      1,
    ],
    ["in a header alone", "id,email\n", 1],
    ["that the caller names", "email,Other\na@example.com,b@example.com\n", 1, "other"],
    ["at the caller's index", "email,other\na@example.com,b@example.com\n", 1, "1"],
    ["called 1, and not the second one", "1,2\na@example.com,b@example.com\n", 0, "1"],
  ])("the list reader finds the email column %s", async (_, text, emailColumn, named?: string) => {
    expect(
      (await listRows(text, named === undefined ? {} : { emailColumns: [named] })).info
        .emailColumns,
    ).toEqual([emailColumn]);
  });

  test.each(["mail", "2", "-1", "1.0", "", " "])(
    "the list reader returns a fault for an unknown email column %j",
    async (named) => {
      const read = await readList("id,email\n1,a@example.com\n", { emailColumns: [named] });

      expect(read).toEqual({
        kind: "fault",
        fault: "unknown_column",
        message: `The file has no column ${JSON.stringify(named)}. It has "id", "email".`,
      });
    },
  );
});

describe("the header of a list", () => {
  test("the first row is the header when its email column contains no address", async () => {
    const { info, rows } = await listRows("id, e-mail ,\n1,a@example.com,x\n");

    expect(info).toMatchObject({ hasHeader: true, columns: ["id", "e-mail", "column_3"] });
    expect(rows).toMatchObject([
      { line: 2, cells: ["1", "a@example.com", "x"], email: "a@example.com" },
    ]);
  });

  test("the list reader finds no header when the first email cell contains an address, even a malformed one", async () => {
    const { info, rows } = await listRows("john@\na@example.com\n");

    expect(info).toMatchObject({ hasHeader: false, columns: ["column_1"] });
    expect(rows.map(({ line, email }) => [line, email])).toEqual([
      [1, "john@"],
      [2, "a@example.com"],
    ]);
  });

  test("the list reader obeys the caller's statement about a header", async () => {
    expect(await listEmails("a@example.com\nb@example.com\n", { hasHeader: true })).toEqual([
      "b@example.com",
    ]);
    expect(await listEmails("email\na@example.com\n", { hasHeader: false })).toEqual([
      "email",
      "a@example.com",
    ]);
  });

  test("the list reader finds a header when it found the email column by its name", async () => {
    expect(await listEmails("a@x,b\nc@example.com,d\n", { emailColumns: ["A@X"] })).toEqual([
      "c@example.com",
    ]);
  });
});

describe("the rows of a list", () => {
  test("the list reader returns a row for each address column with text, and one for a record without", async () => {
    const text = "a,b,n\na@x.com,b@x.com,1\n,c@x.com,2\n,,3\nd@x.com,none,4\n";
    const { rows, info } = await listRows(text, { emailColumns: ["b", "a"] });

    expect(info).toMatchObject({ emailColumns: [1, 0], otherEmailColumns: [] });
    expect(rows.map(({ record, line, email }) => `${record} ${line} ${email}`)).toEqual([
      "2 3 b@x.com",
      "2 4 a@x.com",
      "3 5 c@x.com",
      "4 7 ",
      "5 9 none",
      "5 10 d@x.com",
    ]);
  });

  test("the list reader returns all rows, with or without an address, and skips blank lines", async () => {
    const text = 'email,n\n a@example.com ,1\n\nnone,2\n,3\n   \n"b@example.com"\n';

    expect((await listRows(text)).rows).toMatchObject([
      { line: 2, cells: [" a@example.com ", "1"], email: "a@example.com" },
      { line: 3, cells: ["none", "2"], email: "none" },
      { line: 4, cells: ["", "3"], email: "" },
      { line: 5, cells: ["b@example.com"], email: "b@example.com" },
    ]);
  });

  test("rows keep their numbers over many batches, however the stream is cut", async () => {
    const lines = Array.from(
      { length: 30_000 },
      (_, index) => `"n\n${index}",u${index}@example.com`,
    );
    const bytes = Buffer.from(`name,email\n${lines.join("\n")}`);
    const { rows } = await listRows(getPieces(bytes, 7_919));

    expect(rows).toHaveLength(30_000);
    expect(rows.every(({ line, email }) => email === `u${line - 2}@example.com`)).toBe(true);
  });
});

/** The same piece `times` times, and never more than one of them at once. */
async function* repeat(piece: Uint8Array, times: number): AsyncGenerator<Uint8Array> {
  for (let time = 0; time < times; time += 1) yield piece;
}
const MEGABYTE = 1_000_000;
const createMegabyte = (text: string) => Buffer.from(text.repeat(MEGABYTE / text.length));

describe("a file that is no list", () => {
  test.each<[what: string, bytes: string | Uint8Array, fault: string]>([
    ["an empty file", "", "empty"],
    ["a byte order mark alone", "\ufeff", "empty"],
    ["blank lines", "\n \r\n\t\n", "empty"],
    ["a workbook", Buffer.from("PK\x03\x04 a@example.com\n", "latin1"), "binary"],
    ["a few NULs", new Uint8Array(7), "binary"],
    ["control characters", Buffer.from("\x01\x02\x03\x04a\x05\x06\x07\x08".repeat(50)), "binary"],
    ["a text without addresses", "once upon, a time\nthere was, a list\n", "no_email_column"],
  ])("the list reader refuses %s with the fault %s", async (_, bytes, fault) => {
    expect(await readList(bytes)).toMatchObject({ fault });
  });

  test.each([["utf-16le"], ["utf-16be"]] as const)(
    "the list reader accepts Russian and Chinese names in %s, although half of the bytes are control characters",
    async (encoding) => {
      const text = "имя,email\n".concat("Анна Жукова 王小明,a@example.com\n".repeat(2_000));
      const bytes = Buffer.from(text, "utf16le");
      const list = await readList(encoding === "utf-16le" ? bytes : bytes.swap16());
      expect(list).toMatchObject({ info: { encoding } });
    },
  );

  test("the list reader refuses random bytes", async () => {
    let seed = 7;
    const pick = () => (seed = (seed * 48_271) % 2_147_483_647) % 256;
    const junk = Buffer.from(Array.from({ length: 300_000 }, pick));
    for (const from of [0, 1, 70_000])
      expect(await readList(junk.subarray(from))).toMatchObject({ fault: "binary" });
  });

  test("the list reader accepts a list that begins with PK", async () => {
    expect(await listEmails("PK,a@example.com\n")).toEqual(["a@example.com"]);
  });

  test.each([
    ["NULs", "\0", "binary"],
    ["one letter", "x", "no_email_column"],
    ["quotes", '"', "no_email_column"],
    ["blanks", " ", "no_email_column"],
    ["addresses in one line", "ab@cd.efg,", "no_email_column"],
  ])("the list reader refuses 50 MB of %s", async (_, text, fault) => {
    expect(await readList(repeat(createMegabyte(text), 50))).toMatchObject({ fault });
  });
});

describe("the source of a list", () => {
  const createWatchedSource = () => {
    const seen = { pieces: 0, isClosed: false };
    async function* source(): AsyncGenerator<Uint8Array> {
      try {
        for (; seen.pieces < 100; seen.pieces += 1) yield createMegabyte("a@example.com\nb\n");
      } finally {
        seen.isClosed = true;
      }
    }
    return { seen, source: source() };
  };

  test("the list reader reads no further than its caller, and closes the source when the caller leaves", async () => {
    const { seen, source } = createWatchedSource();
    const opened = await openList(source, {});
    if ("fault" in opened) throw new Error(opened.message);
    for await (const _ of opened.rows) break;

    expect(seen).toEqual({ pieces: 0, isClosed: true });
  });

  test("the list reader closes the source after a fault", async () => {
    const { seen, source } = createWatchedSource();
    await openList(source, { emailColumns: ["nowhere"] });

    expect(seen).toEqual({ pieces: 0, isClosed: true });
  });

  test("the list reader throws an error when its source breaks off", async () => {
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield* repeat(createMegabyte("a@example.com\nb\n"), 2);
      throw new Error("lost");
    }

    await expect(readList(broken())).rejects.toThrow("lost");
  });
});
