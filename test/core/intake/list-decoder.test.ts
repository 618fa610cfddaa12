import { toByteText, toText, truncateBytes } from "@mailproof/core/intake/byte-text";
import { BLOCK_BYTES } from "@mailproof/core/intake/list-decoder";
import { describe, expect, test } from "vitest";
import { listRows } from "./ingest-content.ts";

const TEXT = "name,email\nJosé Müller,jose@example.com\nŁukasz 中,lukasz@example.com\n";
const LATIN = "name,email\nJos\u00e9 \u0080,jose@example.com\n";

const utf16be = (text: string) => Buffer.from(text, "utf16le").swap16();
const windows1252 = (text: string) => Buffer.from(text.replace("€", "\u0080"), "latin1");

test.each<[what: string, bytes: Uint8Array, encoding: string]>([
  ["UTF-8", Buffer.from(TEXT), "utf-8"],
  ["UTF-8 with a mark", Buffer.from(`\ufeff${TEXT}`), "utf-8"],
  ["UTF-16 LE with a mark", Buffer.from(`\ufeff${TEXT}`, "utf16le"), "utf-16le"],
  ["UTF-16 BE with a mark", utf16be(`\ufeff${TEXT}`), "utf-16be"],
  ["UTF-16 LE without a mark", Buffer.from(TEXT, "utf16le"), "utf-16le"],
  ["UTF-16 BE without a mark", utf16be(TEXT), "utf-16be"],
])("the decoder reads %s", async (_, bytes, encoding) => {
  const { info, rows } = await listRows(bytes);

  expect(info).toMatchObject({ encoding, columns: ["name", "email"], emailColumns: [1] });
  expect(rows.map(({ cells }) => cells)).toEqual([
    ["José Müller", "jose@example.com"],
    ["Łukasz 中", "lukasz@example.com"],
  ]);
});

describe("a file with one byte per letter", () => {
  test("the decoder reads a file with one byte per letter as windows-1252, where 0x80 is the euro sign", async () => {
    const { info, rows } = await listRows(windows1252(LATIN));

    expect(info.encoding).toBe("windows-1252");
    expect(rows[0]?.cells[0]).toBe("José €");
  });

  test("the decoder reads a file that begins with any amount of ASCII", async () => {
    const ascii = "abc,a@example.com\n".repeat(BLOCK_BYTES / 10);
    const { rows } = await listRows(windows1252(`${ascii}José €,b@example.com\n`));

    expect(rows.at(-1)?.cells).toEqual(["José €", "b@example.com"]);
  });

  test("the decoder reads a file that ends with its only letter beyond ASCII", async () => {
    const { rows } = await listRows(windows1252("a@example.com,x\nb@example.com,José"));

    expect(rows.at(-1)?.cells[1]).toBe("José");
  });
});

test("one broken byte does not garble the other names of a UTF-8 file", async () => {
  const broken = Buffer.concat([
    Buffer.from(TEXT),
    Buffer.from([0xe9]),
    Buffer.from(",c@example.com"),
  ]);
  const { info, rows } = await listRows(broken);

  expect(info.encoding).toBe("utf-8");
  expect(rows.map(({ cells }) => cells[0])).toEqual(["José Müller", "Łukasz 中", "\ufffd"]);
});

test("the decoder keeps a character whole when its bytes span two blocks", async () => {
  const line = "Müller 中文 😀,a@example.com\n";
  const { rows } = await listRows(Buffer.from(line.repeat(40_000)));

  expect(rows).toHaveLength(40_000);
  expect(new Set(rows.map(({ cells }) => cells[0]))).toEqual(new Set(["Müller 中文 😀"]));
});

test("the decoder removes a byte order mark at the beginning of a file, and nowhere else", async () => {
  const { rows } = await listRows(Buffer.from(`\ufeff${TEXT}\ufeffAnn,ann@example.com\n`));

  expect(rows.map(({ cells }) => cells[0])).toEqual(["José Müller", "Łukasz 中", "\ufeffAnn"]);
});

