import type { BlobFacts } from "@mailproof/core/blobs";
import { type Asking, asError, certain, type Read } from "./aws.ts";

/** One bucket, asked about keys. */
export type Bucket = {
  /** Whatever it is, it may be done twice: so it is asked again until there is an answer. */
  readonly ask: (key: string, asking: Partial<Asking>) => Promise<Read>;
};

/** S3 takes parts of 5 MiB and more, and 10,000 of them: 80 GB. */
const PART_BYTES = 8 * 2 ** 20;

const BYTES = { "content-type": "application/octet-stream" };

/** One request for what fits in a part; the others go up part by part, and appear together or never. */
export const putInParts = async (
  bucket: Bucket,
  key: string,
  content: AsyncIterable<Uint8Array>,
): Promise<BlobFacts> => {
  const parts = partsOf(content);
  const first = (await parts.next()).value ?? Buffer.alloc(0);
  const second = first.length < PART_BYTES ? undefined : (await parts.next()).value;
  if (second === undefined) {
    const { headers } = certain(
      "PUT",
      await bucket.ask(key, { method: "PUT", body: first, headers: BYTES }),
    );
    return { version: headers["etag"] ?? "", bytes: first.length };
  }
  const begun = certain("begin an upload", await bucket.ask(key, POST({ uploads: "" })));
  const uploadId = tagIn(begun.text, "UploadId");
  try {
    return await putAll(bucket, { key, uploadId }, [first, second], parts);
  } catch (error) {
    // What is left of it is paid for until somebody says so; a rule of the bucket says it after a day.
    await bucket.ask(key, { method: "DELETE", query: { uploadId } });
    throw error;
  }
};

type Upload = { readonly key: string; readonly uploadId: string };

const putAll = async (
  bucket: Bucket,
  { key, uploadId }: Upload,
  taken: readonly Buffer[],
  rest: AsyncIterable<Buffer>,
): Promise<BlobFacts> => {
  const etags: string[] = [];
  let bytes = 0;
  const putPart = async (body: Buffer): Promise<void> => {
    const query = { partNumber: String(etags.length + 1), uploadId };
    const heard = certain("PUT a part", await bucket.ask(key, { method: "PUT", query, body }));
    etags.push(heard.headers["etag"] ?? "");
    bytes += body.length;
  };
  for (const part of taken) await putPart(part);
  for await (const part of rest) await putPart(part);
  const heard = await bucket.ask(key, { ...POST({ uploadId }), body: listOf(etags) });
  return { version: versionOf(heard), bytes };
};

const POST = (query: Readonly<Record<string, string>>) => ({ method: "POST", query }) as const;

const listOf = (etags: readonly string[]): string => {
  const parts = etags.map(
    (etag, at) => `<Part><PartNumber>${at + 1}</PartNumber><ETag>${etag}</ETag></Part>`,
  );
  return `<CompleteMultipartUpload>${parts.join("")}</CompleteMultipartUpload>`;
};

/** S3 begins to answer 200 before it knows: an error may stand where the ETag should. */
const versionOf = (heard: Read): string => {
  const { text } = certain("end an upload", heard);
  if (!text.includes("<ETag>"))
    throw asError("end an upload", { kind: "lost", cause: new Error(text.slice(0, 300)) } as Read);
  return tagIn(text, "ETag");
};

const tagIn = (xml: string, tag: string): string => {
  const found = new RegExp(`<${tag}>([^<]*)</${tag}>`).exec(xml)?.[1];
  if (found === undefined) throw new Error(`S3 did not say the ${tag}`);
  return found.replaceAll("&quot;", '"').replaceAll("&#34;", '"');
};

/** Full parts, and what is left. Every piece is copied: who gave it may use it again. */
async function* partsOf(content: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer, undefined> {
  let part = Buffer.allocUnsafe(PART_BYTES);
  let filled = 0;
  for await (const piece of content) {
    for (let from = 0; from < piece.length; ) {
      const taken = Math.min(piece.length - from, PART_BYTES - filled);
      part.set(piece.subarray(from, from + taken), filled);
      from += taken;
      filled += taken;
      if (filled < PART_BYTES) continue;
      yield part;
      part = Buffer.allocUnsafe(PART_BYTES);
      filled = 0;
    }
  }
  if (filled > 0) yield part.subarray(0, filled);
}
