import { crc32 } from "node:zlib";
import { isAscii } from "@mailproof/mail/syntax";
import { type BlobMetadata, type Blobs, UnreadableBlobError } from "../ports/blobs.ts";
import type { ByteText } from "./byte-text.ts";

// The input of a job: one blob, a line of JSON per address. A chunk is a fixed number of lines. The job stores the offset of
// each chunk, so that a worker reads only its own lines.

/**
 * `row` is the number of the record in the file, or the position in the batch, both from 1. `cells` are the cells of the other
 * columns, for the export.
 */
export type InputRow = readonly [row: number, email: string, ...cells: string[]];

export type EncodedRow = readonly [row: number, email: ByteText, ...cells: ByteText[]];

export type InputBlob = BlobMetadata & { readonly key: string };

/** The byte offset of each chunk, then the offset of the end. */
export type ChunkOffsets = readonly number[];

/** The CRC-32 of each chunk's bytes, which detects damage when a reader reads only a part of the blob. */
export type ChunkChecksums = readonly number[];

/** A range of bytes, `to` excluded. `checksum`: the CRC-32 of these bytes. */
export type InputSlice = {
  readonly from: number;
  readonly to: number;
  readonly checksum: number;
};

export type WrittenInput = {
  readonly input: InputBlob;
  readonly chunks: ChunkOffsets;
  readonly checksums: ChunkChecksums;
  readonly isAscii: boolean;
};

/** Holds one block in memory at a time, or the longest row. */
export const writeInput = async (
  blobs: Pick<Blobs, "put">,
  key: string,
  rows: AsyncIterable<readonly EncodedRow[]>,
  rowsPerChunk: number,
): Promise<WrittenInput> => {
  const index: InputIndex = { chunks: [], checksums: [], isAscii: true };
  const metadata = await blobs.put(key, toInputBlocks(rows, rowsPerChunk, index));
  return { input: { key, ...metadata }, ...index };
};

export const toSlices = ({ chunks, checksums }: InputLayout): readonly InputSlice[] =>
  checksums.map((checksum, at) => ({ from: chunks[at] ?? 0, to: chunks[at + 1] ?? 0, checksum }));

/** Undefined when this version of the blob no longer exists. Throws UnreadableBlobError when the blob is damaged. */
export const readChunk = async (
  blobs: Pick<Blobs, "get">,
  { key, version }: Pick<InputBlob, "key" | "version">,
  slice: InputSlice,
): Promise<readonly InputRow[] | undefined> => {
  const { from, to } = slice;
  const found = await blobs.get(key, { version, range: { from, to: to - 1 } });
  if (!found) return undefined;
  for await (const bytes of splitChunks(found.content, [slice])) return parseRows(bytes);
  return [];
};

/** Reads some rows of a chunk by their numbers and holds no other row: a chunk may have as many bytes as its file. */
export const readRows = async (
  blobs: Pick<Blobs, "get">,
  { key, version }: Pick<InputBlob, "key" | "version">,
  { from, to, checksum }: InputSlice,
  wanted: ReadonlySet<number>,
): Promise<readonly InputRow[]> => {
  const found = await blobs.get(key, { version, range: { from, to: to - 1 } });
  const rows: InputRow[] = [];
  let line: Uint8Array[] = [];
  let sum = 0;
  for await (const piece of found?.content ?? []) {
    sum = crc32(piece, sum);
    let start = 0;
    for (let end = piece.indexOf(LINE_END); end >= 0; end = piece.indexOf(LINE_END, start)) {
      line.push(piece.subarray(start, end));
      const text = Buffer.concat(line);
      // A line is "[", the number of the row, and its texts.
      if (wanted.has(Number.parseInt(text.toString("latin1", 1, ROW_DIGITS_END), 10)))
        rows.push(JSON.parse(text.toString()) as InputRow);
      line = [];
      start = end + 1;
    }
    if (start < piece.length) line.push(Buffer.from(piece.subarray(start)));
  }
  if (found) assertSum(sum, { from, to, checksum });
  return rows;
};

const LINE_END = 0x0a;
const ROW_DIGITS_END = 12;

type InputLayout = { readonly chunks: ChunkOffsets; readonly checksums: ChunkChecksums };

