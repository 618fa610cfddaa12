import { createReplyReader } from "@mailproof/mail/smtp/reply-reader";
import fc from "fast-check";
import { expect, test } from "vitest";
import { asRows } from "../../runner/as-rows.ts";

const read = (received: string | Uint8Array) =>
  createReplyReader()(Buffer.from(received as string));

test.each(asRows<[string, string, { code: number; enhanced: string | null; text: string }]>`
  a plain one | ${"250 OK\r\n"} | ${{ code: 250, enhanced: null, text: "OK" }}
  a bare code | ${"250\r\n"} | ${{ code: 250, enhanced: null, text: "" }}
  a code and a space | ${"250 \r\n"} | ${{ code: 250, enhanced: null, text: "" }}
  bare line feeds | ${"250-a\n250 b\n"} | ${{ code: 250, enhanced: null, text: "a\nb" }}
  several lines | ${"250-mx.example\r\n250-SIZE\r\n250 STARTTLS\r\n"} | ${{ code: 250, enhanced: null, text: "mx.example\nSIZE\nSTARTTLS" }}
  an empty first line | ${"250-\r\n250 STARTTLS\r\n"} | ${{ code: 250, enhanced: null, text: "\nSTARTTLS" }}
  lines with different codes, of which the last ends the reply | ${"250-yes\r\n550 no\r\n"} | ${{ code: 550, enhanced: null, text: "yes\nno" }}
  a text that was broken in two | ${"550-5.1.1 No such\r\nuser here\r\n550 5.1.1 sorry\r\n"} | ${{ code: 550, enhanced: "5.1.1", text: "No such\nuser here\nsorry" }}
  an empty line before it | ${"\r\n250 OK\r\n"} | ${{ code: 250, enhanced: null, text: "OK" }}
  a NUL and other controls | ${"250 a\0b\x1b[31m\tc\x7f\r\n"} | ${{ code: 250, enhanced: null, text: "a�b�[31m c�" }}
  a lone carriage return | ${"250 a\rb\r\n"} | ${{ code: 250, enhanced: null, text: "a�b" }}
  marks that reverse the writing direction | ${"250 a\u202eb\r\n"} | ${{ code: 250, enhanced: null, text: "a�b" }}
  UTF-8 | ${"550 5.1.1 用户不存在\r\n"} | ${{ code: 550, enhanced: "5.1.1", text: "用户不存在" }}
`)("the reader returns a whole reply: %s", (_, received, reply) => {
  expect(read(received)).toEqual([reply]);
});

test("the reader keeps national letters in one byte", () => {
  expect(read(Buffer.from("550 bo\xeete pleine\r\n", "latin1"))).toMatchObject([
    { text: "boîte pleine" },
  ]);
});

test("the reader returns two replies from one piece", () => {
  expect(read("250 a\r\n\r\n421 b\r\n25")).toMatchObject([{ code: 250 }, { code: 421 }]);
});

test.each(["", "250", "250 OK", "250 OK\r", "250-mx.example\r\n", "250-a\r\n250 S", "\r\n"])(
  "the reader waits for the rest of %j",
  (received) => {
    expect(read(received)).toEqual([]);
  },
);

test("the limits apply to one reply, so that the reader reads a long session to its end", () => {
  expect(read("250 2.1.5 OK\r\n".repeat(10_000))).toHaveLength(10_000);
});

test.each(asRows`
  550 5.1.1 No such user | 5.1.1 | No such user
  550 5.1.1 | 5.1.1 | ${""}
  550 5.1.1: No such user | 5.1.1 | No such user
  ${"550-5.1.1 No such\r\n550-5.1.1 user\r\n550 5.1.1 p=NoSuchUser"} | 5.1.1 | ${"No such\nuser\np=NoSuchUser"}
  550 550 5.1.1 passed on | 5.1.1 | passed on
  550 5.1.1 No such 550-5.1.1 user 550 5.1.1 here | 5.1.1 | No such user here
  554 Unknown Recipient (#5.1.1) | 5.1.1 | Unknown Recipient (#5.1.1)
  550 Unknown user - 5.1.10 | 5.1.10 | Unknown user - 5.1.10
  550 said: [5.4.310] no domain | 5.4.310 | said: [5.4.310] no domain
  ${"550-Sorry\r\n550 #5.1.1 bye"} | 5.1.1 | ${"Sorry\n#5.1.1 bye"}
`)("the reader finds the enhanced code in %j", (received, enhanced, text) => {
  expect(read(`${received}\r\n`)).toMatchObject([{ enhanced, text }]);
});

