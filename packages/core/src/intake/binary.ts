/** The formats that are often renamed to .csv: office files, which are zip or OLE files, PDF, archives. */
const MAGIC_NUMBERS: readonly (readonly number[])[] = [
  [0x50, 0x4b, 0x03, 0x04], // zip, .xlsx, .ods
  [0x50, 0x4b, 0x05, 0x06], // a zip with nothing in it
  [0xd0, 0xcf, 0x11, 0xe0], // .xls
  [0x1f, 0x8b], // gzip
  [0x25, 0x50, 0x44, 0x46, 0x2d], // PDF
];

// Of random bytes 10 in 100 are control characters; of text hardly any are.
const CONTROL_CHARACTERS = /(?!\s)\p{Cc}/gu;
const CONTROL_SHARE_MAX = 0.05;
// DOS ends files with one, and a short list has few characters.
const CONTROLS_ALLOWED = 4;
const NUL_SHARE_MAX = 0.5;

/** `text` is the decoded head without its NUL characters. */
export const isBinary = (head: Uint8Array, text: string): boolean =>
  MAGIC_NUMBERS.some((magic) => magic.every((byte, index) => head[index] === byte)) ||
  // UTF-16 has a NUL in every second byte at the most.
  head.filter((byte) => byte === 0).length > head.length * NUL_SHARE_MAX ||
  (text.match(CONTROL_CHARACTERS)?.length ?? 0) >
    Math.max(CONTROLS_ALLOWED, text.length * CONTROL_SHARE_MAX);
