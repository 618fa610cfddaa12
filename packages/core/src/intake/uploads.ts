import { createHash } from "node:crypto";
import type { Payer } from "../accounts/payer.ts";
import { Failure } from "../lib/failure.ts";
import { UnreadableBlobError } from "../ports/blobs.ts";
import type { World } from "../ports/world.ts";
import { toByteText, truncateBytes } from "./byte-text.ts";

export const FILE_BYTES_MAX = 50_000_000;
const UPLOAD_EXPIRY_SECONDS = 3_600;

export type Upload = {
  readonly key: string;
  readonly url: string;
  readonly expiresInSeconds: number;
};

/** A file before it is there: `name` is what the caller calls it. */
export type UploadedFile = { readonly kind: "csv" | "txt"; readonly name: string };

/** A link to put one file under one key of this account, and nothing else. */
export const createUpload = async (
  world: World,
  payer: Payer,
  file: UploadedFile,
): Promise<Upload> => {
  const key = createUploadKey(world, payer, file);
  const expiresInSeconds = UPLOAD_EXPIRY_SECONDS;
  const limits = { expiresInSeconds, bytesMax: FILE_BYTES_MAX };
  const url = await world.blobs.presignPut(key, limits).catch(rethrowAsUnavailable);
  return { key, url, expiresInSeconds };
};

/** A file that comes with the request itself, put where an upload would be. `hash` stands for what is in it. */
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
    // A store may make an error of its own of ours.
    if (bytes > FILE_BYTES_MAX) throw createTooLargeFailure(bytes);
    rethrowAsUnavailable(cause);
  });
  return { key, hash: hash.digest("base64url") };
};

const toFolder = ({ mode, account }: Pick<Payer, "mode" | "account">): string =>
  `uploads/${mode}/${account}/`;

const UPLOAD_KEY = /^uploads\/(?:live|test)\/[\w-]+\/[\w-]+(?:\.([\w-]+))?\.(?:csv|txt)$/;

/** So that the whole key is no longer than a key of a store may be. */
const NAME_BYTES_MAX = 150;

/** The name of the file is part of its key, so nothing else has to be stored until the file is processed. */
const createUploadKey = (world: World, payer: Payer, { kind, name }: UploadedFile): string => {
  const coded = Buffer.from(truncateBytes(NAME_BYTES_MAX, toByteText(name)), "latin1").toString(
    "base64url",
  );
  return `${toFolder(payer)}${world.newId("upl")}.${coded}.${kind}`;
};

/** What the caller called the file. Null: the key is one of release 0.1.0. */
export const findFileName = (key: string): string | null => {
  const coded = UPLOAD_KEY.exec(key)?.[1];
  return coded === undefined ? null : Buffer.from(coded, "base64url").toString();
};

/** The file as it is at this moment: what is put under the key later is another one. */
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
  const what = "There is no file under this file_key; put it to the upload_url first.";
  throw new Failure("NOT_FOUND", "nothing_charged", what);
};

const rethrowUnreadable = (error: unknown): never => {
  throw error instanceof UnreadableBlobError ? createUnreadableFailure(error) : error;
};

/** Not as it was uploaded: a part of it must never be taken for the whole. */
export const createUnreadableFailure = (cause: UnreadableBlobError): Failure => {
  const what = "The file under this file_key is damaged on our side; upload it again.";
  return new Failure("NOT_FOUND", "nothing_charged", what, { cause });
};

/** The account sees its own files of the other mode, so it is told of them. */
const createForbiddenFailure = ({ account, mode }: Payer, key: string): Failure => {
  const other = mode === "live" ? "test" : "live";
  const what = key.startsWith(toFolder({ account, mode: other }))
    ? `This file_key was made with a ${other} key, and this is a ${mode} key: use a ${other} key, or upload the file again with this one.`
    : "This file_key is not this account's.";
  return new Failure("FORBIDDEN", "nothing_charged", what);
};

/** What is a Failure was meant for the caller, by whoever reads the form; all else is the store's. */
const rethrowAsUnavailable = (cause: unknown): never => {
  if (cause instanceof Failure) throw cause;
  const what = "Files cannot be kept right now.";
  throw new Failure("UNAVAILABLE", "nothing_charged", what, { cause });
};

const createTooLargeFailure = (bytes: number): Failure => {
  const most = FILE_BYTES_MAX.toLocaleString("en");
  const what = `The file has ${bytes.toLocaleString("en")} bytes or more; ${most} are the most.`;
  return new Failure("PAYLOAD_TOO_LARGE", "nothing_charged", what);
};
