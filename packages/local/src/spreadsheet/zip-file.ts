import { closeSync, createReadStream, fstatSync, openSync, readSync } from "node:fs";
import { crc32, createInflateRaw } from "node:zlib";
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

export const openZip = (path: string): ZipFile => {
  const entries = withFaults(() => readDirectory(path));
  return {
    has: (name) => entries.has(name),
    read: (name, bytesMax) => {
      const entry = entries.get(name);
      if (!entry) throw createDamagedFault(`${name} is missing`);
      return readEntry(path, name, entry, bytesMax);
    },
  };
};

const withFaults = <T>(read: () => T): T => {
  try {
    return read();
  } catch (error) {
    throw error instanceof ZipFault ? fromZipFault(error) : error;
  }
};

const readDirectory = (path: string): ReadonlyMap<string, ZipEntry> => {
  const handle = openSync(path, "r");
  try {
    const { size } = fstatSync(handle);
    const tail = readBytes(handle, Math.max(0, size - ZIP_TAIL_BYTES), size);
    const { from, to } = findZipDirectory(tail);
    return parseZipDirectory(readBytes(handle, from, to));
  } finally {
    closeSync(handle);
  }
};

const readBytes = (handle: number, from: number, to: number): Buffer => {
  const bytes = Buffer.alloc(to - from);
  const read = readSync(handle, bytes, 0, bytes.length, from);
  if (read < bytes.length) throw createDamagedFault("it ends too early");
  return bytes;
};

async function* readEntry(
  path: string,
  name: string,
  entry: ZipEntry,
  bytesMax: number,
): AsyncGenerator<Uint8Array> {
  const { method, crc, compressedBytes, offset } = entry;
  withFaults(() => assertReadable(name, entry));
  if (compressedBytes === 0) return;
  const start = findData(path, offset);
  const source = createReadStream(path, { start, end: start + compressedBytes - 1 });
  const stream = method === STORED ? source : source.pipe(createInflateRaw());
  source.on("error", (error) => stream.destroy(error));
  let bytes = 0;
  let sum = 0;
  try {
    for await (const piece of stream as AsyncIterable<Buffer>) {
      bytes += piece.length;
      if (bytes > bytesMax) throw createTooLargeFault(name);
      sum = crc32(piece, sum);
      yield piece;
    }
  } catch (error) {
    throw error instanceof SpreadsheetFault ? error : createDamagedFault(name);
  } finally {
    source.destroy();
    stream.destroy();
  }
  if (sum !== crc) throw createDamagedFault(`${name}: wrong checksum`);
}

const findData = (path: string, offset: number): number => {
  const handle = openSync(path, "r");
  try {
    return findZipData(offset, readBytes(handle, offset, offset + LOCAL_HEADER_BYTES));
  } finally {
    closeSync(handle);
  }
};
