/** `version` names exactly these bytes: a later put under the same key has another one. */
export type BlobMetadata = { readonly version: string; readonly bytes: number };

/** Both ends belong to the range. */
export type ByteRange = { readonly from: number; readonly to: number };

export type BlobBody = BlobMetadata & { readonly content: AsyncIterable<Uint8Array> };

/**
 * The bytes under a key differ from those that were put, or the disk cannot read them. A second read fails, too. An
 * error of any other class, such as a lost connection or too many open files, does not mean that the blob is damaged.
 */
export class UnreadableBlobError extends Error {
  constructor(what: string, options?: ErrorOptions) {
    super(what, options);
    this.name = "UnreadableBlobError";
  }
}

/** The port to files: folders on one machine, S3 on AWS, memory in simulation. */
export type Blobs = {
  /** Stores all of the content or nothing: an interrupted put leaves the previous blob. */
  put(key: string, content: AsyncIterable<Uint8Array>): Promise<BlobMetadata>;
  /** Throws UnreadableBlobError if the blob is so damaged that its size is unknown. */
  head(key: string): Promise<BlobMetadata | undefined>;
  /**
   * With `version`: these bytes or none. A reader that pins a version never sees half of another file. `get` never
   * returns bytes that were changed or cut off since the put: it, or the iteration of the content, throws
   * UnreadableBlobError. S3 guarantees this itself.
   */
  get(
    key: string,
    options?: { readonly range?: ByteRange; readonly version?: string },
  ): Promise<BlobBody | undefined>;
  remove(key: string): Promise<void>;
  /**
   * Puts these blobs together under a key, in this order. They remain. Stores all of them or nothing, like `put`; throws
   * if one is missing.
   */
  join(key: string, parts: readonly string[]): Promise<BlobMetadata>;
  /** A link that permits a PUT of this one object until it expires, with a bare `curl -T`. */
  presignPut(key: string, options: PresignPutOptions): Promise<PresignedLink>;
  /** A link that permits a GET of this one object until it expires. */
  presignGet(key: string, options: PresignGetOptions): Promise<PresignedLink>;
};

/** `expiresInSeconds` is at most what was asked for: a link ends with the credentials that signed it. */
export type PresignedLink = { readonly url: string; readonly expiresInSeconds: number };

export type PresignPutOptions = {
  readonly expiresInSeconds: number;
  /**
   * S3 stores a larger upload whose size the client did not declare, and calls us to remove it, so the reader checks
   * again (docs/design/reading-lists.md).
   */
  readonly bytesMax: number;
  /** The size that the client declared: the link accepts no other. */
  readonly bytes?: number | undefined;
};
export type PresignGetOptions = {
  readonly expiresInSeconds: number;
  readonly fileName: string;
  readonly contentType: string;
  /** The account that the download counts for, if the adapter limits downloads. */
  readonly account?: string;
};

/**
 * Key prefixes, and how many days after its last put a blob is deleted. An upload is copied when it is accepted; an
 * export can be made again; an input is read for as long as any plan retains its job (90 days), and some days longer;
 * evidence is asked for while a list is new, and has forty times the bytes of the results; a received mail is assessed
 * within the hour; one that Amazon SES stored waits for its worker, and for the operator if that fails.
 */
export const BLOB_RETENTION_DAYS = {
  "uploads/": 1,
  "exports/": 1,
  "inputs/": 100,
  "evidence/": 7,
  "mail/": 1,
  "inbound/": 3,
} as const;

/** The content of several blobs, one after the other: for adapters that copy it. */
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

/** Undefined: retained until it is removed. */
export const findRetentionPrefix = (key: string): RetentionPrefix | undefined =>
  (Object.keys(BLOB_RETENTION_DAYS) as RetentionPrefix[]).find((prefix) => key.startsWith(prefix));

const KEY = /^[\w-][\w.-]*(?:\/[\w-][\w.-]*)*$/;
const KEY_LENGTH_MAX = 512;

/** No part starts with a dot, so a key can never climb out of its folder. */
export const assertBlobKey = (key: string): void => {
  if (key.length > KEY_LENGTH_MAX || !KEY.test(key)) throw new RangeError(`no blob key: ${key}`);
};
