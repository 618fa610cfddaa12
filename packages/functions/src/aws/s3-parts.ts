import type { BlobMetadata } from "@mailproof/core/ports/blobs";
import { type AwsRequest, type AwsTextReply, requireOk, toAwsError } from "./requests.ts";

/** Requests to the keys of one bucket. */
export type S3Bucket = {
  /** Every request here is safe to repeat, so lost replies are retried. */
  readonly send: (key: string, request: Partial<AwsRequest>) => Promise<AwsTextReply>;
};

/** S3 accepts parts of 5 MiB and more, and 10,000 of them: 80 GB. */
const PART_BYTES = 8 * 2 ** 20;

const BYTES_HEADERS = { "content-type": "application/octet-stream" };

/** A blob that fits in one part is one request; others are multipart uploads, which appear whole or not at all. */
export const uploadInParts = async (
  bucket: S3Bucket,
  key: string,
  content: AsyncIterable<Uint8Array>,
): Promise<BlobMetadata> => {
  const parts = splitParts(content);
  const first = (await parts.next()).value ?? Buffer.alloc(0);
  const second = first.length < PART_BYTES ? undefined : (await parts.next()).value;
  if (second === undefined) {
    const { headers } = requireOk(
      "PUT",
      await bucket.send(key, { method: "PUT", body: first, headers: BYTES_HEADERS }),
    );
    return { version: headers["etag"] ?? "", bytes: first.length };
  }
  const started = requireOk("begin an upload", await bucket.send(key, createPost({ uploads: "" })));
  const uploadId = parseTag(started.text, "UploadId");
  try {
    return await uploadParts(bucket, { key, uploadId }, [first, second], parts);
  } catch (error) {
    // Unfinished parts cost money until they are deleted; a rule of the bucket deletes them after a day.
    await bucket.send(key, { method: "DELETE", query: { uploadId } });
    throw error;
  }
};

type Upload = { readonly key: string; readonly uploadId: string };

const uploadParts = async (
  bucket: S3Bucket,
  { key, uploadId }: Upload,
  firstParts: readonly Buffer[],
  otherParts: AsyncIterable<Buffer>,
): Promise<BlobMetadata> => {
  const etags: string[] = [];
  let bytes = 0;
  const putPart = async (body: Buffer): Promise<void> => {
    const query = { partNumber: String(etags.length + 1), uploadId };
    const reply = requireOk("PUT a part", await bucket.send(key, { method: "PUT", query, body }));
    etags.push(reply.headers["etag"] ?? "");
    bytes += body.length;
  };
  for (const part of firstParts) await putPart(part);
  for await (const part of otherParts) await putPart(part);
  const reply = await bucket.send(key, {
    ...createPost({ uploadId }),
    body: formatPartList(etags),
  });
  return { version: parseVersion(reply), bytes };
};

const createPost = (query: Readonly<Record<string, string>>) =>
  ({ method: "POST", query }) as const;

const formatPartList = (etags: readonly string[]): string => {
  const parts = etags.map(
    (etag, at) => `<Part><PartNumber>${at + 1}</PartNumber><ETag>${etag}</ETag></Part>`,
  );
  return `<CompleteMultipartUpload>${parts.join("")}</CompleteMultipartUpload>`;
};

/** S3 sends 200 before the upload has ended: the body may be an error instead of the ETag. */
const parseVersion = (reply: AwsTextReply): string => {
  const { text } = requireOk("end an upload", reply);
  if (!text.includes("<ETag>"))
    throw toAwsError("end an upload", {
      kind: "lost",
      cause: new Error(text.slice(0, 300)),
    } as AwsTextReply);
  return parseTag(text, "ETag");
};

const parseTag = (xml: string, tag: string): string => {
  const found = new RegExp(`<${tag}>([^<]*)</${tag}>`).exec(xml)?.[1];
  if (found === undefined) throw new Error(`S3 sent no ${tag}`);
  return found.replaceAll("&quot;", '"').replaceAll("&#34;", '"');
};

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
