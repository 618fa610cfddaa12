import type { BlobFacts, Blobs } from "../blobs.ts";
import { isAscii } from "../mail/syntax.ts";
import type { ByteText } from "./byte-text.ts";

// What a job is to verify: one object, a line of JSON for each address. A chunk is so many lines, and the job
// keeps where each begins, so that a worker reads its own lines and no others.

/**
 * `row` is the number of the record in the file, or the place in the batch, from 1 in both. The cells are those
 * of the other columns, for the export.
 */
export type InputRow = readonly [row: number, email: string, ...cells: string[]];

/** As it is written. */
export type WrittenRow = readonly [row: number, email: ByteText, ...cells: ByteText[]];

export type InputBlob = BlobFacts & { readonly key: string };

/** The byte at which each chunk begins, and in the end the one behind the last. */
export type Chunks = readonly number[];

/** The bytes from one to before another. */
export type Slice = { readonly from: number; readonly to: number };

export type WrittenInput = {
  readonly input: InputBlob;
  readonly chunks: Chunks;
  /** No letter of it is beyond ASCII. */
  readonly isAscii: boolean;
};

/** Holds a block of it at a time, or the longest row. */
export const writeInput = async (
  blobs: Pick<Blobs, "put">,
  key: string,
  rows: AsyncIterable<readonly WrittenRow[]>,
  rowsPerChunk: number,
): Promise<WrittenInput> => {
  const noted: Noted = { chunks: [], isAscii: true };
  const facts = await blobs.put(key, blocksOf(rows, rowsPerChunk, noted));
  return { input: { key, ...facts }, ...noted };
};

export const slicesOf = (chunks: Chunks): readonly Slice[] =>
  chunks.slice(1).map((to, index) => ({ from: chunks[index] ?? 0, to }));

/** Undefined where these very bytes are no longer there. */
export const readChunk = async (
  blobs: Pick<Blobs, "get">,
  { key, version }: Pick<InputBlob, "key" | "version">,
  { from, to }: Slice,
): Promise<readonly InputRow[] | undefined> => {
  const found = await blobs.get(key, { version, range: { from, to: to - 1 } });
  if (!found) return undefined;
  for await (const rows of chunksIn(found.content, [from, to])) return rows;
  return [];
};

/** All of it in one stream, chunk by chunk. */
export const readInput = async (
  blobs: Pick<Blobs, "get">,
  { key, version }: Pick<InputBlob, "key" | "version">,
  chunks: Chunks,
): Promise<AsyncIterable<readonly InputRow[]> | undefined> => {
  const found = await blobs.get(key, { version });
  return found && chunksIn(found.content, chunks);
};

/** What is learnt of an input while it is written. */
type Noted = { readonly chunks: number[]; isAscii: boolean };

const BLOCK_BYTES = 65_536;

async function* blocksOf(
  rows: AsyncIterable<readonly WrittenRow[]>,
  rowsPerChunk: number,
  noted: Noted,
): AsyncGenerator<Uint8Array> {
  let block = Buffer.allocUnsafe(BLOCK_BYTES);
  let [filled, before, count] = [0, 0, 0];
  for await (const some of rows) {
    for (const row of some) {
      // JSON escapes nothing beyond ASCII, so what it makes of bytes is bytes.
      const line = `${JSON.stringify(row)}\n`;
      if (filled + line.length > BLOCK_BYTES) {
        if (filled > 0) yield block.subarray(0, filled);
        before += filled;
        filled = 0;
        // Never the same again: whoever uploads in parts keeps some.
        block = Buffer.allocUnsafe(Math.max(BLOCK_BYTES, line.length));
      }
      if (count % rowsPerChunk === 0) noted.chunks.push(before + filled);
      filled += block.write(line, filled, "latin1");
      noted.isAscii &&= isAscii(line);
      count += 1;
    }
  }
  if (filled > 0) yield block.subarray(0, filled);
  noted.chunks.push(before + filled);
}

async function* chunksIn(
  content: AsyncIterable<Uint8Array>,
  chunks: Chunks,
): AsyncGenerator<readonly InputRow[]> {
  let [next, at] = [1, chunks[0] ?? 0];
  let parts: Uint8Array[] = [];
  for await (const piece of content) {
    let rest = piece;
    for (let end = chunks[next]; end !== undefined && at + rest.length >= end; end = chunks[next]) {
      parts.push(rest.subarray(0, end - at));
      rest = rest.subarray(end - at);
      at = end;
      next += 1;
      yield rowsIn(Buffer.concat(parts).toString());
      parts = [];
    }
    at += rest.length;
    if (rest.length > 0) parts.push(rest);
  }
  if (next < chunks.length) throw new Error(`An input broke off at byte ${at}.`);
}

/** JSON has no line breaks within a text, so those of the lines can become commas: one parse is faster than many. */
const rowsIn = (lines: string): readonly InputRow[] =>
  JSON.parse(`[${lines.slice(0, -1).replaceAll("\n", ",")}]`) as readonly InputRow[];
