/** Removes the transfer encoding of a part's body (RFC 2045 §6). A body in an unknown encoding stays as it is. */
export const decodeBody = (body: Buffer, encoding: string): Buffer => {
  if (encoding === "base64") return decodeBase64(body.toString("latin1"));
  if (encoding === "quoted-printable") return decodeQuotedPrintable(body, false);
  return body;
};

/** RFC 2045 §6.8: a decoder ignores characters outside of the alphabet. */
const decodeBase64 = (text: string): Buffer => Buffer.from(text, "base64");

const EQUALS = 0x3d;
const UNDERSCORE = 0x5f;
const SPACE = 0x20;

/** RFC 2045 §6.7, and for encoded words RFC 2047 §4.2. An "=" that does not start a code is literal. */
const decodeQuotedPrintable = (bytes: Buffer, isWord: boolean): Buffer => {
  const decoded = Buffer.allocUnsafe(bytes.length);
  let to = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte === EQUALS && !isWord) {
      const breakEnd = findSoftBreakEnd(bytes, at + 1);
      if (breakEnd !== undefined) {
        at = breakEnd;
        continue;
      }
    }
    const code = byte === EQUALS ? readHex(bytes, at + 1) : undefined;
    decoded[to] = code ?? (isWord && byte === UNDERSCORE ? SPACE : byte);
    to += 1;
    if (code !== undefined) at += 2;
  }
  return decoded.subarray(0, to);
};

/** Some mail servers add white space between the sign and the end of the line, but never more than 80 characters. */
const SOFT_SPACE_MAX = 80;

const findSoftBreakEnd = (bytes: Buffer, from: number): number | undefined => {
  let at = from;
  while (at - from < SOFT_SPACE_MAX && (bytes[at] === SPACE || bytes[at] === 0x09)) at += 1;
  if (bytes[at] === 0x0d && bytes[at + 1] === 0x0a) return at + 1;
  return bytes[at] === 0x0a ? at : undefined;
};

const readHex = (bytes: Buffer, at: number): number | undefined => {
  const [high, low] = [readDigit(bytes[at]), readDigit(bytes[at + 1])];
  return high === undefined || low === undefined ? undefined : high * 16 + low;
};

const readDigit = (byte = 0): number | undefined => {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x61 + 10 : undefined;
};

/** Decodes bytes; undefined for an unknown character set. Invalid bytes become U+FFFD. */
export const decodeText = (bytes: Buffer, charset: string): string | undefined => {
  // Mail that wrongly declares ASCII mostly has UTF-8 today.
  if (/^(?:|us-ascii|ascii|ansi_x3\.4-1968)$/i.test(charset)) return decodeUnnamed(bytes);
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return undefined;
  }
};

/** Decodes valid UTF-8, and everything else as Latin-1. */
const decodeUnnamed = (bytes: Buffer): string => {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return bytes.toString("latin1");
  }
};

const WORD = /=\?([^?\s*]{1,40})(?:\*[^?\s]{0,20})?\?([bq])\?([^?\s]*)\?=/gi;
/** RFC 2047 §6.2: readers ignore white space between encoded words. */
const BETWEEN_WORDS = /(\?=)[\t ]+(?==\?[^?\s]{1,62}\?[bq]\?)/gi;

/** Decodes a field's value for people: encoded words (RFC 2047) and UTF-8 (RFC 6532). */
export const decodeFieldText = (value: string): string => {
  const joined = value.replaceAll(BETWEEN_WORDS, "$1");
  let shown = "";
  let at = 0;
  let pending: { readonly charset: string; readonly bytes: Buffer[] } | undefined;
  const flush = (): void => {
    if (pending) shown += decodeText(Buffer.concat(pending.bytes), pending.charset) ?? "\ufffd";
    pending = undefined;
  };
  for (const match of joined.matchAll(WORD)) {
    const [word, charset = "", encoding = "", text = ""] = match;
    const between = joined.slice(at, match.index);
    // A character of several bytes may be divided between words of the same character set.
    if (between !== "" || pending?.charset !== charset.toLowerCase()) flush();
    shown += decodeUnnamed(Buffer.from(between, "latin1"));
    pending ??= { charset: charset.toLowerCase(), bytes: [] };
    const bytes = Buffer.from(text, "latin1");
    pending.bytes.push(
      encoding.toLowerCase() === "b" ? decodeBase64(text) : decodeQuotedPrintable(bytes, true),
    );
    at = match.index + word.length;
  }
  flush();
  return shown + decodeUnnamed(Buffer.from(joined.slice(at), "latin1"));
};
