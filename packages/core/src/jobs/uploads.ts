import { createHash } from "node:crypto";
import type { Payer } from "../access/payer.ts";
import { UnreadableBlobError } from "../blobs.ts";
import { Failure } from "../failure.ts";
import type { World } from "../world.ts";
import { cutTo, toByteText } from "./byte-text.ts";

export const FILE_BYTES_MAX = 50_000_000;
const UPLOAD_SECONDS = 3_600;

export type Upload = {
  readonly key: string;
  readonly url: string;
  readonly expiresInSeconds: number;
};

/** A file before it is there: `name` is what the caller calls it. */
export type NewFile = { readonly kind: "csv" | "txt"; readonly name: string };

/** A link to put one file under one key of this account, and nothing else. */
export const newUpload = async (world: World, payer: Payer, file: NewFile): Promise<Upload> => {
  const key = newKey(world, payer, file);
  const expiresInSeconds = UPLOAD_SECONDS;
  const limits = { expiresInSeconds, bytesMax: FILE_BYTES_MAX };
  const url = await world.blobs.putLink(key, limits).catch(unreachable);
  return { key, url, expiresInSeconds };
};

/** A file that comes with the request itself, put where an upload would be. `hash` stands for what is in it. */
export const putUpload = async (
  world: World,
  payer: Payer,
  file: NewFile,
  content: AsyncIterable<Uint8Array>,
): Promise<{ readonly key: string; readonly hash: string }> => {
  const key = newKey(world, payer, file);
  const hash = createHash("sha256");
  let bytes = 0;
  async function* counted(): AsyncGenerator<Uint8Array> {
    for await (const piece of content) {
      bytes += piece.length;
      if (bytes > FILE_BYTES_MAX) throw tooLarge(bytes);
      hash.update(piece);
      yield piece;
    }
  }
  await world.blobs.put(key, counted()).catch((cause: unknown) => {
    // A store may make an error of its own of ours.
    if (bytes > FILE_BYTES_MAX) throw tooLarge(bytes);
    unreachable(cause);
  });
  return { key, hash: hash.digest("base64url") };
};

const folderOf = ({ mode, account }: Pick<Payer, "mode" | "account">): string =>
  `uploads/${mode}/${account}/`;

const FORM = /^uploads\/(?:live|test)\/[\w-]+\/[\w-]+(?:\.([\w-]+))?\.(?:csv|txt)$/;

/** So that the whole key is no longer than a key of a store may be. */
const NAME_BYTES_MAX = 150;

/** The name of the file is part of its key, so nothing else has to be stored until the file is processed. */
const newKey = (world: World, payer: Payer, { kind, name }: NewFile): string => {
  const coded = Buffer.from(cutTo(NAME_BYTES_MAX, toByteText(name)), "latin1").toString(
    "base64url",
  );
  return `${folderOf(payer)}${world.newId("upl")}.${coded}.${kind}`;
};

/** What the caller called the file. Null: the key is one of release 0.1.0. */
export const fileNameOf = (key: string): string | null => {
  const coded = FORM.exec(key)?.[1];
  return coded === undefined ? null : Buffer.from(coded, "base64url").toString();
};

/** The file as it is at this moment: what is put under the key later is another one. */
export const findUpload = async (world: World, payer: Payer, key: string) => {
  if (FORM.test(key) && !key.startsWith(folderOf(payer))) throw forbidden(payer, key);
  const facts = FORM.test(key) ? await world.blobs.head(key).catch(ifUnreadable) : undefined;
  if (facts && facts.bytes > FILE_BYTES_MAX) throw tooLarge(facts.bytes);
  const found =
    facts && (await world.blobs.get(key, { version: facts.version }).catch(ifUnreadable));
  if (found) return found;
  const what = "There is no file under this file_key; put it to the upload_url first.";
  throw new Failure("NOT_FOUND", "nothing_charged", what);
};

const ifUnreadable = (error: unknown): never => {
  throw error instanceof UnreadableBlobError ? unreadableUpload(error) : error;
};

/** Not as it was uploaded: a part of it must never be taken for the whole. */
export const unreadableUpload = (cause: UnreadableBlobError): Failure => {
  const what = "The file under this file_key is damaged on our side; upload it again.";
  return new Failure("NOT_FOUND", "nothing_charged", what, { cause });
};

/** The account sees its own files of the other mode, so it is told of them. */
const forbidden = ({ account, mode }: Payer, key: string): Failure => {
  const other = mode === "live" ? "test" : "live";
  const what = key.startsWith(folderOf({ account, mode: other }))
    ? `This file_key was made with a ${other} key, and this is a ${mode} key: use a ${other} key, or upload the file again with this one.`
    : "This file_key is not this account's.";
  return new Failure("FORBIDDEN", "nothing_charged", what);
};

/** What is a Failure was meant for the caller, by whoever reads the form; all else is the store's. */
const unreachable = (cause: unknown): never => {
  if (cause instanceof Failure) throw cause;
  const what = "Files cannot be kept right now.";
  throw new Failure("UNAVAILABLE", "nothing_charged", what, { cause });
};

const tooLarge = (bytes: number): Failure => {
  const most = FILE_BYTES_MAX.toLocaleString("en");
  const what = `The file has ${bytes.toLocaleString("en")} bytes or more; ${most} are the most.`;
  return new Failure("PAYLOAD_TOO_LARGE", "nothing_charged", what);
};
