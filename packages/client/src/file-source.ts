import { getHostProcess } from "./host-process.ts";

/** A list of addresses: a path (Node, Deno, Bun), a Blob or File, or a stream of bytes or text. */
export type FileSource =
  | string
  | Blob
  | ReadableStream<Uint8Array>
  | AsyncIterable<Uint8Array | string>;

/** The service's limit. The client stops reading a larger file. */
const BYTES_MAX = 52_428_800;

/** Reads the whole file. A stream is collected, because its length must be known before sending, and it may be sent twice. */
export const toBlob = async (source: FileSource): Promise<Blob> => {
  const blob = await (typeof source === "string" ? readFile(source) : collectBlob(source));
  if (blob.size > BYTES_MAX) throw createTooLargeError();
  return blob;
};

/** A Blob does not accept shared memory; file APIs do not return it. */
type Chunk = string | Uint8Array<ArrayBuffer>;

const collectBlob = async (source: Exclude<FileSource, string>): Promise<Blob> => {
  // Drops the Blob's type: the upload must have no content-type header.
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

/** Loads the module at run time, so a bundle for browsers does not contain it. */
const readFile = async (path: string): Promise<Blob> => {
  const files = getHostProcess()?.getBuiltinModule?.("node:fs") as Files | undefined;
  if (!files) throw new TypeError("A path needs Node, Deno or Bun. Pass a Blob or a stream.");
  if ((await files.promises.stat(path)).size > BYTES_MAX) throw createTooLargeError();
  return new Blob([await files.promises.readFile(path)]);
};

/** Returns the name of the file. Its extension tells the service the kind of the list. */
export const getFileName = (source: FileSource): string | undefined => {
  if (typeof source === "string") return source.split(/[\\/]/).at(-1);
  return "name" in source && typeof source.name === "string" ? source.name : undefined;
};
