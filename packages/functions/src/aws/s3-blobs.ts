import { toContentDisposition } from "@mailproof/core/lib/content-disposition";
import {
  assertBlobKey,
  type BlobMetadata,
  type Blobs,
  type ByteRange,
} from "@mailproof/core/ports/blobs";
import { singleChunk } from "../single-chunk.ts";
import {
  AWS_TIMEOUT_MS,
  type Aws,
  type AwsRefusal,
  type AwsReply,
  type AwsRequest,
  type AwsTextReply,
  createSignedLink,
  requireOk,
  retryAwsCall,
  sendForText,
  sendRequest,
} from "./requests.ts";
import { type S3Bucket, uploadInParts } from "./s3-parts.ts";

const TIMEOUT_MS = 5_000;

/** `name` is a bucket of this account. The role may list it: without that S3 replies 403 for a missing object. */
export const createS3Blobs = (aws: Aws, name: string): Blobs => {
  const toRequest = createRequestBuilder(aws, name);
  const bucket: S3Bucket = {
    send: async (key, request) => {
      // Sending a part takes a while.
      const timeoutMs = request.body === undefined ? TIMEOUT_MS : AWS_TIMEOUT_MS;
      const { reply } = await retryAwsCall(aws, 2, () =>
        sendForText(aws, "s3", toRequest(key, request), timeoutMs),
      );
      return reply;
    },
  };
  return {
    put: async (key, content) => uploadInParts(bucket, key, content),

    head: async (key) => {
      const reply = await bucket.send(key, { method: "HEAD" });
      return isMissing(reply) ? undefined : toMetadata(requireOk("HEAD", reply));
    },

    get: async (key, { range, version } = {}) => {
      const headers = {
        ...(version !== undefined && { "if-match": version }),
        ...(range && { range: `bytes=${assertRange(range)}` }),
      };
      const { reply } = await retryAwsCall(aws, 2, () =>
        sendRequest(aws, "s3", toRequest(key, { headers }), TIMEOUT_MS),
      );
      if (isMissing(reply)) return undefined;
      if (isEmptyBlob(reply, range)) return await readEmptyBlob(bucket, key, version);
      if (isRangeRefused(reply)) throw createRangeError(range, reply);
      const { headers: responseHeaders, body: content } = requireOk("GET", reply);
      const metadata = toMetadata({ headers: responseHeaders });
      if (version === undefined || version === metadata.version) return { ...metadata, content };
      content.destroy();
      return undefined;
    },

    remove: async (key) => void requireOk("DELETE", await bucket.send(key, { method: "DELETE" })),

    // Only the object and the time are signed, so a plain `curl -T` is enough.
    presignPut: async (key, { expiresInSeconds }) =>
      createSignedLink(aws, "s3", toRequest(key, { method: "PUT" }), expiresInSeconds),

    presignGet: async (key, { expiresInSeconds, fileName, contentType }) => {
      const query = {
        "response-content-disposition": toContentDisposition(fileName),
        "response-content-type": contentType,
      };
      return createSignedLink(aws, "s3", toRequest(key, { query }), expiresInSeconds);
    },
  };
};

const createRequestBuilder =
  ({ endpoints, region }: Aws, name: string) =>
  (key: string, request: Partial<AwsRequest>): AwsRequest => {
    assertBlobKey(key);
    const { s3 } = endpoints;
    const url = s3 === undefined ? `https://${name}.s3.${region}.amazonaws.com` : `${s3}/${name}`;
    // A key has no character that a path must escape.
    return { method: "GET", ...request, path: `/${key}`, url };
  };

/** Missing, or with other content than requested. */
const isMissing = (reply: AwsReply | AwsTextReply): boolean =>
  reply.kind === "refused" && (reply.status === 404 || reply.status === 412);

const isRangeRefused = (reply: AwsReply): reply is AwsRefusal =>
  reply.kind === "refused" && reply.status === 416;

/** An empty object has no ranges: a range from 0 means all of it. */
const isEmptyBlob = (reply: AwsReply, range: ByteRange | undefined): boolean =>
  isRangeRefused(reply) && range?.from === 0;

const readEmptyBlob = async (bucket: S3Bucket, key: string, version: string | undefined) => {
  const reply = await bucket.send(
    key,
    version === undefined ? {} : { headers: { "if-match": version } },
  );
  if (isMissing(reply)) return undefined;
  const { headers, text } = requireOk("GET", reply);
  return { ...toMetadata({ headers }), content: singleChunk(Buffer.from(text)) };
};

const assertRange = ({ from, to }: ByteRange): string => {
  if (from < 0 || from > to) throw new RangeError(`bytes ${from}-${to}`);
  return `${from}-${to}`;
};

const createRangeError = (
  { from, to }: ByteRange = { from: 0, to: 0 },
  { headers }: AwsRefusal,
): RangeError =>
  new RangeError(`bytes ${from}-${to} of ${headers["content-range"]?.split("/")[1] ?? "fewer"}`);

/** S3's ETag identifies the content. */
const toMetadata = ({ headers }: Pick<AwsRefusal, "headers">): BlobMetadata => {
  const all = headers["content-range"]?.split("/")[1] ?? headers["content-length"];
  return { version: headers["etag"] ?? "", bytes: Number(all) };
};
