import { readForm } from "@mailproof/api/http/form";
import { expect, test } from "vitest";
import { readParts } from "../app/form.ts";
import { asRows } from "../runner/as-rows.ts";

const TYPE = "multipart/form-data; boundary=b";
const NAMED = 'Content-Disposition: form-data; name="a"';
const FILE = `${NAMED}; filename="l.csv"`;

/** A form of one part after another, as RFC 7578 writes it. */
const createForm = (...parts: readonly (readonly [headers: string, content: string])[]): string =>
  `${parts.map(([headers, content]) => `--b\r\n${headers}\r\n\r\n${content}\r\n`).join("")}--b--\r\n`;

const findName = async (parameters: string) =>
  (await readParts(TYPE, createForm([`Content-Disposition: form-data; ${parameters}`, ""])))[0];

test.each([
  ["quoted", 'name="a b"', "a b"],
  ["bare", "name=a_b", "a_b"],
  ["with a quote behind a backslash", String.raw`name="a\"b\\"`, String.raw`a"b\ `.trim()],
  ["with a quote as browsers write it", 'name="a%22b"', 'a"b'],
  ["percent-encoded", 'name="%C3%A9mail"', "émail"],
  ["with a percent that encodes nothing", 'name="100%"', "100%"],
  ["in UTF-8", 'name="почта"', "почта"],
  ["with a semicolon", 'name="a; filename=x"', "a; filename=x"],
  ["in capital letters", 'NAME="a"', "a"],
  ["with blanks round the sign", 'name = "a" ;', "a"],
  ["on a line of its own", '\r\n\tname="a"', "a"],
])("the form reader decodes the sender's name %s", async (_case, parameters, name) => {
  expect(await findName(parameters)).toEqual({ name, fileName: null, content: "" });
});

test.each([
  ["a plain name", 'filename="list.csv"', "list.csv"],
  ["the last name of another system's path", String.raw`filename="C:\new\list.csv"`, "list.csv"],
  ["the last name of a path", 'filename="../../etc/list.csv"', "list.csv"],
  ["an empty text when no file was chosen", 'filename=""', ""],
  ["no name for filename*, which forms may not use", "filename*=UTF-8''list.csv", null],
  ["the filename beside filename*", `filename="list.csv"; filename*=UTF-8''other.exe`, "list.csv"],
])("the reader returns as file name of a part %s", async (_case, parameters, fileName) => {
  expect(await findName(`name="file"; ${parameters}`)).toMatchObject({ fileName });
});

test("the reader accepts a list whose file name uses an old Windows encoding", async () => {
  const body = Buffer.from(createForm([`${NAMED}; filename="M\xfcller.csv"`, "x"]), "latin1");

  expect(await readParts(TYPE, body)).toMatchObject([{ name: "a", content: "x" }]);
});

test.each(asRows`
  a preamble and an epilogue | ${TYPE} | ${`for old\r\nreaders\r\n${createForm([NAMED, "x"])}and\r\n--b\r\n`}
  nothing after the last boundary | ${TYPE} | ${createForm([NAMED, "x"]).trimEnd()}
  blanks after a boundary | ${TYPE} | ${createForm([NAMED, "x"]).replace("--b\r\n", "--b \t\r\n")}
  a quoted boundary | Multipart/Form-Data; charset=utf-8; boundary="b" | ${createForm([NAMED, "x"])}
  a boundary of 70 characters | ${`multipart/form-data; boundary=${"b".repeat(70)}`} | ${createForm([NAMED, "x"]).replaceAll("--b", `--${"b".repeat(70)}`)}
  a boundary of signs | ${`multipart/form-data; boundary="'()+_,-./:=? b"`} | ${createForm([NAMED, "x"]).replaceAll("--b", "--'()+_,-./:=? b")}
`)("the reader accepts %s in a form", async (_case, type, body) => {
  expect(await readParts(type, body)).toEqual([{ name: "a", fileName: null, content: "x" }]);
});

test("a part may end with its headers, and a form may have no parts", async () => {
  const ended = `--b\r\n${NAMED}\r\n\r\n--b\r\n${NAMED}\r\n\r\nx\r\n--b--`;

  expect(await readParts(TYPE, ended)).toMatchObject([{ content: "" }, { content: "x" }]);
  expect(await readParts(TYPE, "--b--\r\n")).toEqual([]);
});

const unnamed = "body: has a part without a valid content-disposition that names a field. ";
const noBoundary = "body: is a form whose content-type names no boundary of 1 to 70 characters. ";
const unfinished = "body: ends before its last boundary. ";

