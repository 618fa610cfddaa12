import { createHash, randomUUID } from "node:crypto";
import { existsSync, rmSync } from "node:fs";
import { type FileHandle, mkdir, open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import {
  assertBlobKey,
  type BlobFacts,
  type Blobs,
  type ByteRange,
  keptFor,
} from "@mailproof/core/blobs";
import { newChecksums, ofDisk, readBlocks, readRecord } from "./blob-file.ts";
import type { SignLink } from "./blob-links.ts";
import { flushed } from "./whole-file.ts";

const unfinishedIn = (directory: string) => join(directory, "unfinished");

/** Customers' lists: nobody else on the machine looks into them. */
const OURS = { recursive: true, mode: 0o700 };

/** Throws away what a crash left half written. For the server alone: a command may run beside it. */
export const clearUnfinished = (directory: string): void =>
  rmSync(unfinishedIn(directory), { recursive: true, force: true });

/** So the name of a file ends whose content has checksums. A file of an earlier release has none, and no ending. */
const ENDING = ".blob";

/**
 * Files in a folder. A blob appears by one rename, so nobody ever reads half of one. `openFile`: for tests of a disk
 * that fails.
 */
export const fileBlobs = (
  directory: string,
  signLink: SignLink,
  openFile: typeof open = open,
): Blobs => {
  const unfinished = unfinishedIn(directory);

  const placeOf = (key: string): string => placeIn(directory, key);
  const openAt = (key: string) => openBlob(directory, placeOf(key), openFile);

  return {
    put: async (key, content) => {
      const place = placeOf(key);
      const draft = join(unfinished, randomUUID());
      await mkdir(unfinished, OURS);
      try {
        const facts = await write(draft, content);
        const made = await mkdir(dirname(place), OURS);
        await rename(draft, place + ENDING);
        await rm(place, { force: true });
        await flushed(dirname(place));
        if (made !== undefined)
          for (const folder of [dirname(dirname(place)), directory]) await flushed(folder);
        return facts;
      } catch (error) {
        await rm(draft, { force: true });
        throw error;
      }
    },

    head: async (key) => {
      const found = await openAt(key);
      await found?.handle.close();
      return found?.facts;
    },

    get: async (key, { range, version } = {}) => {
      const found = await openAt(key);
      if (!found) return undefined;
      const { handle, facts } = found;
      if (version === undefined || version === facts.version)
        return { ...facts, content: await contentOf(found, range) };
      await handle.close();
      return undefined;
    },

    remove: async (key) => {
      const place = placeOf(key);
      await rm(place + ENDING, { force: true });
      await rm(place, { force: true });
    },

    putLink: async (key, { expiresInSeconds, bytesMax }) => {
      assertBlobKey(key);
      return signLink({ method: "PUT", key, bytesMax }, expiresInSeconds);
    },
    getLink: async (key, { expiresInSeconds, ...terms }) => {
      assertBlobKey(key);
      return signLink({ method: "GET", key, ...terms }, expiresInSeconds);
    },
  };
};

/**
 * Named by a hash: keys may differ in case only, be long, or be another key's folder, and many file systems can tell
 * none of that apart. What is kept for some days only has a folder per kind: a hash does not tell how the key began.
 */
const placeIn = (directory: string, key: string): string => {
  assertBlobKey(key);
  const name = createHash("sha256").update(key).digest("hex");
  return join(directory, keptFor(key) ?? "", name.slice(0, 2), name);
};

/** Undefined: there is no such blob. In a folder that is gone none can be looked for. */
const openBlob = async (
  directory: string,
  place: string,
  openFile: typeof open,
): Promise<OpenBlob | undefined> => {
  const handle = await orAbsent(ofDisk(openFile(place + ENDING)));
  const found = handle ?? (await orAbsent(ofDisk(openFile(place))));
  if (!found && !existsSync(directory)) throw new Error(`The folder ${directory} is gone.`);
  if (!found) return undefined;
  try {
    return handle ? await checkedBlob(handle) : await earlierBlob(found);
  } catch (error) {
    await found.close();
    throw error;
  }
};

/**
 * On the disk before it gets its name: an input that was paid for survives a power cut. While one chunk is
 * written the next is made, so a chunk that was given is not to be used again.
 */
const write = async (file: string, content: AsyncIterable<Uint8Array>): Promise<BlobFacts> => {
  const handle = await open(file, "wx", 0o600);
  try {
    const checksums = newChecksums();
    await append(handle, content, checksums.add);
    const { facts, footer } = checksums.end();
    await handle.appendFile(footer);
    await handle.sync();
    return facts;
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
      // Whether it failed is asked before the next; meanwhile it is no error that nobody looks at.
      writing.catch(() => {});
      add(chunk);
    }
  } finally {
    await writing;
  }
};

type OpenBlob = {
  readonly handle: FileHandle;
  readonly facts: BlobFacts;
  /** Closes the file when it was read. */
  readonly read: (range: ByteRange) => AsyncIterable<Uint8Array>;
};

const checkedBlob = async (handle: FileHandle): Promise<OpenBlob> => {
  const record = await readRecord(handle);
  const { version, bytes } = record;
  return {
    handle,
    facts: { version, bytes },
    read: (range) => readBlocks(handle, record, range),
  };
};

const earlierBlob = async (handle: FileHandle): Promise<OpenBlob> => ({
  handle,
  facts: await earlierFacts(handle),
  read: ({ from, to }) => handle.createReadStream({ start: from, end: to }),
});

const contentOf = async (
  { handle, facts: { bytes }, read }: OpenBlob,
  range = { from: 0, to: bytes - 1 },
): Promise<AsyncIterable<Uint8Array>> => {
  const { from, to } = range;
  if (from <= to && from >= 0 && from < bytes) return read({ from, to: Math.min(to, bytes - 1) });
  await handle.close();
  if (bytes === 0 && from === 0) return Readable.from([]);
  throw new RangeError(`bytes ${from}-${to} of ${bytes}`);
};

/** Behind the content a file of an earlier release says which put it was, by chance; it has no checksums. */
const MARK = Buffer.from("\0mailproof blob\0");
const CHANCE_BYTES = 16;
const SEAL_BYTES = MARK.length + CHANCE_BYTES;

const earlierFacts = async (handle: FileHandle): Promise<BlobFacts> => {
  const { size, ino, mtimeNs } = await handle.stat({ bigint: true });
  const bytes = Number(size) - SEAL_BYTES;
  const end = Buffer.alloc(SEAL_BYTES);
  if (bytes >= 0) await handle.read(end, 0, SEAL_BYTES, bytes);
  if (end.subarray(0, MARK.length).equals(MARK))
    return { version: end.toString("hex", MARK.length), bytes };
  // Put before there was a seal: then it is known by what the system knows of it.
  const version = `${ino.toString(36)}-${mtimeNs.toString(36)}-${size.toString(36)}`;
  return { version, bytes: Number(size) };
};

export const orAbsent = <T>(found: Promise<T>): Promise<T | undefined> =>
  found.catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
