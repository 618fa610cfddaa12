/** `version` names exactly these bytes: a later put under the same key has another one. */
export type BlobMetadata = { readonly version: string; readonly bytes: number };

/** Both ends belong to the range. */
export type ByteRange = { readonly from: number; readonly to: number };

export type BlobBody = BlobMetadata & { readonly content: AsyncIterable<Uint8Array> };

/**
 * The bytes under a key are not those that were put, or the disk cannot read them. Reading again does not help. An
 * error of any other class, such as a lost connection or too many open files, says nothing about the blob.
 */
export class UnreadableBlobError extends Error {
  constructor(what: string, options?: ErrorOptions) {
    super(what, options);
    this.name = "UnreadableBlobError";
  }
}

/** The door to files: folders on one machine, S3 on AWS, memory in simulation. */
export type Blobs = {
  /** All of the content or nothing: a put that breaks off leaves what was there before. */
  put(key: string, content: AsyncIterable<Uint8Array>): Promise<BlobMetadata>;
  /** Throws UnreadableBlobError where the blob is damaged so much that its size is not known. */
  head(key: string): Promise<BlobMetadata | undefined>;
  /**
   * With `version`: these bytes or none. A reader that pins a version never sees half of another file.
   * Bytes that were changed or cut off since the put are never given out: `get`, or the content at that place, throws
   * UnreadableBlobError. S3 holds this promise itself.
   */
  get(
    key: string,
    options?: { readonly range?: ByteRange; readonly version?: string },
  ): Promise<BlobBody | undefined>;
  remove(key: string): Promise<void>;
  /** Whoever holds the link may put this one object until it expires, with a bare `curl -T`. */
  presignPut(key: string, options: PresignPutOptions): Promise<string>;
  /** Whoever holds the link may read this one object until it expires. */
  presignGet(key: string, options: PresignGetOptions): Promise<string>;
};

/** S3 cannot hold an upload to `bytesMax`, so whoever reads it checks again. */
export type PresignPutOptions = { readonly expiresInSeconds: number; readonly bytesMax: number };
export type PresignGetOptions = {
  readonly expiresInSeconds: number;
  readonly fileName: string;
  readonly contentType: string;
  /** The account whose downloads the reading counts as, where the store limits them. */
  readonly account?: string;
};

/**
 * How a key begins, and how many days after its last put a blob is gone. An upload is copied when it is accepted; an
 * export can be made again; an input is read for as long as its job is kept on any plan (90 days), and some.
 */
export const BLOB_RETENTION_DAYS = {
  "uploads/": 1,
  "exports/": 1,
  "inputs/": 100,
} as const;

export type RetentionPrefix = keyof typeof BLOB_RETENTION_DAYS;

/** Undefined: kept until it is removed. */
export const findRetentionPrefix = (key: string): RetentionPrefix | undefined =>
  (Object.keys(BLOB_RETENTION_DAYS) as RetentionPrefix[]).find((prefix) => key.startsWith(prefix));

const KEY = /^[\w-][\w.-]*(?:\/[\w-][\w.-]*)*$/;
const KEY_LENGTH_MAX = 512;

/** No part starts with a dot, so a key can never climb out of its folder. */
export const assertBlobKey = (key: string): void => {
  if (key.length > KEY_LENGTH_MAX || !KEY.test(key)) throw new RangeError(`no blob key: ${key}`);
};
