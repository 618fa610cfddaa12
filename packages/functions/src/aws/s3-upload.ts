import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import type { BlobMetadata } from "@mailproof/core/ports/blobs";
import { type AwsReply, requireOk } from "./requests.ts";

export type S3 = {
  readonly s3: S3Client;
  /** Repeats a command until S3 replies. */
  readonly send: <T>(attempt: () => Promise<T>) => Promise<AwsReply<T>>;
};

export type S3Object = { readonly Bucket: string; readonly Key: string };

/** S3 accepts 10,000 parts of at least 5 MiB: 80 GB with this size. */
const PART_BYTES = 8 * 2 ** 20;

/** A blob that fits in one part is one request; others are multipart uploads, which appear whole or not at all. */
export const uploadBlob = async (
  context: S3,
  object: S3Object,
  content: AsyncIterable<Uint8Array>,
): Promise<BlobMetadata> => {
  const { s3, send } = context;
  const parts = splitParts(content);
  const first = (await parts.next()).value ?? Buffer.alloc(0);
  const second = first.length < PART_BYTES ? undefined : (await parts.next()).value;
  if (second === undefined) {
    const command = { ...object, Body: first, ContentType: "application/octet-stream" };
    const reply = await send(() => s3.send(new PutObjectCommand(command)));
    const { ETag: version = "" } = requireOk("PUT", reply);
    return { version, bytes: first.length };
  }
  return uploadInParts(context, object, (upload) =>
    uploadParts(context, upload, prepend([first, second], parts)),
  );
};

export type Upload = S3Object & { readonly UploadId: string | undefined };
export type UploadedPart = { readonly PartNumber: number; readonly ETag: string | undefined };
/** Every part of an upload, and their size. */
type UploadedParts = { readonly parts: readonly UploadedPart[]; readonly bytes: number };

/** A multipart upload: the object appears whole, or not at all. */
export const uploadInParts = async (
  { s3, send }: S3,
  object: S3Object,
  sendParts: (upload: Upload) => Promise<UploadedParts>,
): Promise<BlobMetadata> => {
  const started = await send(() => s3.send(new CreateMultipartUploadCommand(object)));
  const { UploadId } = requireOk("begin an upload", started);
  const upload = { ...object, UploadId };
  try {
    const { parts, bytes } = await sendParts(upload);
    const command = { ...upload, MultipartUpload: { Parts: [...parts] } };
    const reply = await send(() => s3.send(new CompleteMultipartUploadCommand(command)));
    const { ETag: version } = requireOk("end an upload", reply);
    if (version === undefined) throw new Error("end an upload: S3 sent no ETag");
    return { version, bytes };
  } catch (error) {
    // Unfinished parts cost money until they are deleted; a rule of the bucket deletes them after a day.
    await send(() => s3.send(new AbortMultipartUploadCommand(upload)));
    throw error;
  }
};

/** The number of parts in memory: one is being filled, and S3 receives the others. */
const PARTS_IN_MEMORY = 4;

/** Sends parts while the next are made, since making an export and sending it take about the same time. */
const uploadParts = async (
  context: S3,
  upload: Upload,
  parts: AsyncIterable<Buffer>,
): Promise<UploadedParts> => {
  const sent: Promise<UploadedPart>[] = [];
  let bytes = 0;
  try {
    for await (const part of parts) {
      bytes += part.length;
      const promise = uploadPart(context, upload, sent.length + 1, part);
      // A failure is reported when the part is waited for.
      promise.catch(() => {});
      sent.push(promise);
      await sent[sent.length - PARTS_IN_MEMORY + 1];
    }
    return { parts: await Promise.all(sent), bytes };
  } finally {
    // S3 would keep a part that arrives after the upload is aborted.
    await Promise.allSettled(sent);
  }
};

export const uploadPart = async (
  { s3, send }: S3,
  upload: Upload,
  PartNumber: number,
  Body: Buffer,
): Promise<UploadedPart> => {
  const part = { ...upload, PartNumber, Body };
  const reply = await send(() => s3.send(new UploadPartCommand(part)));
  return { PartNumber, ETag: requireOk("PUT a part", reply).ETag };
};

async function* prepend<T>(first: readonly T[], others: AsyncIterable<T>): AsyncGenerator<T> {
  yield* first;
  yield* others;
}

/** Full parts, then the remainder. Every chunk is copied: the caller may reuse it. */
async function* splitParts(content: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer, undefined> {
  let part = Buffer.allocUnsafe(PART_BYTES);
  let filled = 0;
  for await (const piece of content) {
    for (let from = 0; from < piece.length; ) {
      const count = Math.min(piece.length - from, PART_BYTES - filled);
      part.set(piece.subarray(from, from + count), filled);
      from += count;
      filled += count;
      if (filled < PART_BYTES) continue;
      yield part;
      part = Buffer.allocUnsafe(PART_BYTES);
      filled = 0;
    }
  }
  if (filled > 0) yield part.subarray(0, filled);
}