export const isInputReadable = async (
  blobs: Pick<Blobs, "get">,
  { key, version }: Pick<InputBlob, "key" | "version">,
  layout: InputLayout,
): Promise<boolean> => {
  try {
    const found = await blobs.get(key, { version });
    for await (const _ of splitChunks(found?.content ?? [], toSlices(layout))) continue;
    return found !== undefined;
  } catch (error) {
    if (error instanceof UnreadableBlobError) return false;
    throw error;
  }
};

export const readInput = async (
  blobs: Pick<Blobs, "get">,
  { key, version }: Pick<InputBlob, "key" | "version">,
  layout: InputLayout,
  firstChunk = 0,
): Promise<AsyncIterable<readonly InputRow[]> | undefined> => {
  const slices = toSlices(layout).slice(firstChunk);
  const [from, to] = [slices[0]?.from ?? 0, (slices.at(-1)?.to ?? 0) - 1];
  const found = await blobs.get(key, { version, ...(from > 0 && { range: { from, to } }) });
  return found && readRowsOfChunks(splitChunks(found.content, slices));
};

async function* readRowsOfChunks(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<readonly InputRow[]> {
  for await (const bytes of chunks) yield parseRows(bytes);
}

type InputIndex = { readonly chunks: number[]; readonly checksums: number[]; isAscii: boolean };

const BLOCK_BYTES = 65_536;

async function* toInputBlocks(
  rows: AsyncIterable<readonly EncodedRow[]>,
  rowsPerChunk: number,
  index: InputIndex,
): AsyncGenerator<Uint8Array> {
  let block = Buffer.allocUnsafe(BLOCK_BYTES);
  let [filled, before, count] = [0, 0, 0];
  let [summed, checksum] = [0, 0];
  const sum = () => {
    checksum = crc32(block.subarray(summed, filled), checksum);
    summed = filled;
  };
  for await (const some of rows) {
    for (const row of some) {
      // JSON.stringify escapes only ASCII characters, so the JSON of byte text is byte text.
      const line = `${JSON.stringify(row)}\n`;
      if (filled + line.length > BLOCK_BYTES) {
        sum();
        if (filled > 0) yield block.subarray(0, filled);
        before += filled;
        filled = 0;
        summed = 0;
        // A new block each time, because a multipart upload still holds earlier blocks.
        block = Buffer.allocUnsafe(Math.max(BLOCK_BYTES, line.length));
      }
      if (count % rowsPerChunk === 0) {
        sum();
        if (count > 0) index.checksums.push(checksum);
        checksum = 0;
        index.chunks.push(before + filled);
      }
      filled += block.write(line, filled, "latin1");
      index.isAscii &&= isAscii(line);
      count += 1;
    }
  }
  sum();
  if (count > 0) index.checksums.push(checksum);
  if (filled > 0) yield block.subarray(0, filled);
  index.chunks.push(before + filled);
}

/** Yields the bytes of each slice. The slices are contiguous from the start of the content. */
async function* splitChunks(
  content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  slices: readonly InputSlice[],
): AsyncGenerator<Uint8Array> {
  let [next, at] = [0, slices[0]?.from ?? 0];
  let parts: Uint8Array[] = [];
  for await (const piece of content) {
    let unread = piece;
    for (
      let slice = slices[next];
      slice !== undefined && at + unread.length >= slice.to;
      slice = slices[next]
    ) {
      parts.push(unread.subarray(0, slice.to - at));
      unread = unread.subarray(slice.to - at);
      at = slice.to;
      next += 1;
      const bytes = Buffer.concat(parts);
      assertChecksum(bytes, slice);
      yield bytes;
      parts = [];
    }
    at += unread.length;
    if (unread.length > 0) parts.push(unread);
  }
  if (next < slices.length)
    throw new UnreadableBlobError(`An input ends at byte ${at}, too early.`);
}

const assertChecksum = (bytes: Uint8Array, slice: InputSlice): void =>
  assertSum(crc32(bytes), slice);

const assertSum = (sum: number, { from, to, checksum }: InputSlice): void => {
  if (sum !== checksum)
    throw new UnreadableBlobError(
      `Bytes ${from} to ${to} of an input differ from the bytes that were written.`,
    );
};

/** JSON strings contain no raw line breaks, so line ends can become commas: one parse is faster than many. */
const parseRows = (bytes: Uint8Array): readonly InputRow[] => {
  const lines = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
  return JSON.parse(`[${lines.slice(0, -1).replaceAll("\n", ",")}]`) as readonly InputRow[];
};