test.each(asRows`
  no boundary in the type | multipart/form-data | ${createForm([NAMED, "x"])} | ${noBoundary}
  an empty boundary | multipart/form-data; boundary="" | ${createForm([NAMED, "x"])} | ${noBoundary}
  a boundary of 71 characters | ${`multipart/form-data; boundary=${"b".repeat(71)}`} | ${""} | ${noBoundary}
  a boundary that ends in a blank | multipart/form-data; boundary="b " | ${""} | ${noBoundary}
  a boundary with a line end | ${'multipart/form-data; boundary="b\r\nc"'} | ${""} | ${noBoundary}
  two boundaries | multipart/form-data; boundary=b; boundary=c | ${""} | ${noBoundary}
  nothing at all | ${TYPE} | ${""} | ${"body: holds no boundary. "}
  another boundary | ${TYPE} | ${createForm([NAMED, "x"]).replaceAll("--b", "--c")} | ${"body: holds no boundary. "}
  bare line feeds | ${TYPE} | ${createForm([NAMED, "x"]).replaceAll("\r", "")} | ${"body: has a part whose headers do not end. "}
  no last boundary | ${TYPE} | ${createForm([NAMED, "x"]).slice(0, -8)} | ${unfinished}
  half a last boundary | ${TYPE} | ${createForm([NAMED, "x"]).slice(0, -3)} | ${unfinished}
  headers without an end | ${TYPE} | ${`--b\r\n${NAMED}`} | ${"body: has a part whose headers do not end. "}
  headers that go on and on | ${TYPE} | ${createForm([`${NAMED}\r\nX: ${"x".repeat(17_000)}`, "x"])} | ${"body: has a part with more than 16384 bytes of headers. "}
  no headers | ${TYPE} | ${"--b\r\n\r\nx\r\n--b--"} | ${unnamed}
  headers without a name | ${TYPE} | ${createForm(["Content-Disposition: form-data", "x"])} | ${unnamed}
  an attachment | ${TYPE} | ${createForm(['Content-Disposition: attachment; name="a"', "x"])} | ${unnamed}
  a name without an end | ${TYPE} | ${createForm(['Content-Disposition: form-data; name="a', "x"])} | ${unnamed}
  two names | ${TYPE} | ${createForm([`${NAMED}; name="b"`, "x"])} | ${unnamed}
  two dispositions | ${TYPE} | ${createForm([`${NAMED}\r\n${NAMED}`, "x"])} | ${unnamed}
  a NUL in a name | ${TYPE} | ${createForm(['Content-Disposition: form-data; name="a\0"', "x"])} | ${unnamed}
  an encoded NUL | ${TYPE} | ${createForm(['Content-Disposition: form-data; name="a%00"', "x"])} | ${unnamed}
  a line that is no header | ${TYPE} | ${createForm([`${NAMED}\r\nhello`, "x"])} | ${unnamed}
  a bare carriage return | ${TYPE} | ${createForm([`${NAMED}\rX: y`, "x"])} | ${unnamed}
  a boundary that its line goes on from | ${TYPE} | ${createForm([NAMED, "x\r\n--bc"])} | ${"body: has a line that continues after its boundary. "}
  base64 | ${TYPE} | ${createForm([`${NAMED}\r\nContent-Transfer-Encoding: base64`, "eA=="])} | ${"a: must be sent without a content-transfer-encoding. "}
  a field of 10 KB and one byte | ${TYPE} | ${createForm([NAMED, "x".repeat(10_241)])} | ${"a: must have at most 10240 bytes, or be sent as a file. "}
  21 parts | ${TYPE} | ${createForm(...Array.from({ length: 21 }, () => [NAMED, "x"] as const))} | ${"body: may have at most 20 parts. "}
`)("the reader refuses %s with a sentence", async (_case, type, body, what) => {
  await expect(readParts(type, body)).rejects.toMatchObject({
    code: "INVALID_REQUEST",
    message: `${what}Nothing was charged.`,
    details: [{ field: what.split(":")[0] }],
  });
});

test("the reader accepts a form at all of its limits", async () => {
  const parts = Array.from({ length: 20 }, () => [NAMED, "x".repeat(10_240)] as const);

  expect(await readParts(TYPE, createForm(...parts))).toHaveLength(20);
});

/** A body of so many pieces that tells how many were taken, and whether it was closed. */
const counted = (pieces: readonly string[]) => {
  const consumed = { pieces: 0, isClosed: false };
  async function* bytes() {
    try {
      for (const piece of pieces) {
        consumed.pieces++;
        yield Buffer.from(piece);
      }
    } finally {
      consumed.isClosed = true;
    }
  }
  return { asked: consumed, bytes: bytes() };
};

const long = (count: number) => [
  `--b\r\n${FILE}\r\n\r\n`,
  ...Array.from({ length: count }, () => "x".repeat(1_000)),
  `\r\n--b\r\n${NAMED}\r\n\r\ny\r\n--b--\r\n`,
];

test("the form passes a file on as it arrives, and reads no further than its reader", async () => {
  const { asked: consumed, bytes } = counted(long(100));
  const sizes: number[] = [];

  for await (const { fileName, content } of readForm(TYPE, bytes))
    if (fileName) for await (const _piece of content) sizes.push(consumed.pieces);

  expect(sizes[0]).toBeLessThan(4);
  expect(sizes.every((pieces, index) => pieces <= index + 3)).toBe(true);
});

test("the form skips the unread bytes of a part, half of it or all", async () => {
  const read: unknown[] = [];

  for (const count of [0, 1])
    for await (const { name, fileName, content } of readForm(TYPE, counted(long(100)).bytes)) {
      read.push([name, fileName]);
      if (count === 1) for await (const _piece of content) break;
    }

  const both = [
    ["a", "l.csv"],
    ["a", null],
  ];
  expect(read).toEqual([...both, ...both]);
});

test("the form closes its source when the reader stops", async () => {
  const { asked: consumed, bytes } = counted(long(100));

  for await (const _part of readForm(TYPE, bytes)) break;

  expect(consumed.isClosed).toBe(true);
  expect(consumed.pieces).toBeLessThan(4);
});

test("a part that is read too late throws an error instead of looking empty", async () => {
  const parts = await Array.fromAsync(readForm(TYPE, counted(long(1)).bytes));

  await expect(Array.fromAsync(parts[0]?.content ?? [])).rejects.toThrow(
    "the part a is read after",
  );
});
