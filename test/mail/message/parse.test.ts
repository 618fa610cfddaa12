import { parseMailboxes } from "@mailproof/mail/message/parse/addresses";
import { decodeFieldText } from "@mailproof/mail/message/parse/encodings";
import { parseMessage } from "@mailproof/mail/message/parse/message";
import { parseParameters } from "@mailproof/mail/message/parse/parameters";
import { describe, expect, test } from "vitest";

const parse = (text: string) => parseMessage(Buffer.from(text, "latin1"));
const textsOf = (text: string) => parse(text).tree.parts.map((part) => part.text);

describe("header fields", () => {
  test("a folded line belongs to the field above it", () => {
    const { fields, body } = parse("Subject: a\r\n\tb\r\nTo : c\r\n\r\nbody");

    expect(fields).toEqual([
      { key: "subject", raw: "Subject: a\r\n\tb" },
      { key: "to", raw: "To : c" },
    ]);
    expect(body.toString()).toBe("body");
  });

  test("a line that is no field counts as a fault, and joins the field above", () => {
    expect(parse("Subject: a\r\nnonsense\r\nTo: b\r\n\r\n")).toMatchObject({
      strayLines: 1,
      fields: [{ raw: "Subject: a\r\nnonsense" }, { raw: "To: b" }],
    });
  });

  test("bare line feeds end lines, and the parser counts them", () => {
    const { bareLineFeeds, fields, body } = parse("A: 1\nB: 2\r\n\nbo\ndy\r");

    expect(bareLineFeeds).toBe(3);
    expect(fields.map(({ key }) => key)).toEqual(["a", "b"]);
    expect(body.toString()).toBe("bo\r\ndy\r");
  });

  test("an empty first line ends a header section without a field", () => {
    expect(parse("\r\nFrom: a@b.c\r\n\r\nx")).toMatchObject({ fields: [] });
  });
});

test.each([
  ["=?utf-8?q?caf=C3=A9_au_lait?=", "café au lait"],
  ["=?UTF-8?B?Y2Fmw6k=?= and =?iso-8859-1?Q?caf=E9?=", "café and café"],
  ["=?utf-8?b?Y2Fmww==?= =?utf-8?b?qQ==?=", "café"],
  ["=?utf-8?q?caf=C3?= =?utf-8?q?=A9?=", "café"],
  ["=?nonsense?q?x?=", "\ufffd"],
  ["plain =?broken", "plain =?broken"],
  ["caf\xc3\xa9", "café"],
  ["caf\xe9", "café"],
])("the parser shows %s as %s", (value, shown) => {
  expect(decodeFieldText(value)).toBe(shown);
});

test.each([
  ["Ann Lee <ann@example.com>", [["Ann Lee", "ann@example.com"]]],
  ["ann@example.com (Ann, at home)", [["", "ann@example.com"]]],
  [
    '"Lee, Ann" <ann@example.com>, b@c.d',
    [
      ['"Lee, Ann"', "ann@example.com"],
      ["", "b@c.d"],
    ],
  ],
  [
    "friends: a@b.c, Dan <d@e.f>;",
    [
      ["", "a@b.c"],
      ["Dan", "d@e.f"],
    ],
  ],
  ['"a@b.c" <d@e.f>', [['"a@b.c"', "d@e.f"]]],
  ["<@relay.test:ann@example.com>", [["", "ann@example.com"]]],
  ["", []],
  [", ,", []],
])("the parser reads from %s the addresses %j", (value, expected) => {
  expect(parseMailboxes(value).map(({ name, address }) => [name, address])).toEqual(expected);
});

test.each([
  ['text/html; charset="utf-8"; x=1', "text/html", { charset: "utf-8", x: "1" }],
  ['Multipart/Mixed; boundary="a;b\\"c"', "multipart/mixed", { boundary: 'a;b"c' }],
  [
    'attachment; filename*0="long "; filename*1=name.pdf',
    "attachment",
    { filename: "long name.pdf" },
  ],
  ["text/plain (a; comment); charset=x", "text/plain", { charset: "x" }],
  ["", "", {}],
])("the parser reads %s as %s with %j", (text, value, parameters) => {
  const parsed = parseParameters(text);

  expect([parsed.value, Object.fromEntries(parsed.parameters)]).toEqual([value, parameters]);
});

describe("parts of a message", () => {
  const MIXED = `Content-Type: multipart/mixed; boundary=o

preamble
--o
Content-Type: multipart/alternative; boundary="i i"

--i i
Content-Type: text/plain; charset=iso-8859-1
Content-Transfer-Encoding: quoted-printable

caf=E9 =
au lait
--i i
Content-Type: text/html
Content-Transfer-Encoding: base64

PGI+Y2Fmw6k8L2I+
--i i--
--o
Content-Type: text/plain; name=a.txt
Content-Disposition: attachment; filename=a.txt

attached
--o--
epilogue`;

  test("the parser reads parts with their encodings and character sets", () => {
    const { parts } = parse(MIXED).tree;

    expect(parts.map(({ depth, type, isAttachment }) => [depth, type, isAttachment])).toEqual([
      [0, "multipart/mixed", false],
      [1, "multipart/alternative", false],
      [2, "text/plain", false],
      [2, "text/html", false],
      [1, "text/plain", true],
    ]);
    expect(textsOf(MIXED)).toEqual([null, null, "café au lait", "<b>café</b>", null]);
    expect(parts.at(-1)).toMatchObject({ filename: "a.txt", bytes: 8 });
  });

  test("a multipart without its boundary is broken, and one without its end is valid", () => {
    const open = "Content-Type: multipart/mixed; boundary=o\r\n\r\n--o\r\n\r\ntext";

    expect(parse(open).tree.parts.map(({ isBroken }) => isBroken)).toEqual([false, false]);
    expect(textsOf(open).at(-1)).toBe("text");
    expect(parse("Content-Type: multipart/mixed\r\n\r\nx").tree.parts).toMatchObject([
      { isBroken: true },
    ]);
  });

  test("the parser does not confuse a boundary with a longer one that begins alike", () => {
    const text =
      "Content-Type: multipart/mixed; boundary=o\r\n\r\n--o\r\n\r\none\r\n--other\r\n--o--";

    expect(textsOf(text).at(-1)).toBe("one\r\n--other");
  });

  test("the parser reads parts ten levels deep, and at most two hundred", () => {
    const nested = "Content-Type: multipart/mixed; boundary=o\r\n\r\n--o\r\n".repeat(30);
    const many = `Content-Type: multipart/mixed; boundary=o\r\n\r\n${"--o\r\n\r\nx\r\n".repeat(500)}`;

    expect(parse(many).tree).toMatchObject({ isCut: true });
    expect(parse(many).tree.parts).toHaveLength(200);
    expect(Math.max(...parse(nested).tree.parts.map(({ depth }) => depth))).toBeLessThan(11);
  });

  test("the parser reads no text from a part in an unknown character set", () => {
    expect(textsOf("Content-Type: text/plain; charset=klingon\r\n\r\nx")).toEqual([null]);
  });
});
