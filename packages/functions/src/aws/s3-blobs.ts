import { attachment } from "@mailproof/core/attachment";
import { assertBlobKey, type BlobFacts, type Blobs, type ByteRange } from "@mailproof/core/blobs";
import { onePiece } from "../one-piece.ts";
import {
  type Asking,
  type Aws,
  ask,
  askWhole,
  certain,
  type Heard,
  PATIENCE_MS,
  persist,
  type Read,
  type Refusal,
  signedLink,
} from "./aws.ts";
import { type Bucket, putInParts } from "./s3-parts.ts";

const TIMEOUT_MS = 5_000;

/** `name` is a bucket of this account. Its role may list it: without that S3 says "forbidden" of what is not there. */
export const s3Blobs = (aws: Aws, name: string): Blobs => {
  const at = askingIn(aws, name);
  const bucket: Bucket = {
    ask: async (key, asking) => {
      // A part takes a while on its way.
      const timeoutMs = asking.body === undefined ? TIMEOUT_MS : PATIENCE_MS;
      const { heard } = await persist(aws, 2, () =>
        askWhole(aws, "s3", at(key, asking), timeoutMs),
      );
      return heard;
    },
  };
  return {
    put: async (key, content) => putInParts(bucket, key, content),

    head: async (key) => {
      const heard = await bucket.ask(key, { method: "HEAD" });
      return isMissing(heard) ? undefined : factsOf(certain("HEAD", heard));
    },

    get: async (key, { range, version } = {}) => {
      const headers = {
        ...(version !== undefined && { "if-match": version }),
        ...(range && { range: `bytes=${assertRange(range)}` }),
      };
      const { heard } = await persist(aws, 2, () =>
        ask(aws, "s3", at(key, { headers }), TIMEOUT_MS),
      );
      if (isMissing(heard)) return undefined;
      if (isEmptied(heard, range)) return await emptyAt(bucket, key, version);
      if (isBeyond(heard)) throw beyond(range, heard);
      const { headers: sent, body: content } = certain("GET", heard);
      const facts = factsOf({ headers: sent });
      if (version === undefined || version === facts.version) return { ...facts, content };
      content.destroy();
      return undefined;
    },

    remove: async (key) => void certain("DELETE", await bucket.ask(key, { method: "DELETE" })),

    // Nothing is signed but the object and the time, so a bare `curl -T` sends all that is needed.
    putLink: async (key, { expiresInSeconds }) =>
      signedLink(aws, "s3", at(key, { method: "PUT" }), expiresInSeconds),

    getLink: async (key, { expiresInSeconds, fileName, contentType }) => {
      const query = {
        "response-content-disposition": attachment(fileName),
        "response-content-type": contentType,
      };
      return signedLink(aws, "s3", at(key, { query }), expiresInSeconds);
    },
  };
};

const askingIn =
  ({ endpoints, region }: Aws, name: string) =>
  (key: string, asking: Partial<Asking>): Asking => {
    assertBlobKey(key);
    const { s3 } = endpoints;
    const url = s3 === undefined ? `https://${name}.s3.${region}.amazonaws.com` : `${s3}/${name}`;
    // A key has no letter that a path would have to escape.
    return { method: "GET", ...asking, path: `/${key}`, url };
  };

/** Not there, or there with other bytes than were asked for. */
const isMissing = (heard: Heard | Read): boolean =>
  heard.kind === "refused" && (heard.status === 404 || heard.status === 412);

const isBeyond = (heard: Heard): heard is Refusal =>
  heard.kind === "refused" && heard.status === 416;

/** Nothing has no range: whoever asks for it from its beginning means all of it. */
const isEmptied = (heard: Heard, range: ByteRange | undefined): boolean =>
  isBeyond(heard) && range?.from === 0;

const emptyAt = async (bucket: Bucket, key: string, version: string | undefined) => {
  const heard = await bucket.ask(
    key,
    version === undefined ? {} : { headers: { "if-match": version } },
  );
  if (isMissing(heard)) return undefined;
  const { headers, text } = certain("GET", heard);
  return { ...factsOf({ headers }), content: onePiece(Buffer.from(text)) };
};

const assertRange = ({ from, to }: ByteRange): string => {
  if (from < 0 || from > to) throw new RangeError(`bytes ${from}-${to}`);
  return `${from}-${to}`;
};

const beyond = ({ from, to }: ByteRange = { from: 0, to: 0 }, { headers }: Refusal): RangeError =>
  new RangeError(`bytes ${from}-${to} of ${headers["content-range"]?.split("/")[1] ?? "fewer"}`);

/** What S3 calls an ETag: it stands for these bytes. */
const factsOf = ({ headers }: Pick<Refusal, "headers">): BlobFacts => {
  const all = headers["content-range"]?.split("/")[1] ?? headers["content-length"];
  return { version: headers["etag"] ?? "", bytes: Number(all) };
};
