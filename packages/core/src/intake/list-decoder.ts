import { isAscii } from "@mailproof/mail/syntax";
import { type ByteText, toByteText } from "./byte-text.ts";
import { bytesToLatin1 } from "./latin1.ts";

export const LIST_ENCODINGS = [
  "utf-8",
  "utf-16le",
  "utf-16be",
  "windows-1252",
  "shift_jis",
] as const;
export type ListEncoding = (typeof LIST_ENCODINGS)[number];

type Decoder = InstanceType<typeof TextDecoder>;

export type ListDecoder = {
  /** The encoding found so far: UTF-8 while the file is ASCII. */
  readonly encoding: () => ListEncoding;
  readonly decode: (block: Uint8Array) => ByteText;
  /** Flushes the decoder: the file may end within a character. */
  readonly end: () => ByteText;
};

/** The decoder reads blocks of a fixed size, so its output does not depend on the chunks of the source. */
export const BLOCK_BYTES = 262_144;

/** Yields the same bytes in full blocks, except for the last block. A block is valid until the next read. */
export async function* toBlocks(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const block = new Uint8Array(BLOCK_BYTES);
  let filled = 0;
  for await (const piece of bytes) {
    for (let from = 0; from < piece.length; ) {
      const part = piece.subarray(from, from + BLOCK_BYTES - filled);
      block.set(part, filled);
      from += part.length;
      filled += part.length;
      if (filled < BLOCK_BYTES) continue;
      yield block;
      filled = 0;
    }
  }
  if (filled > 0) yield block.subarray(0, filled);
}

/**
 * A stream cannot be read twice, so the first byte beyond ASCII decides the encoding: until then UTF-8, windows-1252 and
 * Shift_JIS are equal. The decoder drops NUL characters, because some exports pad cells with them.
 */
export const createListDecoder = (): ListDecoder => {
  let encoding: ListEncoding | null = null;
  let decoder: Decoder | null = null;
  let isFirst = true;

  const detectEncoding = (block: Uint8Array): void => {
    encoding = (isFirst ? detectUtf16(block) : null) ?? detectEightBit(block);
    if (encoding && encoding !== "utf-8") decoder = new TextDecoder(encoding);
  };

  const decodeUtf8 = (block: Uint8Array): ByteText => {
    const bytes = bytesToLatin1(block);
    return isFirst && bytes.startsWith(UTF8_MARK) ? bytes.slice(UTF8_MARK.length) : bytes;
  };

  return {
    encoding: () => encoding ?? "utf-8",
    decode: (block) => {
      if (!encoding) detectEncoding(block);
      const bytes = decoder
        ? toByteText(decoder.decode(block, { stream: true }))
        : decodeUtf8(block);
      isFirst = false;
      return removeNul(bytes);
    },
    end: () => toByteText(decoder?.decode() ?? ""),
  };
};

const UTF8_MARK = toByteText("\ufeff");

const removeNul = (text: ByteText): ByteText =>
  text.includes("\0") ? text.replaceAll("\0", "") : text;

const SNIFF_BYTES = 4096;

/** Addresses are ASCII, whatever script the names have, and in UTF-16 every second byte of ASCII is NUL. */
export const detectUtf16 = (block: Uint8Array): ListEncoding | null => {
  const [first, second] = block;
  if (first === 0xff && second === 0xfe) return "utf-16le";
  if (first === 0xfe && second === 0xff) return "utf-16be";
  const head = block.subarray(0, SNIFF_BYTES);
  const pairs = head.length / 2;
  const isMany = (nuls: number) => nuls > pairs / 3;
  const isFew = (nuls: number) => nuls < pairs / 10;
  const even = head.filter((byte, index) => byte === 0 && index % 2 === 0).length;
  const odd = head.filter((byte, index) => byte === 0 && index % 2 === 1).length;
  if (isMany(odd) && isFew(even)) return "utf-16le";
  return isMany(even) && isFew(odd) ? "utf-16be" : null;
};

/** Null while a block is ASCII. The majority decides: one invalid byte in a UTF-8 file must not garble every name. */
const detectEightBit = (block: Uint8Array): ListEncoding | null => {
  if (isAscii(bytesToLatin1(block))) return null;
  // Only a full block may end within a character; the last block of a file does not.
  const text = new TextDecoder("utf-8").decode(block, { stream: block.length === BLOCK_BYTES });
  const beyond = text.match(ALL_BEYOND_ASCII)?.length ?? 0;
  const replaced = text.match(REPLACED)?.length ?? 0;
  if (replaced * 2 <= beyond) return "utf-8";
  return isShiftJis(bytesToLatin1(block)) ? "shift_jis" : "windows-1252";
};

/** JIS X 0208: kana and common kanji start with 0x81 to 0x9F, others with 0xE0 to 0xEA. Half-width kana are one byte. */
const JAPANESE = /(?:[\x81-\x9f\xe0-\xea][\x40-\x7e\x80-\xfc]|[\xa1-\xdf])+/g;
const JAPANESE_LETTER = /[\x81-\x9f\xe0-\xea][^]|[\xa1-\xdf]/g;
const COMMON_LETTER = /[\x81-\x9f][\x40-\x7e\x80-\xfc]/;
const HIGH_BYTE = /[\x80-\xff]/;
const ALL_HIGH_BYTES = /[\x80-\xff]/g;

const HALF_WIDTH_LETTERS_MIN = 4;

/** The search for words takes ten times as long as the decoder. */
const JAPANESE_SAMPLE_LENGTH = 16_384;

/**
 * Tests whether Shift_JIS words contain most of the bytes beyond ASCII, from the first one on. A word needs two letters: in
 * windows-1252 the apostrophe and the N of "O’Neil" look like one Japanese letter. A word of only half-width kana must be
 * longer, since "ÄÖÜ" looks like one.
 */
const isShiftJis = (block: ByteText): boolean => {
  const first = block.search(HIGH_BYTE);
  const bytes = block.slice(first, first + JAPANESE_SAMPLE_LENGTH);
  const count = (text: string, pattern: RegExp) => text.match(pattern)?.length ?? 0;
  let inWords = 0;
  for (const [word] of bytes.matchAll(JAPANESE)) {
    const least = COMMON_LETTER.test(word) ? 2 : HALF_WIDTH_LETTERS_MIN;
    if (count(word, JAPANESE_LETTER) >= least) inWords += count(word, ALL_HIGH_BYTES);
  }
  return inWords * 2 > count(bytes, ALL_HIGH_BYTES);
};

const ALL_BEYOND_ASCII = /[^\0-\x7f]/gu;
const REPLACED = /\ufffd/g;
