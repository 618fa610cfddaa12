import { detectUtf16 } from "./list-decoder.ts";

/** Formats that people often rename to .csv: office files, which are zip or OLE files, PDF, archives. */
const MAGIC_NUMBERS: readonly (readonly number[])[] = [
  [0x50, 0x4b, 0x03, 0x04], // zip, .xlsx, .ods
  [0x50, 0x4b, 0x05, 0x06], // an empty zip
  [0xd0, 0xcf, 0x11, 0xe0], // .xls
  [0x1f, 0x8b], // gzip
  [0x25, 0x50, 0x44, 0x46, 0x2d], // PDF
];

// Ten percent of random bytes are control characters; text contains hardly any.
const CONTROL_CHARACTERS = /(?!\s)\p{Cc}/gu;
const CONTROL_SHARE_MAX = 0.05;
// DOS ends files with a control character, and a short list has few characters.
const CONTROLS_ALLOWED = 4;
const NUL_SHARE_MAX = 0.5;

const SAMPLE_BYTES = 16_384;
const SPACE = 0x20;
const WHITE_SPACE: ReadonlySet<number> = new Set([0x09, 0x0a, 0x0b, 0x0c, 0x0d]);

/** Reads only bytes, before any decoding: a binary file must not cost as much time as a list. */
export const isBinaryFile = (head: Uint8Array): boolean => {
  if (MAGIC_NUMBERS.some((magic) => magic.every((byte, index) => head[index] === byte)))
    return true;
  const sample = head.subarray(0, SAMPLE_BYTES);
  let nuls = 0;
  let controls = 0;
  for (const byte of sample) {
    if (byte === 0) nuls += 1;
    else if (byte < SPACE && !WHITE_SPACE.has(byte)) controls += 1;
  }
  // In UTF-16 at most every second byte is NUL.
  if (nuls > sample.length * NUL_SHARE_MAX) return true;
  return detectUtf16(head) === null && isTooMany(controls, sample.length);
};

/** `text` is the decoded head without its NUL characters. */
export const isBinaryText = (text: string): boolean =>
  isTooMany(text.match(CONTROL_CHARACTERS)?.length ?? 0, text.length);

const isTooMany = (controls: number, length: number): boolean =>
  controls > Math.max(CONTROLS_ALLOWED, length * CONTROL_SHARE_MAX);
