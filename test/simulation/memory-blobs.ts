import {
  assertBlobKey,
  type Blobs,
  concatBlobs,
  UnreadableBlobError,
} from "@mailproof/core/ports/blobs";
import { singleChunk } from "@mailproof/functions/single-chunk";

export type MemoryBlobs = Blobs & {
  readonly keys: () => string[];
  /** From now on this byte cannot be read, as on a broken disk. */
  readonly damage: (key: string, at: number) => void;
};

/** Links are made but lead nowhere: nothing in a simulation follows one. */
export const createMemoryBlobs = (): MemoryBlobs => {
  const stored = new Map<string, { bytes: Buffer; version: string; damaged: readonly number[] }>();
  let versions = 0;

  const getMetadata = (key: string) => {
    assertBlobKey(key);
    const found = stored.get(key);
    return found && { version: found.version, bytes: found.bytes.length };
  };

  const blobs: MemoryBlobs = {
    keys: () => [...stored.keys()],

    damage: (key, at) => {
      const found = stored.get(key);
      if (!found) return;
      stored.set(key, { ...found, damaged: [...found.damaged, at] });
    },

    put: async (key, content) => {
      assertBlobKey(key);
      const bytes = Buffer.concat(await Array.fromAsync(content));
      const version = `v${++versions}`;
      stored.set(key, { bytes, version, damaged: [] });
      return { version, bytes: bytes.length };
    },

    head: async (key) => getMetadata(key),

    get: async (key, { range, version } = {}) => {
      const metadata = getMetadata(key);
      const found = stored.get(key);
      if (!metadata || !found || (version !== undefined && version !== metadata.version))
        return undefined;
      const { from, to } = range ?? { from: 0, to: metadata.bytes - 1 };
      if (range && (from < 0 || from > to || from >= metadata.bytes))
        throw new RangeError(`bytes ${from}-${to} of ${metadata.bytes}`);
      if (found.damaged.some((at) => at >= from && at <= to))
        throw new UnreadableBlobError(`${key} is damaged`);
      return { ...metadata, content: singleChunk(found.bytes.subarray(from, to + 1)) };
    },

    remove: async (key) => void stored.delete(key),
    join: (key, parts) => blobs.put(key, concatBlobs(blobs, parts)),
    presignPut: async (key, { expiresInSeconds }) => ({
      url: `memory:put/${key}?for=${expiresInSeconds}`,
      expiresInSeconds,
    }),
    presignGet: async (key, { expiresInSeconds }) => ({
      url: `memory:get/${key}?for=${expiresInSeconds}`,
      expiresInSeconds,
    }),
  };
  return blobs;
};
