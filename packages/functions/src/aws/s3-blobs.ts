import type { Readable } from "node:stream";
import {
  DeleteObjectCommand,
  GetObjectCommand,
  type GetObjectCommandOutput,
  HeadObjectCommand,
  PutObjectCommand,
} from "@aws-sdk/client-s3";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import { toContentDisposition } from "@mailproof/core/lib/content-disposition";
import {
  assertBlobKey,
  type BlobBody,
  type BlobMetadata,
  type Blobs,
  type ByteRange,
  type PresignedLink,
} from "@mailproof/core/ports/blobs";
import { singleChunk } from "../single-chunk.ts";
import { type Aws, type AwsReply, requireOk, retryAwsCall, toReply } from "./requests.ts";
import { createS3Client } from "./s3-client.ts";
import { joinObjects } from "./s3-join.ts";
import { uploadBlob } from "./s3-upload.ts";

/** `name` is a bucket of this account. The role may list it: without that S3 replies 403 for a missing object. */
export const createS3Blobs = (aws: Aws, name: string): Blobs => {
  const s3 = createS3Client(aws);
  const toObject = (key: string, version?: string): S3Object => {
    assertBlobKey(key);
    return { Bucket: name, Key: key, ...(version !== undefined && { IfMatch: version }) };
  };
  /** Every command here is safe to repeat, so lost replies are retried. */
  const send = async <T>(attempt: () => Promise<T>): Promise<AwsReply<T>> =>
    (await retryAwsCall(aws, 2, () => toReply(attempt()))).reply;
  const readMetadata = async (object: S3Object): Promise<BlobMetadata | undefined> => {
    const reply = await send(() => s3.send(new HeadObjectCommand(object)));
    return isMissing(reply) ? undefined : toMetadata(requireOk("HEAD", reply));
  };
  const presign = async (
    command: GetObjectCommand | PutObjectCommand,
    seconds: number,
  ): Promise<PresignedLink> => {
    const expiresIn = limitToCredentials(aws, seconds);
    const options = { expiresIn, signingDate: aws.now(), signableHeaders: SIGNED_HEADERS };
    return { url: await getSignedUrl(s3, command, options), expiresInSeconds: expiresIn };
  };

  const blobs: Blobs = {
    put: async (key, content) => uploadBlob({ s3, send }, toObject(key), content),

    head: async (key) => readMetadata(toObject(key)),

    get: async (key, { range, version } = {}) => {
      const object = toObject(key, version);
      const command = { ...object, ...(range && { Range: `bytes=${assertRange(range)}` }) };
      const reply = await send(() => s3.send(new GetObjectCommand(command)));
      if (isMissing(reply)) return undefined;
      if (range && isRangeRefused(reply)) {
        const metadata = await readMetadata(object);
        return metadata && createEmptyBody(metadata, range);
      }
      const output = requireOk("GET", reply);
      const metadata = toMetadata(output);
      const content = output.Body as Readable;
      if (version === undefined || version === metadata.version) return { ...metadata, content };
      content.destroy();
      return undefined;
    },

    remove: async (key) => {
      const reply = await send(() => s3.send(new DeleteObjectCommand(toObject(key))));
      requireOk("DELETE", reply);
    },

    join: async (key, parts) => {
      const sizes = await Promise.all(parts.map((part) => readMetadata(toObject(part))));
      const sources = parts.map((part, at) => {
        const found = sizes[at];
        if (!found) throw new Error(`a part is missing: ${part}`);
        return { key: part, ...found };
      });
      return joinObjects({ s3, send }, toObject(key), sources, blobs);
    },

    // Only the object, the time and the size are signed, so a plain `curl -T` is enough.
    presignPut: async (key, { expiresInSeconds, bytes }) => {
      const size = bytes !== undefined && { ContentLength: bytes };
      return presign(new PutObjectCommand({ ...toObject(key), ...size }), expiresInSeconds);
    },

    presignGet: async (key, { expiresInSeconds, fileName, contentType }) =>
      presign(
        new GetObjectCommand({
          ...toObject(key),
          ResponseContentDisposition: toContentDisposition(fileName),
          ResponseContentType: contentType,
        }),
        expiresInSeconds,
      ),
  };
  return blobs;
};

/** The headers that every HTTP client sends by itself. */
const SIGNED_HEADERS = new Set(["content-length", "host"]);

/**
 * Lambda does not say when the session of its role ends. It starts no invocation that the session would not outlive,
 * and the longest takes this long.
 */
const SESSION_SECONDS_MIN = 900;

/** A link expires with the credentials that signed it, even before its stated time. */
const limitToCredentials = (
  { credentials: { sessionToken, expiration }, now }: Aws,
  seconds: number,
): number => {
  if (expiration === undefined)
    return sessionToken === undefined ? seconds : Math.min(seconds, SESSION_SECONDS_MIN);
  const left = Math.floor((expiration.getTime() - now().getTime()) / 1_000);
  if (left < 1) throw new Error(`the credentials expired at ${expiration.toISOString()}`);
  return Math.min(seconds, left);
};

type S3Object = { readonly Bucket: string; readonly Key: string; readonly IfMatch?: string };

/** Missing, or with other content than requested. */
const isMissing = (reply: AwsReply<unknown>): boolean =>
  reply.kind === "refused" && (reply.status === 404 || reply.status === 412);

const isRangeRefused = (reply: AwsReply<unknown>): boolean =>
  reply.kind === "refused" && reply.status === 416;

/** S3 refuses every range of an empty object; here a range from 0 means all of it. */
const createEmptyBody = (metadata: BlobMetadata, { from, to }: ByteRange): BlobBody => {
  if (metadata.bytes === 0 && from === 0)
    return { ...metadata, content: singleChunk(Buffer.alloc(0)) };
  throw new RangeError(`bytes ${from}-${to} of ${metadata.bytes}`);
};

const assertRange = ({ from, to }: ByteRange): string => {
  if (from < 0 || from > to) throw new RangeError(`bytes ${from}-${to}`);
  return `${from}-${to}`;
};

/** S3's ETag identifies the content. */
const toMetadata = ({
  ETag = "",
  ContentLength,
  ContentRange,
}: Pick<GetObjectCommandOutput, "ETag" | "ContentLength" | "ContentRange">): BlobMetadata => ({
  version: ETag,
  bytes: Number(ContentRange?.split("/")[1] ?? ContentLength),
});
