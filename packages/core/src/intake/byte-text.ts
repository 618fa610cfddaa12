import { isAscii } from "../mail/syntax.ts";

/**
 * A text as its bytes of UTF-8, with a character for each of them: "é" is "\xc3\xa9". A list comes as bytes, is
 * split at characters of ASCII, and goes as bytes: so it is never decoded, and a string of small characters takes
 * half of the memory and of the time of one with a single "ł" in it. To be read as text it is decoded first.
 * Broken bytes stay in it, and are U+FFFD to whoever decodes it.
 */
export type ByteText = string;

export const toText = (bytes: ByteText): string =>
  isAscii(bytes) ? bytes : Buffer.from(bytes, "latin1").toString();

export const toByteText = (text: string): ByteText =>
  isAscii(text) ? text : Buffer.from(text).toString("latin1");

/** At most so many bytes, and no character by half. */
export const truncateBytes = (bytesMax: number, bytes: ByteText): ByteText => {
  if (bytes.length <= bytesMax) return bytes;
  let end = bytesMax;
  while (end > 0 && isContinuation(bytes.charCodeAt(end))) end -= 1;
  return bytes.slice(0, end);
};

const isContinuation = (byte: number): boolean => (byte & 0xc0) === 0x80;