test("the decoder keeps an address beyond ASCII as text in every encoding", async () => {
  const text = "name,email\nJörg,\u3000jörg@bücher.example\u00a0\n";
  for (const bytes of [Buffer.from(text), Buffer.from(text, "utf16le")])
    expect((await listRows(bytes)).rows).toMatchObject([
      {
        line: 2,
        cells: ["Jörg", "\u3000jörg@bücher.example\u00a0"],
        email: "jörg@bücher.example",
      },
    ]);
});

test("the decoder removes NUL characters from a text", async () => {
  const { rows } = await listRows(
    "name,email\nJohn\0\0\0,jo\0hn@example.com\nmany more,x@example.com\n",
  );

  expect(rows[0]?.cells).toEqual(["John", "john@example.com"]);
});

describe("a list from Japan in Shift_JIS", () => {
  /** Written by hand: Node encodes UTF-8 and UTF-16 alone. */
  const YAMADA = [0x8e, 0x52, 0x93, 0x63];
  const TARO = [0x91, 0xbe, 0x98, 0x59];
  const MAIL = [0x83, 0x81, 0x81, 0x5b, 0x83, 0x8b];
  const HALF_WIDTH = [0xd4, 0xcf, 0xc0, 0xde];
  const list = (...parts: readonly (string | readonly number[])[]) =>
    Buffer.concat(parts.map((part) => Buffer.from(part as string, "latin1")));

  test("the decoder reads Shift_JIS letters that have a delimiter as their second byte", async () => {
    const bytes = list(
      [...YAMADA, 0x2c, ...MAIL],
      "\n",
      [...TARO, 0x83, 0x7c],
      ",taro@example.com\n",
      YAMADA,
      ",yamada@example.com\n",
    );
    const { info, rows } = await listRows(bytes);

    expect(info).toMatchObject({
      encoding: "shift_jis",
      delimiter: ",",
      columns: ["山田", "メール"],
    });
    expect(rows.map(({ cells }) => cells)).toEqual([
      ["太郎ポ", "taro@example.com"],
      ["山田", "yamada@example.com"],
    ]);
  });

  test("the decoder reads Shift_JIS with names in half-width kana", async () => {
    const { info, rows } = await listRows(list(HALF_WIDTH, ",a@example.com\n"));

    expect([info.encoding, rows[0]?.cells[0]]).toEqual(["shift_jis", "ﾔﾏﾀﾞ"]);
  });

  test.each([
    ["apostrophes and dashes", "O\u0092Neil \u0096 D\u0092Angelo,a@example.com\n"],
    ["French names", "H\u00e9l\u00e8ne Desir\u00e9e,a@example.com\n\u00c9tienne,b@example.com\n"],
    ["German names", "Gr\u00f6\u00dfe \u00e4\u00f6\u00fc\u00df \u00c4\u00d6\u00dc,a@example.com\n"],
    ["one letter", "Jos\u00e9,a@example.com\n"],
  ])(
    "the decoder does not detect Shift_JIS in a windows-1252 list with %s",
    async (_case, text) => {
      expect((await listRows(Buffer.from(text, "latin1"))).info.encoding).toBe("windows-1252");
    },
  );
});

test("a text converted to bytes has one character per byte, and converts back unchanged", () => {
  const text = "a é ł 中 😀 \u0080";

  expect(toByteText(text)).toHaveLength(Buffer.byteLength(text));
  expect(toText(toByteText(text))).toBe(text);
});

test.each([
  ["a text below the limit", "é中", 5, "é中"],
  ["a text of ASCII", "abcd", 3, "abc"],
  ["a character of two bytes", "aé", 2, "a"],
  ["a character of three bytes", "a中", 3, "a"],
  ["a character of four bytes", "a😀b", 4, "a"],
  ["a character that ends at the limit", "a中b", 4, "a中"],
])("the cut at a limit of bytes keeps whole characters: %s", (_, text, bytesMax, left) => {
  expect(toText(truncateBytes(bytesMax, toByteText(text)))).toBe(left);
});
