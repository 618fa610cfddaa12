/** `version` identifies these bytes: a later put under the same key creates another version. */
export type BlobMetadata = { readonly version: string; readonly bytes: number };

/** The range includes both ends. */
export type ByteRange = { readonly from: number; readonly to: number };

export type BlobBody = BlobMetadata & { readonly content: AsyncIterable<Uint8Array> };

/**
 * The blob's bytes have changed since they were stored, or the disk cannot read the blob; a second read fails, too. Any other error
 * class, such as a lost connection or too many open files, does not mean that the blob is damaged.
 */
export class UnreadableBlobError extends Error {
  constructor(what: string, options?: ErrorOptions) {
    super(what, options);
    this.name = "UnreadableBlobError";
  }
}

/** The port to files: folders on one machine, S3 on AWS, memory in simulation. */
export type Blobs = {
  /** Stores the whole content or nothing: an interrupted put leaves the previous blob. */
  put(key: string, content: AsyncIterable<Uint8Array>): Promise<BlobMetadata>;
  /** Throws UnreadableBlobError if the blob is so damaged that its size is unknown. */
  head(key: string): Promise<BlobMetadata | undefined>;
  /**
   * With `version`, returns the bytes of that version or undefined, so a reader that pins a version never mixes two files. When bytes changed
   * or were cut off after the put, `get` or the iteration of the content throws UnreadableBlobError. S3 guarantees this itself.
   */
  get(
    key: string,
    options?: { readonly range?: ByteRange; readonly version?: string },
  ): Promise<BlobBody | undefined>;
  remove(key: string): Promise<void>;
  /** Stores the concatenation of these blobs under a key, all or nothing like `put`, and keeps the parts. Throws if a part is missing. */
  join(key: string, parts: readonly string[]): Promise<BlobMetadata>;
  /** Returns a link that permits a PUT of this one object until it expires, with a bare `curl -T`. */
  presignPut(key: string, options: PresignPutOptions): Promise<PresignedLink>;
  presignGet(key: string, options: PresignGetOptions): Promise<PresignedLink>;
};

/** `expiresInSeconds` may be shorter than requested: a link expires with the credentials that signed it. */
export type PresignedLink = { readonly url: string; readonly expiresInSeconds: number };

export type PresignPutOptions = {
  readonly expiresInSeconds: number;
  /**
   * S3 stores a larger upload when the client declared no size, then calls a Lambda that removes it; the reader therefore
   * checks the size again (docs/design/list-files.md).
   */
  readonly bytesMax: number;
  /** The size that the client declared: the link accepts no other size. */
  readonly bytes?: number | undefined;
};
export type PresignGetOptions = {
  readonly expiresInSeconds: number;
  readonly fileName: string;
  readonly contentType: string;
  /** The account whose limit the download counts against, if the adapter limits downloads. */
  readonly account?: string;
};

/**
 * A blob is deleted this many days after its last put, by key prefix. An accepted upload is copied; an export can be made
 * again; an input must outlast the longest plan's retention (90 days); clients download evidence while a list is new, and
 * evidence is forty times as large as the results; a received mail is assessed within the hour; mail that Amazon SES stored
 * waits for its worker, and for the operator if the worker fails.
 */
export const BLOB_RETENTION_DAYS = {
  "uploads/": 1,
  "exports/": 1,
  "inputs/": 100,
  "evidence/": 7,
  "mail/": 1,
  "inbound/": 3,
} as const;

/** For adapters that copy the content when they join blobs. */
export async function* concatBlobs(
  blobs: Pick<Blobs, "get">,
  keys: readonly string[],
): AsyncGenerator<Uint8Array> {
  for (const key of keys) {
    const found = await blobs.get(key);
    if (!found) throw new Error(`a part is missing: ${key}`);
    yield* found.content;
  }
}

export type RetentionPrefix = keyof typeof BLOB_RETENTION_DAYS;

/** Undefined when a blob with this key is stored until someone removes it. */
export const findRetentionPrefix = (key: string): RetentionPrefix | undefined =>
  (Object.keys(BLOB_RETENTION_DAYS) as RetentionPrefix[]).find((prefix) => key.startsWith(prefix));

const KEY = /^[\w-][\w.-]*(?:\/[\w-][\w.-]*)*$/;
const KEY_LENGTH_MAX = 512;

/** No part of a key starts with a dot, so a key cannot leave its folder. */
export const assertBlobKey = (key: string): void => {
  if (key.length > KEY_LENGTH_MAX || !KEY.test(key)) throw new RangeError(`no blob key: ${key}`);
};
