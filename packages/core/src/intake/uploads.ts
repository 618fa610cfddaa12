import { createHash } from "node:crypto";
import { Failure } from "../lib/failure.ts";
import type { Payer } from "../money/payer.ts";
import { UnreadableBlobError } from "../ports/blobs.ts";
import type { World } from "../ports/world.ts";
import { toByteText, truncateBytes } from "./byte-text.ts";

export const FILE_BYTES_MAX = 52_428_800;
const UPLOAD_EXPIRY_SECONDS = 3_600;

export type Upload = {
  readonly key: string;
  readonly url: string;
  readonly expiresInSeconds: number;
};

/** `name` is the client's name for the file. */
export type UploadedFile = { readonly kind: "csv" | "txt"; readonly name: string };

export type DeclaredFile = UploadedFile & { readonly bytes?: number | undefined };

export const createUpload = async (
  world: World,
  payer: Payer,
  { bytes, ...file }: DeclaredFile,
): Promise<Upload> => {
  if (bytes !== undefined && bytes > FILE_BYTES_MAX) throw createTooLargeFailure(bytes);
  const key = createUploadKey(world, payer, file);
  const options = { expiresInSeconds: UPLOAD_EXPIRY_SECONDS, bytesMax: FILE_BYTES_MAX, bytes };
  const link = await world.blobs.presignPut(key, options).catch(rethrowAsUnavailable);
  return { key, ...link };
};

/** Stores a file from the request body under an upload's key. `hash`: the hash of its content. */
export const storeUpload = async (
  world: World,
  payer: Payer,
  file: UploadedFile,
  content: AsyncIterable<Uint8Array>,
): Promise<{ readonly key: string; readonly hash: string }> => {
  const key = createUploadKey(world, payer, file);
  const hash = createHash("sha256");
  let bytes = 0;
  async function* countBytes(): AsyncGenerator<Uint8Array> {
    for await (const piece of content) {
      bytes += piece.length;
      if (bytes > FILE_BYTES_MAX) throw createTooLargeFailure(bytes);
      hash.update(piece);
      yield piece;
    }
  }
  await world.blobs.put(key, countBytes()).catch((cause: unknown) => {
    // The adapter may have wrapped the error.
    if (bytes > FILE_BYTES_MAX) throw createTooLargeFailure(bytes);
    rethrowAsUnavailable(cause);
  });
  return { key, hash: hash.digest("base64url") };
};

const toFolder = ({ mode, account }: Pick<Payer, "mode" | "account">): string =>
  `uploads/${mode}/${account}/`;

const UPLOAD_KEY = /^uploads\/(?:live|test)\/[\w-]+\/[\w-]+\.([\w-]+)\.(?:csv|txt)$/;

/** Keeps the whole key within the limit for blob keys. */
const NAME_BYTES_MAX = 150;

/** The key contains the name of the file, so no other record is needed until the file is processed. */
const createUploadKey = (world: World, payer: Payer, { kind, name }: UploadedFile): string => {
  const coded = Buffer.from(truncateBytes(NAME_BYTES_MAX, toByteText(name)), "latin1").toString(
    "base64url",
  );
  return `${toFolder(payer)}${world.newId("upl")}.${coded}.${kind}`;
};

export const getFileName = (key: string): string =>
  Buffer.from(UPLOAD_KEY.exec(key)?.[1] ?? "", "base64url").toString();

/** Finds the current version of the file: a later upload under the key is another version. */
export const findUpload = async (world: World, payer: Payer, key: string) => {
  if (UPLOAD_KEY.test(key) && !key.startsWith(toFolder(payer)))
    throw createForbiddenFailure(payer, key);
  const metadata = UPLOAD_KEY.test(key)
    ? await world.blobs.head(key).catch(rethrowUnreadable)
    : undefined;
  if (metadata && metadata.bytes > FILE_BYTES_MAX) throw createTooLargeFailure(metadata.bytes);
  const found =
    metadata &&
    (await world.blobs.get(key, { version: metadata.version }).catch(rethrowUnreadable));
  if (found) return found;
  const what = `No file is stored for this file_key. PUT the file to the upload_url first; a file of more than ${formatMax()} bytes is removed.`;
  throw new Failure("NOT_FOUND", "nothing_charged", what);
};

const rethrowUnreadable = (error: unknown): never => {
  throw error instanceof UnreadableBlobError ? createUnreadableFailure(error) : error;
};

/** For a damaged file: a part of it must never pass for the whole. */
export const createUnreadableFailure = (cause: UnreadableBlobError): Failure => {
  const what = "The file under this file_key is damaged on our side; upload it again.";
  return new Failure("NOT_FOUND", "nothing_charged", what, { cause });
};

/** An account may know of its own files of the other mode, so the message mentions them. */
const createForbiddenFailure = ({ account, mode }: Payer, key: string): Failure => {
  const other = mode === "live" ? "test" : "live";
  const what = key.startsWith(toFolder({ account, mode: other }))
    ? `This file_key was created with a ${other} key. Use a ${other} key, or upload the file again with this ${mode} key.`
    : "This file_key belongs to another account.";
  return new Failure("FORBIDDEN", "nothing_charged", what);
};

/** A Failure is meant for the client; any other error comes from the blob adapter. */
const rethrowAsUnavailable = (cause: unknown): never => {
  if (cause instanceof Failure) throw cause;
  const what = "Files cannot be stored right now.";
  throw new Failure("UNAVAILABLE", "nothing_charged", what, { cause });
};

const createTooLargeFailure = (bytes: number): Failure => {
  const what = `The file has at least ${bytes.toLocaleString("en")} bytes; the maximum is ${formatMax()}.`;
  return new Failure("PAYLOAD_TOO_LARGE", "nothing_charged", what);
};

const formatMax = (): string => FILE_BYTES_MAX.toLocaleString("en");
