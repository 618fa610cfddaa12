import * as v from "valibot";
import { type BlobMetadata, type Blobs, UnreadableBlobError } from "../ports/blobs.ts";
import type { ByteText } from "./byte-text.ts";

// The rows of a list that are not verified: one blob with a line of JSON per row, in the order of the list. The intake writes
// it next to the job's input while it reads the list, and only if such a row exists.

export const ExcludedBlob = v.object({ key: v.string(), version: v.string(), rows: v.number() });
export type ExcludedBlob = Readonly<v.InferOutput<typeof ExcludedBlob>>;

/** `why`: the row that this row repeats, or the code of the fault in its e-mail cell. The cells are all cells of the row, unchanged. */
export type ExcludedRow = readonly [row: number, why: number | string, ...cells: string[]];

export const toExcludedKey = (inputKey: string): string => `${inputKey}.excluded`;

export type EncodedExcludedRow = readonly [row: number, why: number | string, ...cells: ByteText[]];

export type ExcludedWriter = {
  /** Waits until the store has read the previous rows, so that memory holds few rows. */
  readonly write: (rows: readonly EncodedExcludedRow[]) => Promise<void>;
  /** Null when no row was excluded, so nothing was written. */
  readonly end: () => Promise<ExcludedBlob | null>;
  readonly abort: () => Promise<void>;
};

export const createExcludedWriter = (blobs: Pick<Blobs, "put">, key: string): ExcludedWriter => {
  const pipe = createPipe();
  let rows = 0;
  let put: Promise<BlobMetadata> | undefined;
  const beginPut = () => {
    const promise = blobs.put(key, pipe.content());
    // The next write, or `end`, reports the failure.
    promise.catch(() => {});
    return promise;
  };
  return {
    write: async (some) => {
      put ??= beginPut();
      rows += some.length;
      const lines = some.map((row) => `${JSON.stringify(row)}\n`).join("");
      // After a failure the store no longer reads, so the write must not wait for it.
      await Promise.race([pipe.write(Buffer.from(lines, "latin1")), put]);
    },
    end: async () => {
      if (!put) return null;
      pipe.end();
      return { key, rows, ...(await put) };
    },
    abort: async () => {
      pipe.fail(new Error("the list was aborted"));
      await put?.catch(() => {});
    },
  };
};

const createPipe = () => {
  let [block, isOver]: [Uint8Array | null, boolean] = [null, false];
  let failure: Error | null = null;
  let [wakeReader, wakeWriter] = [() => {}, () => {}];

  async function* content(): AsyncGenerator<Uint8Array> {
    for (;;) {
      if (failure) throw failure;
      if (block) {
        const chunk = block;
        block = null;
        wakeWriter();
        yield chunk;
      } else if (isOver) return;
      else
        await new Promise<void>((wake) => {
          wakeReader = wake;
        });
    }
  }

  return {
    content,
    write: async (more: Uint8Array): Promise<void> => {
      while (block)
        await new Promise<void>((wake) => {
          wakeWriter = wake;
        });
      block = more;
      wakeReader();
    },
    end: () => {
      isOver = true;
      wakeReader();
    },
    fail: (error: Error) => {
      failure = error;
      wakeReader();
    },
  };
};

export type ExcludedReader = {
  /** Returns the next excluded rows before this row of the list, a few per call, and none at the end. */
  readonly before: (row: number) => Promise<readonly ExcludedRow[]>;
  readonly close: () => Promise<void>;
};

export const NO_EXCLUDED: ExcludedReader = { before: async () => [], close: async () => {} };

export const openExcludedReader = (
  blobs: Pick<Blobs, "get">,
  { key, version }: { readonly key: string; readonly version: string },
): ExcludedReader => {
  let batches: AsyncGenerator<readonly ExcludedRow[]> | undefined;
  let batch: readonly ExcludedRow[] = [];
  let next = 0;
  return {
    before: async (row) => {
      if (next === batch.length) {
        batches ??= readBatches(blobs, key, version);
        batch = (await batches.next()).value ?? [];
        next = 0;
      }
      const from = next;
      while (next < batch.length && (batch[next]?.[0] ?? Infinity) < row) next++;
      return batch.slice(from, next);
    },
    close: async () => void (await batches?.return(undefined)),
  };
};

/** An export cannot omit rows in the middle, so every excluded row must be readable. */
export const areExcludedReadable = async (
  blobs: Pick<Blobs, "get">,
  { key, version }: { readonly key: string; readonly version: string },
): Promise<boolean> => {
  try {
    const found = await blobs.get(key, { version });
    for await (const _ of found?.content ?? []) continue;
    return found !== undefined;
  } catch (error) {
    if (error instanceof UnreadableBlobError) return false;
    throw error;
  }
};

const LINE_FEED = 10;

async function* readBatches(
  blobs: Pick<Blobs, "get">,
  key: string,
  version: string,
): AsyncGenerator<readonly ExcludedRow[]> {
  const found = await blobs.get(key, { version });
  if (!found) throw new Error("the excluded rows of a list are gone");
  let parts: Uint8Array[] = [];
  for await (const piece of found.content) {
    const end = piece.lastIndexOf(LINE_FEED) + 1;
    if (end > 0) {
      const lines = Buffer.concat([...parts, piece.subarray(0, end)]).toString();
      parts = [];
      yield JSON.parse(`[${lines.slice(0, -1).replaceAll("\n", ",")}]`) as ExcludedRow[];
    }
    if (end < piece.length) parts.push(piece.slice(end));
  }
}
