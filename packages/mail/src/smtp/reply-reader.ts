import type { Reply } from "./reply.ts";

/** A peer with such a fault is not a mail server, or attacks our memory. The reader ignores all bytes after a fault. */
export type ReplyFault = "not_smtp" | "reply_too_long";

export type ReplyReader = (bytes: Uint8Array) => readonly (Reply | ReplyFault)[];

/** RFC 5321 §4.5.3.1.5 allows 512 bytes. Real servers send longer lines, but no line near 2048 bytes. */
const LINE_BYTES_MAX = 2048;
const LINES_MAX = 100;
const REPLY_BYTES_MAX = 65_536;

const LF = 10;
const CR = 13;

/** The reader visits each byte a fixed number of times, even when the bytes arrive one by one. */
export const createReplyReader = (): ReplyReader => {
  /** An unfinished line. It may exceed the limit by one byte: the carriage return before its line feed. */
  let begun: Uint8Array | null = null;
  let begunBytes = 0;
  let replyBytes = 0;
  let lines = 0;
  let texts: string[] = [];
  let fault: ReplyFault | null = null;

  const takeLine = (bytes: Uint8Array): Reply | ReplyFault | null => {
    const end = bytes.at(-1) === CR ? bytes.length - 1 : bytes.length;
    if (end > LINE_BYTES_MAX || lines === LINES_MAX) return "reply_too_long";
    lines += 1;
    const line = toPlainText(bytes.subarray(0, end));
    const [, code, separator, text = ""] = CODED.exec(line) ?? [];
    // Inside a reply, a line without a code is text that the server broke in two; an empty line before a reply is the rest of the last one.
    // No other line may lack a code.
    if (code === undefined && line.trim() === "") return null;
    if (code === undefined && texts.length === 0) return "not_smtp";
    texts.push(code === undefined ? line : text);
    if (code === undefined || separator === "-") return null;

    // When the lines have different codes, the last code counts, because it ends the reply.
    const reply = toReply(code, texts);
    texts = [];
    lines = 0;
    replyBytes = 0;
    return reply;
  };

  const take = (part: Uint8Array, isEnd: boolean): Reply | ReplyFault | null => {
    replyBytes += part.length + Number(isEnd);
    const bytes = begunBytes + part.length;
    if (replyBytes > REPLY_BYTES_MAX || bytes > LINE_BYTES_MAX + 1) return "reply_too_long";
    if (isEnd && begunBytes === 0) return takeLine(part);
    begun ??= new Uint8Array(LINE_BYTES_MAX + 1);
    begun.set(part, begunBytes);
    begunBytes = isEnd ? 0 : bytes;
    return isEnd ? takeLine(begun.subarray(0, bytes)) : null;
  };

  return (bytes) => {
    const read: (Reply | ReplyFault)[] = [];
    for (let at = 0; at < bytes.length && !fault; ) {
      const lf = bytes.indexOf(LF, at);
      const end = lf === -1 ? bytes.length : lf;
      const result = take(bytes.subarray(at, end), lf !== -1);
      at = end + 1;
      if (result === null) continue;
      read.push(result);
      if (typeof result === "string") fault = result;
    }
    return read;
  };
};

// RFC 5321 §4.2. The text may be missing altogether: some servers reply only "250".
const CODED = /^([2-5]\d\d)(?:([- ])(.*))?$/;

const toReply = (code: string, texts: readonly string[]): Reply => {
  const enhanced = findEnhanced(code, texts);
  const plain = texts.map((text) => removeCodes(text, code, enhanced));
  return { code: Number(code), enhanced, text: plain.join("\n") };
};

/** Both codes at the start of a text, the second by RFC 3463. A number inside a longer one is an address or a version. */
const LEADING = /^(?:([2-5]\d\d)[- ])?(\d\.\d{1,3}\.\d{1,3})(?!\.?\d)[:\s]*/;

const findLeading = (text: string, code: string): RegExpExecArray | null => {
  const found = LEADING.exec(text);
  return found && (found[1] ?? code) === code ? found : null;
};

/**
 * RFC 2034 puts the enhanced code first; some servers write (#5.1.1) at the end. An enhanced code of another class does not belong to this
 * reply (RFC 3463 §2).
 */
const findEnhanced = (code: string, texts: readonly string[]): string | null => {
  for (const text of texts) {
    const found = findLeading(text, code)?.[2];
    if (found?.charAt(0) === code.charAt(0)) return found;
  }
  return ANYWHERE[Number(code.charAt(0))]?.exec(texts.join("\n"))?.[0] ?? null;
};

const ANYWHERE = [0, 1, 2, 3, 4, 5].map(
  (digit) => new RegExp(`(?<![\\w./])${digit}\\.[0-7]\\.\\d{1,3}(?!\\w|\\.\\d)`),
);

/** Some servers repeat the codes inside a line, and the reader removes them. After a colon they begin another server's reply, and stay. */
const removeCodes = (text: string, code: string, enhanced: string | null): string => {
  const trimmed = text.trim();
  if (!enhanced) return trimmed;
  const leading = findLeading(trimmed, code);
  const rest = leading?.[2] === enhanced ? trimmed.slice(leading[0].length) : trimmed;
  if (!rest.includes(enhanced)) return rest;
  const both = enhanced.replaceAll(".", "\\.");
  return rest.replaceAll(new RegExp(`(?<!\\S|: )${code}[- ]${both}(?!\\S)\\s*`, "g"), "");
};

const UTF8 = new TextDecoder("utf-8", { fatal: true });
// TextDecoder's latin1 is windows-1252, so it cannot decode Latin-1.
const decodeLatin1 = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");

// Controls, line separators and writing-direction marks: in a log they would hide or forge the text around them.
const UNSAFE = /[\p{Cc}\p{Zl}\p{Zp}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

const PRINTABLE = /^[ -~]*$/;

const toPlainText = (bytes: Uint8Array): string => {
  const text = decode(bytes);
  return PRINTABLE.test(text) ? text : text.replaceAll("\t", " ").replaceAll(UNSAFE, "\ufffd");
};

/** RFC 6531 replies are UTF-8; older servers write national letters in one byte each. */
const decode = (bytes: Uint8Array): string => {
  try {
    return UTF8.decode(bytes);
  } catch {
    return decodeLatin1(bytes);
  }
};