test.each([
  ["a code of another class", "550 4.7.1 so"],
  ["a code of another class at the end", "450 no (#5.1.1)"],
  ["the start of an address", "550 5.188.10.2 is listed"],
  ["an address in the text", "550 your address 5.1.1.4 is listed"],
  ["the end of an address", "550 see 10.5.1.1"],
  ["a version", "421 Exim 4.96.1 is busy"],
  ["a part of a path", "550 see http://a.example/5.1.1"],
  ["a long number", "550 5.1.12345"],
])("the reader finds no enhanced code in %s", (_, received) => {
  expect(read(`${received}\r\n`)).toMatchObject([{ enhanced: null }]);
});

test("the reader finds the enhanced code of the right class beside one of another class", () => {
  expect(read("550 4.4.2 then 5.4.4\r\n")).toMatchObject([{ enhanced: "5.4.4" }]);
});

test.each([
  "SSH-2.0-OpenSSH_9.2\r\n",
  "HTTP/1.1 400 Bad Request\r\n",
  "* OK IMAP4rev1\r\n",
  "+OK POP3\r\n",
  "\x16\x03\x01\x02\n",
  "2500 too long a code\r\n",
  "250OK\r\n",
  "150 no such class\r\n",
  "999 no such class\r\n",
])("the reader detects that no mail server sent %j", (received) => {
  expect(read(received)).toEqual(["not_smtp"]);
});

const bytes = (count: number) => "x".repeat(count);

test.each([
  ["a line that is too long", `250 ${bytes(2045)}\r\n`],
  ["a line that never ends", bytes(100_000)],
  ["more than 100 lines", "250-a\r\n".repeat(100) + "250 a\r\n"],
  ["lines that never end", "250-a\r\n".repeat(5000)],
  ["empty lines that never end", "\r\n".repeat(5000)],
  ["more than 64 KB", `250-${bytes(2000)}\r\n`.repeat(33)],
])("the reader stops reading at %s", (_, received) => {
  expect(read(received)).toEqual(["reply_too_long"]);
});

test.each([
  ["the longest line", `250 ${bytes(2044)}\r\n`],
  ["100 lines", `${"250-a\r\n".repeat(99)}250 a\r\n`],
])("the reader accepts a reply with %s", (_, received) => {
  expect(read(received)).toMatchObject([{ code: 250 }]);
});

test("the reader reads nothing after it detected another protocol", () => {
  const reader = createReplyReader();

  expect(reader(Buffer.from("250 a\r\nHELLO\r\n250 b\r\n"))).toMatchObject([
    { code: 250 },
    "not_smtp",
  ]);
  expect(reader(Buffer.from("250 c\r\n"))).toEqual([]);
});

test("the reader returns the same reply from pieces of any size", () => {
  const anyBytes = fc.oneof(
    fc.uint8Array({ maxLength: 300 }),
    fc
      .array(
        fc.constantFrom("250", "-", " ", "\r\n", "\n", "5.1.1", "550-", "550 ", "ü", "\0", "x"),
      )
      .map((parts) => new Uint8Array(Buffer.from(parts.join("")))),
  );
  fc.assert(
    fc.property(anyBytes, (bytes) => {
      const inPieces = createReplyReader();
      const pieces = Array.from(bytes, (byte) => inPieces(Uint8Array.of(byte))).flat();
      expect(pieces).toEqual(createReplyReader()(bytes));
    }),
  );
});

test("the reader makes a reply with any bytes safe to print", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 500 }), (bytes) => {
      const received = Buffer.concat([
        Buffer.from("250 "),
        bytes.filter((byte) => byte !== 10),
        Buffer.from("\n"),
      ]);
      const [reply] = createReplyReader()(received);
      expect(reply).toMatchObject({ code: 250 });
      expect((reply as { text: string }).text).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u);
    }),
  );
});
