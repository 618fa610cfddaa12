import { createHash, randomBytes, randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { type FileHandle, mkdir, open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { assertBlobKey, type BlobFacts, type Blobs, keptFor } from "@mailproof/core/blobs";
import type { SignLink } from "./blob-links.ts";
import { flushed } from "./whole-file.ts";

const unfinishedIn = (directory: string) => join(directory, "unfinished");

/** Customers' lists: nobody else on the machine looks into them. */
const OURS = { recursive: true, mode: 0o700 };

/** Throws away what a crash left half written. For the server alone: a command may run beside it. */
export const clearUnfinished = (directory: string): void =>
  rmSync(unfinishedIn(directory), { recursive: true, force: true });

/** Files in a folder. A blob appears by one rename, so nobody ever reads half of one. */
export const fileBlobs = (directory: string, signLink: SignLink): Blobs => {
  const unfinished = unfinishedIn(directory);

  // Named by a hash: keys may differ in case only, be long, or be another key's folder, and many file
  // systems can tell none of that apart. What is kept for some days only has a folder per kind: a hash does not
  // tell how the key began.
  const placeOf = (key: string): string => {
    assertBlobKey(key);
    const name = createHash("sha256").update(key).digest("hex");
    return join(directory, keptFor(key) ?? "", name.slice(0, 2), name);
  };

  return {
    put: async (key, content) => {
      const place = placeOf(key);
      const draft = join(unfinished, randomUUID());
      await mkdir(unfinished, OURS);
      try {
        const facts = await write(draft, content);
        const made = await mkdir(dirname(place), OURS);
        await rename(draft, place);
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
      const handle = await orAbsent(open(placeOf(key)));
      if (!handle) return undefined;
      try {
        return await factsOf(handle);
      } finally {
        await handle.close();
      }
    },

    get: async (key, { range, version } = {}) => {
      const handle = await orAbsent(open(placeOf(key)));
      if (!handle) return undefined;
      const facts = await factsOf(handle);
      if (version !== undefined && version !== facts.version) {
        await handle.close();
        return undefined;
      }
      return { ...facts, content: await contentOf(handle, facts.bytes, range) };
    },

    remove: (key) => rm(placeOf(key), { force: true }),

    putLink: async (key, { expiresInSeconds, bytesMax }) => {
      assertBlobKey(key);
      return signLink({ method: "PUT", key, bytesMax }, expiresInSeconds);
    },
    getLink: async (key, { expiresInSeconds, fileName, contentType }) => {
      assertBlobKey(key);
      return signLink({ method: "GET", key, fileName, contentType }, expiresInSeconds);
    },
  };
};

/**
 * On the disk before it gets its name: an input that was paid for survives a power cut. While one chunk is
 * written the next is made, so a chunk that was given is not to be used again.
 */
const write = async (file: string, content: AsyncIterable<Uint8Array>): Promise<BlobFacts> => {
  const handle = await open(file, "wx+", 0o600);
  try {
    await append(handle, content);
    await handle.appendFile(newSeal());
    await handle.sync();
    return await factsOf(handle);
  } finally {
    await handle.close();
  }
};

const append = async (handle: FileHandle, content: AsyncIterable<Uint8Array>): Promise<void> => {
  let writing = Promise.resolve();
  try {
    for await (const chunk of content) {
      await writing;
      writing = handle.appendFile(chunk);
      // Whether it failed is asked before the next; meanwhile it is no error that nobody looks at.
      writing.catch(() => {});
    }
  } finally {
    await writing;
  }
};

const contentOf = async (
  handle: FileHandle,
  bytes: number,
  range = { from: 0, to: bytes - 1 },
): Promise<AsyncIterable<Uint8Array>> => {
  const { from, to } = range;
  if (from <= to && from >= 0 && from < bytes)
    return handle.createReadStream({ start: from, end: Math.min(to, bytes - 1) });
  await handle.close();
  if (bytes === 0 && from === 0) return Readable.from([]);
  throw new RangeError(`bytes ${from}-${to} of ${bytes}`);
};

/**
 * Behind the content stands which put it was, by chance. Whatever the system knows of a file (its number, its time)
 * is another in a copy, and what a job pinned would be gone from every restored backup.
 */
const MARK = Buffer.from("\0mailproof blob\0");
const CHANCE_BYTES = 16;
const SEAL_BYTES = MARK.length + CHANCE_BYTES;

const newSeal = (): Buffer => Buffer.concat([MARK, randomBytes(CHANCE_BYTES)]);

const factsOf = async (handle: FileHandle): Promise<BlobFacts> => {
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
