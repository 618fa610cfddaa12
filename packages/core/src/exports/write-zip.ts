import { pipeline } from "node:stream";
import { crc32, createDeflateRaw } from "node:zlib";

export type ZipPart = { readonly name: string; readonly pieces: AsyncIterable<Uint8Array> };

/** The limit without zip64, which no spreadsheet of a million rows needs. */
const BYTES_MAX = 0xffffffff;

const VERSION = 20;
/** The sizes follow the data (APPNOTE.TXT 4.4.4, bit 3), and names are UTF-8. */
const FLAGS = 0x0808;
const DEFLATED = 8;
/** 1980-01-01, the first date of zip: equal results make equal files. */
const DATE = 0x21;

/** Yields a zip file while it is made, so memory never contains the whole file. */
export async function* writeZip(
  parts: readonly ZipPart[],
  tooLarge = "The files are too large for a zip file.",
): AsyncGenerator<Uint8Array> {
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name, pieces } of parts) {
    const header = Buffer.concat([createLocalHeader(name), Buffer.from(name)]);
    yield header;
    const counted = countBytes(pieces);
    const deflated = createDeflateRaw();
    // An error of the pieces ends the loop below; when the reader stops, the pipeline closes the pieces.
    pipeline(counted.pieces, deflated, () => {});
    let compressedBytes = 0;
    for await (const piece of deflated as AsyncIterable<Buffer>) {
      compressedBytes += piece.length;
      yield piece;
    }
    const { bytes, sum } = counted.get();
    const descriptor = createDescriptor(sum, compressedBytes, bytes);
    yield descriptor;
    directory.push(createDirectoryEntry(name, { sum, compressedBytes, bytes, offset }));
    offset += header.length + compressedBytes + descriptor.length;
    if (Math.max(offset, bytes) > BYTES_MAX) throw new Error(tooLarge);
  }
  const entries = Buffer.concat(directory);
  yield entries;
  yield createEnd(parts.length, entries.length, offset);
}

const countBytes = (source: AsyncIterable<Uint8Array>) => {
  let bytes = 0;
  let sum = 0;
  async function* count(): AsyncGenerator<Uint8Array> {
    for await (const piece of source) {
      bytes += piece.length;
      sum = crc32(piece, sum);
      yield piece;
    }
  }
  return { pieces: count(), get: () => ({ bytes, sum }) };
};

const pack = (fields: readonly (readonly [bytes: 2 | 4, value: number])[]): Buffer => {
  const buffer = Buffer.alloc(fields.reduce((sum, [bytes]) => sum + bytes, 0));
  let at = 0;
  for (const [bytes, value] of fields) at = buffer.writeUIntLE(value % (BYTES_MAX + 1), at, bytes);
  return buffer;
};

const createLocalHeader = (name: string): Buffer =>
  pack([
    [4, 0x04034b50],
    [2, VERSION],
    [2, FLAGS],
    [2, DEFLATED],
    [2, 0],
    [2, DATE],
    [4, 0],
    [4, 0],
    [4, 0],
    [2, Buffer.byteLength(name)],
    [2, 0],
  ]);

const createDescriptor = (sum: number, compressedBytes: number, bytes: number): Buffer =>
  pack([
    [4, 0x08074b50],
    [4, sum],
    [4, compressedBytes],
    [4, bytes],
  ]);

type Written = {
  readonly sum: number;
  readonly compressedBytes: number;
  readonly bytes: number;
  readonly offset: number;
};

const createDirectoryEntry = (
  name: string,
  { sum, compressedBytes, bytes, offset }: Written,
): Buffer =>
  Buffer.concat([
    pack([
      [4, 0x02014b50],
      [2, VERSION],
      [2, VERSION],
      [2, FLAGS],
      [2, DEFLATED],
      [2, 0],
      [2, DATE],
      [4, sum],
      [4, compressedBytes],
      [4, bytes],
      [2, Buffer.byteLength(name)],
      [2, 0],
      [2, 0],
      [2, 0],
      [2, 0],
      [4, 0],
      [4, offset],
    ]),
    Buffer.from(name),
  ]);

const createEnd = (count: number, bytes: number, offset: number): Buffer =>
  pack([
    [4, 0x06054b50],
    [2, 0],
    [2, 0],
    [2, count],
    [2, count],
    [4, bytes],
    [4, offset],
    [2, 0],
  ]);
