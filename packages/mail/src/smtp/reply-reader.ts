import type { Reply } from "./reply.ts";

/** Such a peer is not a mail server, or attacks our memory. Nothing is read after a fault. */
export type ReplyFault = "not_smtp" | "reply_too_long";

/** Takes bytes as they arrive, and returns the replies that they complete, in order. */
export type ReplyReader = (bytes: Uint8Array) => readonly (Reply | ReplyFault)[];

/** RFC 5321 §4.5.3.1.5 has 512. Real servers say more, but none needs all of this. */
const LINE_BYTES_MAX = 2048;
const LINES_MAX = 100;
const REPLY_BYTES_MAX = 65_536;

const LF = 10;
const CR = 13;

/** Every byte is looked at a fixed number of times, however few of them come at once. */
export const createReplyReader = (): ReplyReader => {
  // One byte more than a line: the carriage return that may belong to its end.
  const line = new Uint8Array(LINE_BYTES_MAX + 1);
  let lineBytes = 0;
  let replyBytes = 0;
  let lines: string[] = [];
  let fault: ReplyFault | null = null;

  const endLine = (): Reply | ReplyFault | null => {
    const bytes = lineBytes > 0 && line[lineBytes - 1] === CR ? lineBytes - 1 : lineBytes;
    if (bytes > LINE_BYTES_MAX || lines.length === LINES_MAX) return "reply_too_long";
    lines.push(toPlainText(line.subarray(0, bytes)));
    lineBytes = 0;

    const reply = readLines(lines);
    if (typeof reply !== "object" || reply === null) return reply;
    lines = [];
    replyBytes = 0;
    return reply;
  };

  const takeByte = (byte: number): Reply | ReplyFault | null => {
    replyBytes += 1;
    if (replyBytes > REPLY_BYTES_MAX) return "reply_too_long";
    if (byte === LF) return endLine();
    if (lineBytes === line.length) return "reply_too_long";
    line[lineBytes] = byte;
    lineBytes += 1;
    return null;
  };

  return (bytes) => {
    const read: (Reply | ReplyFault)[] = [];
    for (const byte of bytes) {
      if (fault) return read;
      const result = takeByte(byte);
      if (result === null) continue;
      read.push(result);
      if (typeof result === "string") fault = result;
    }
    return read;
  };
};

// RFC 5321 §4.2. The text may be missing altogether: some servers answer "250" and nothing more.
const CODED = /^([2-5]\d\d)(?:([- ])(.*))?$/;

/** The reply that these lines are; null while its last line has not come. */
const readLines = (lines: readonly string[]): Reply | "not_smtp" | null => {
  const latest = lines.at(-1) ?? "";
  const coded = CODED.exec(latest);
  if (coded) return coded[2] === "-" ? null : toReply(coded[1] ?? "", lines);
  // Inside a reply, a line without a code is text that the server broke in two; an empty one before a reply
  // is the rest of the last. Nothing else may stand where a code belongs.
  return latest.trim() === "" || lines.some((line) => CODED.test(line)) ? null : "not_smtp";
};

/** Where the lines disagree about the code, the last one counts: it ends the reply. */
const toReply = (code: string, lines: readonly string[]): Reply => {
  const texts = lines.filter((line) => line.trim() !== "").map(getText);
  const enhanced = findEnhanced(code, texts);
  const plain = texts.map((text) => removeCodes(text, code, enhanced));
  return { code: Number(code), enhanced, text: plain.join("\n") };
};

const getText = (line: string): string => {
  const coded = CODED.exec(line);
  return coded ? (coded[3] ?? "") : line;
};

/**
 * RFC 2034 puts the enhanced code first; others write (#5.1.1) at the end. One of another class is not a code of
 * this reply (RFC 3463 §2), and a number inside a longer one is an address or a version.
 */
const findEnhanced = (code: string, texts: readonly string[]): string | null => {
  const first = new RegExp(`^(?:${code}[- ])?(${code[0]}\\.\\d{1,3}\\.\\d{1,3})(?!\\.?\\d)`);
  const anywhere = new RegExp(`(?<![\\w./])${code[0]}\\.[0-7]\\.\\d{1,3}(?!\\w|\\.\\d)`);
  for (const text of texts) {
    const found = first.exec(text)?.[1];
    if (found) return found;
  }
  return anywhere.exec(texts.join("\n"))?.[0] ?? null;
};

/** Some servers repeat the codes inside a line. After a colon they start another server's reply, and stay. */
const removeCodes = (text: string, code: string, enhanced: string | null): string => {
  const trimmed = text.trim();
  if (!enhanced) return trimmed;
  const both = enhanced.replaceAll(".", "\\.");
  return trimmed
    .replace(new RegExp(`^(?:${code}[- ])?${both}(?!\\.?\\d)[:\\s]*`), "")
    .replaceAll(new RegExp(`(?<!\\S|: )${code}[- ]${both}(?!\\S)\\s*`, "g"), "");
};

const UTF8 = new TextDecoder("utf-8", { fatal: true });
// Not a TextDecoder: its latin1 is windows-1252.
const decodeLatin1 = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");

// Controls, line separators and writing-direction marks: in a log they would hide or forge the text around them.
const UNSAFE = /[\p{Cc}\p{Zl}\p{Zp}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

const toPlainText = (bytes: Uint8Array): string =>
  decode(bytes).replaceAll("\t", " ").replaceAll(UNSAFE, "\ufffd");

/** RFC 6531 replies are UTF-8; older servers write their national letters in one byte. */
const decode = (bytes: Uint8Array): string => {
  try {
    return UTF8.decode(bytes);
  } catch {
    return decodeLatin1(bytes);
  }
};
