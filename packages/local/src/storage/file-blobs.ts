import { createHash, randomUUID } from "node:crypto";
import { existsSync, rmSync } from "node:fs";
import { type FileHandle, mkdir, open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import {
  assertBlobKey,
  type BlobMetadata,
  type Blobs,
  type ByteRange,
  concatBlobs,
  findRetentionPrefix,
} from "@mailproof/core/ports/blobs";
import { flushToDisk } from "./atomic-file.ts";
import { createChecksums, readBlocks, readRecord, wrapDiskErrors } from "./blob-file.ts";
import type { SignLink } from "./blob-links.ts";

const getUnfinishedFolder = (directory: string) => join(directory, "unfinished");

/** Customers' lists: other users of the machine cannot read them. */
const PRIVATE_FOLDER = { recursive: true, mode: 0o700 };

/** Removes incomplete files that a crash left. Only the server calls it: a command may run beside a server. */
export const clearUnfinished = (directory: string): void =>
  rmSync(getUnfinishedFolder(directory), { recursive: true, force: true });

/**
 * Files in a folder. A blob appears by one rename, so no reader gets half of one. `openFile`: tests inject a failing
 * disk.
 */
export const createFileBlobs = (
  directory: string,
  signLink: SignLink,
  openFile: typeof open = open,
): Blobs => {
  const unfinished = getUnfinishedFolder(directory);

  const getPath = (key: string): string => getBlobPath(directory, key);
  const openByKey = (key: string) => openBlob(directory, getPath(key), openFile);

  const blobs: Blobs = {
    put: async (key, content) => {
      const path = getPath(key);
      const draft = join(unfinished, randomUUID());
      await mkdir(unfinished, PRIVATE_FOLDER);
      try {
        const metadata = await writeBlobFile(draft, content);
        const made = await mkdir(dirname(path), PRIVATE_FOLDER);
        await rename(draft, path);
        await flushToDisk(dirname(path));
        if (made !== undefined)
          for (const folder of [dirname(dirname(path)), directory]) await flushToDisk(folder);
        return metadata;
      } catch (error) {
        await rm(draft, { force: true });
        throw error;
      }
    },

    head: async (key) => {
      const found = await openByKey(key);
      await found?.handle.close();
      return found?.metadata;
    },

    get: async (key, { range, version } = {}) => {
      const found = await openByKey(key);
      if (!found) return undefined;
      const { handle, metadata } = found;
      if (version === undefined || version === metadata.version)
        return { ...metadata, content: await readContent(found, range) };
      await handle.close();
      return undefined;
    },

    remove: (key) => rm(getPath(key), { force: true }),

    join: (key, parts) => blobs.put(key, concatBlobs(blobs, parts)),

    presignPut: async (key, { expiresInSeconds, ...terms }) => {
      assertBlobKey(key);
      const url = signLink({ method: "PUT", key, ...terms }, expiresInSeconds);
      return { url, expiresInSeconds };
    },
    presignGet: async (key, { expiresInSeconds, ...terms }) => {
      assertBlobKey(key);
      const url = signLink({ method: "GET", key, ...terms }, expiresInSeconds);
      return { url, expiresInSeconds };
    },
  };
  return blobs;
};

/**
 * A file is named by a hash: keys may differ only in case, be long, or be another key's folder, and many file systems
 * cannot distinguish these. Blobs with a retention have a folder per kind, because a hash does not show the prefix.
 */
const getBlobPath = (directory: string, key: string): string => {
  assertBlobKey(key);
  const name = createHash("sha256").update(key).digest("hex");
  return join(directory, findRetentionPrefix(key) ?? "", name.slice(0, 2), `${name}.blob`);
};

/** The path of a blob below MAILPROOF_DIR, for an operator. */
export const getBlobFile = (key: string): string => getBlobPath("blobs", key);

/** Undefined when the blob is missing. Throws when the whole folder is missing. */
const openBlob = async (
  directory: string,
  path: string,
  openFile: typeof open,
): Promise<OpenBlob | undefined> => {
  const handle = await ignoreMissing(wrapDiskErrors(openFile(path)));
  if (!handle && !existsSync(directory)) throw new Error(`The folder ${directory} is gone.`);
  if (!handle) return undefined;
  try {
    return await openCheckedBlob(handle);
  } catch (error) {
    await handle.close();
    throw error;
  }
};

/**
 * The file is on the disk before it gets its name: a paid input survives a power cut. While one chunk is written the
 * source makes the next, so the source must not reuse a chunk.
 */
const writeBlobFile = async (
  file: string,
  content: AsyncIterable<Uint8Array>,
): Promise<BlobMetadata> => {
  const handle = await open(file, "wx", 0o600);
  try {
    const checksums = createChecksums();
    await append(handle, content, checksums.add);
    const { metadata, footer } = checksums.end();
    await handle.appendFile(footer);
    await handle.sync();
    return metadata;
  } finally {
    await handle.close();
  }
};

const append = async (
  handle: FileHandle,
  content: AsyncIterable<Uint8Array>,
  add: (piece: Uint8Array) => void,
): Promise<void> => {
  let writing = Promise.resolve();
  try {
    for await (const chunk of content) {
      await writing;
      writing = handle.appendFile(chunk);
      // A failure is checked before the next write; until then it must not count as an unhandled rejection.
      writing.catch(() => {});
      add(chunk);
    }
  } finally {
    await writing;
  }
};

type OpenBlob = {
  readonly handle: FileHandle;
  readonly metadata: BlobMetadata;
  /** Closes the file after the last byte is read. */
  readonly read: (range: ByteRange) => AsyncIterable<Uint8Array>;
};

const openCheckedBlob = async (handle: FileHandle): Promise<OpenBlob> => {
  const record = await readRecord(handle);
  const { version, bytes } = record;
  return {
    handle,
    metadata: { version, bytes },
    read: (range) => readBlocks(handle, record, range),
  };
};

const readContent = async (
  { handle, metadata: { bytes }, read }: OpenBlob,
  range = { from: 0, to: bytes - 1 },
): Promise<AsyncIterable<Uint8Array>> => {
  const { from, to } = range;
  if (from <= to && from >= 0 && from < bytes) return read({ from, to: Math.min(to, bytes - 1) });
  await handle.close();
  if (bytes === 0 && from === 0) return Readable.from([]);
  throw new RangeError(`bytes ${from}-${to} of ${bytes}`);
};

export const ignoreMissing = <T>(found: Promise<T>): Promise<T | undefined> =>
  found.catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
