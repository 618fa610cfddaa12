import { getHostProcess } from "./host-process.ts";

/** A list of addresses: a path (Node, Deno, Bun), a Blob or File, or the bytes or text as they come. */
export type FileSource =
  | string
  | Blob
  | ReadableStream<Uint8Array>
  | AsyncIterable<Uint8Array | string>;

/** The service's own limit. What is larger is not read to its end. */
const BYTES_MAX = 50_000_000;

/**
 * The whole file. Its length must be told before it is sent, and it may have to be sent twice, so a stream is
 * collected.
 */
export const toBlob = async (source: FileSource): Promise<Blob> => {
  const blob = await (typeof source === "string" ? readFile(source) : collectBlob(source));
  if (blob.size > BYTES_MAX) throw createTooLargeError();
  return blob;
};

/** No Blob takes memory that others share; nobody reads a file into such. */
type Chunk = string | Uint8Array<ArrayBuffer>;

const collectBlob = async (source: Exclude<FileSource, string>): Promise<Blob> => {
  // Without its type: the upload wants no header of its own.
  if (source instanceof Blob) return new Blob([source]);
  const chunks: Blob[] = [];
  let bytes = 0;
  for await (const chunk of readChunks(source)) {
    const blob = new Blob([chunk as Chunk]);
    bytes += blob.size;
    if (bytes > BYTES_MAX) throw createTooLargeError();
    chunks.push(blob);
  }
  return new Blob(chunks);
};

/** Not every browser can iterate over a stream. */
async function* readChunks(
  source: ReadableStream<Uint8Array> | AsyncIterable<Uint8Array | string>,
): AsyncGenerator<Uint8Array | string> {
  if (!("getReader" in source)) return yield* source;
  const reader = source.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel();
  }
}

const createTooLargeError = () => new RangeError(`The file has more than ${BYTES_MAX} bytes.`);

type Files = {
  readonly promises: {
    stat(path: string): Promise<{ readonly size: number }>;
    readFile(path: string): Promise<Chunk>;
  };
};

/** Asked of the host, and not imported: a bundle for browsers has nothing to find then. */
const readFile = async (path: string): Promise<Blob> => {
  const files = getHostProcess()?.getBuiltinModule?.("node:fs") as Files | undefined;
  if (!files) throw new TypeError("A path needs Node, Deno or Bun; give a Blob or a stream here.");
  if ((await files.promises.stat(path)).size > BYTES_MAX) throw createTooLargeError();
  return new Blob([await files.promises.readFile(path)]);
};

/** What the file is called. The service tells by it what kind of list it is. */
export const getFileName = (source: FileSource): string | undefined => {
  if (typeof source === "string") return source.split(/[\\/]/).at(-1);
  return "name" in source && typeof source.name === "string" ? source.name : undefined;
};
