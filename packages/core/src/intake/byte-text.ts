import { isAscii } from "@mailproof/mail/syntax";
import { latin1ToText, textToLatin1 } from "./latin1.ts";

/**
 * The UTF-8 bytes of a text, one character per byte: "é" is "\xc3\xa9". A list is read as bytes, split at ASCII characters and
 * written as bytes without decoding: a string of one-byte characters takes half of the memory and time of a string with a
 * single "ł". Code that needs the text decodes it first; invalid bytes then become U+FFFD.
 */
export type ByteText = string;

export const toText = (bytes: ByteText): string => (isAscii(bytes) ? bytes : latin1ToText(bytes));

export const toByteText = (text: string): ByteText => (isAscii(text) ? text : textToLatin1(text));

export const truncateBytes = (bytesMax: number, bytes: ByteText): ByteText => {
  if (bytes.length <= bytesMax) return bytes;
  let end = bytesMax;
  while (end > 0 && isContinuation(bytes.charCodeAt(end))) end -= 1;
  return bytes.slice(0, end);
};

const isContinuation = (byte: number): boolean => (byte & 0xc0) === 0x80;
