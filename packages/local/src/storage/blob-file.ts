import { randomBytes } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import { crc32 } from "node:zlib";
import {
  type BlobMetadata,
  type ByteRange,
  UnreadableBlobError,
} from "@mailproof/core/ports/blobs";

// The layout of a blob's file: its bytes, then the data that shows whether they changed.
//
//   content | CRC-32 of each block | version | bytes of content | CRC-32 of the three before | mark
//
// A range is read with the blocks it lies in, and no block is returned before its checksum is compared. The version is
// stored in the file: a file's inode and time differ in a copy, so a restored backup would lack the version that a job
// pinned.

const BLOCK_BYTES = 65_536;
const SUM_BYTES = 4;
const VERSION_BYTES = 16;
const LENGTH_BYTES = 6;
const MARK = Buffer.from("\0mailproof blob\0");
const TAIL_BYTES = VERSION_BYTES + LENGTH_BYTES + SUM_BYTES + MARK.length;

/** Computes the checksums of the written bytes, block by block. */
export const createChecksums = () => {
  const sums: number[] = [];
  let [bytes, sum] = [0, 0];
  return {
    add: (piece: Uint8Array): void => {
      for (let at = 0; at < piece.length; ) {
        const free = BLOCK_BYTES - (bytes % BLOCK_BYTES);
        const part = piece.subarray(at, at + free);
        sum = crc32(part, sum);
        bytes += part.length;
        at += part.length;
        if (bytes % BLOCK_BYTES > 0) continue;
        sums.push(sum);
        sum = 0;
      }
    },
    /** The trailer behind the content. */
    end: (): { readonly metadata: BlobMetadata; readonly footer: Buffer } => {
      if (bytes % BLOCK_BYTES > 0) sums.push(sum);
      const version = randomBytes(VERSION_BYTES);
      const record = Buffer.alloc(sums.length * SUM_BYTES + VERSION_BYTES + LENGTH_BYTES);
      for (const [at, blockSum] of sums.entries()) record.writeUInt32BE(blockSum, at * SUM_BYTES);
      version.copy(record, sums.length * SUM_BYTES);
      record.writeUIntBE(bytes, record.length - LENGTH_BYTES, LENGTH_BYTES);
      const footer = Buffer.concat([record, computeChecksum(record), MARK]);
      return { metadata: { version: version.toString("hex"), bytes }, footer };
    },
  };
};

const computeChecksum = (bytes: Uint8Array): Buffer => {
  const sum = Buffer.alloc(SUM_BYTES);
  sum.writeUInt32BE(crc32(bytes));
  return sum;
};

export type BlobRecord = BlobMetadata & {
  /** The checksum of a block, by its number. */
  readonly getChecksum: (block: number) => number;
};

/** Throws UnreadableBlobError when the end of the file is truncated or damaged. */
export const readRecord = async (handle: FileHandle): Promise<BlobRecord> => {
  const { size } = await wrapDiskErrors(handle.stat());
  const tail = await readAt(handle, Math.max(0, size - TAIL_BYTES), Math.min(size, TAIL_BYTES));
  if (size < TAIL_BYTES || !tail.subarray(-MARK.length).equals(MARK))
    throw new UnreadableBlobError("The end of a blob is cut off or damaged.");
  const bytes = tail.readUIntBE(VERSION_BYTES, LENGTH_BYTES);
  const blocks = Math.ceil(bytes / BLOCK_BYTES);
  if (bytes + blocks * SUM_BYTES + TAIL_BYTES !== size)
    throw new UnreadableBlobError(`A blob of ${bytes} bytes has a file of ${size}.`);
  const sums = await readAt(handle, bytes, blocks * SUM_BYTES);
  const record = Buffer.concat([sums, tail.subarray(0, VERSION_BYTES + LENGTH_BYTES)]);
  const sum = tail.subarray(VERSION_BYTES + LENGTH_BYTES, -MARK.length);
  if (!computeChecksum(record).equals(sum))
    throw new UnreadableBlobError("The checksums of a blob are damaged.");
  const version = tail.toString("hex", 0, VERSION_BYTES);
  return { version, bytes, getChecksum: (block) => sums.readUInt32BE(block * SUM_BYTES) };
};

/** The bytes of a range; each block's checksum is compared before any of it is returned. Closes the file. */
export async function* readBlocks(
  handle: FileHandle,
  record: BlobRecord,
  { from, to }: ByteRange,
): AsyncGenerator<Uint8Array> {
  try {
    for (let block = Math.floor(from / BLOCK_BYTES); block * BLOCK_BYTES <= to; block++) {
      const start = block * BLOCK_BYTES;
      const piece = await readAt(handle, start, Math.min(BLOCK_BYTES, record.bytes - start));
      if (crc32(piece) !== record.getChecksum(block))
        throw new UnreadableBlobError(
          `Bytes from ${start} of a blob are not as they were written.`,
        );
      yield piece.subarray(Math.max(0, from - start), to + 1 - start);
    }
  } finally {
    await handle.close();
  }
}

const readAt = async (handle: FileHandle, at: number, length: number): Promise<Buffer> => {
  const bytes = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await wrapDiskErrors(
      handle.read(bytes, filled, length - filled, at + filled),
    );
    if (bytesRead === 0) throw new UnreadableBlobError(`A blob ends at byte ${at + filled}.`);
    filled += bytesRead;
  }
  return bytes;
};

/** Errors that may pass: this process lacks resources, or the storage is slow. All others are permanent. */
const TRANSIENT_CODES: readonly unknown[] =
  "EMFILE ENFILE ENOMEM ENOBUFS EAGAIN EINTR EBUSY ETIMEDOUT ESTALE ENOTCONN EHOSTDOWN EBADF ENOENT".split(
    " ",
  );

/** Turns an error of the disk into UnreadableBlobError. */
export const wrapDiskErrors = <T>(reading: Promise<T>): Promise<T> =>
  reading.catch((cause: unknown) => {
    const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
    if (typeof code !== "string" || !/^E[A-Z0-9]+$/.test(code) || TRANSIENT_CODES.includes(code))
      throw cause;
    throw new UnreadableBlobError(`A blob cannot be read: ${code}.`, { cause });
  });
