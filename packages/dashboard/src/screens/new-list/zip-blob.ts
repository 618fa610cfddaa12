import {
  createDamagedFault,
  createTooLargeFault,
  fromZipFault,
  SpreadsheetFault,
} from "@mailproof/core/intake/spreadsheet/fault";
import type { ZipFile } from "@mailproof/core/intake/spreadsheet/zip";
import {
  assertReadable,
  findZipData,
  findZipDirectory,
  LOCAL_HEADER_BYTES,
  parseZipDirectory,
  STORED,
  ZIP_TAIL_BYTES,
  type ZipEntry,
  ZipFault,
} from "@mailproof/core/lib/zip-directory";
import { readStream } from "./read-stream.ts";

const readBytes = async (file: Blob, from: number, to: number): Promise<Uint8Array> => {
  const bytes = new Uint8Array(await file.slice(from, to).arrayBuffer());
  if (bytes.length < to - from) throw createDamagedFault("it ends too early");
  return bytes;
};

const withFaults = <T>(read: () => T): T => {
  try {
    return read();
  } catch (error) {
    throw error instanceof ZipFault ? fromZipFault(error) : error;
  }
};

const findData = async (file: Blob, offset: number): Promise<number> =>
  findZipData(offset, await readBytes(file, offset, offset + LOCAL_HEADER_BYTES));

async function* readEntry(
  file: Blob,
  name: string,
  entry: ZipEntry,
  bytesMax: number,
): AsyncGenerator<Uint8Array> {
  const { method, compressedBytes, offset } = entry;
  withFaults(() => assertReadable(name, entry));
  const start = await findData(file, offset);
  const stored = file.slice(start, start + compressedBytes).stream();
  const stream =
    method === STORED ? stored : stored.pipeThrough(new DecompressionStream("deflate-raw"));
  let bytes = 0;
  try {
    for await (const piece of readStream(stream)) {
      bytes += piece.length;
      if (bytes > bytesMax) throw createTooLargeFault(name);
      yield piece;
    }
  } catch (error) {
    throw error instanceof SpreadsheetFault ? error : createDamagedFault(name);
  }
}

export const openZipBlob = async (file: Blob): Promise<ZipFile> => {
  const tail = await readBytes(file, Math.max(0, file.size - ZIP_TAIL_BYTES), file.size);
  const { from, to } = withFaults(() => findZipDirectory(tail));
  const directory = await readBytes(file, from, to);
  const entries = withFaults(() => parseZipDirectory(directory));
  return {
    has: (name) => entries.has(name),
    read: (name, bytesMax) => {
      const entry = entries.get(name);
      if (!entry) throw createDamagedFault(`${name} is missing`);
      return readEntry(file, name, entry, bytesMax);
    },
  };
};
