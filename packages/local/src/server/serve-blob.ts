import type { IncomingMessage, ServerResponse } from "node:http";
import { toContentDisposition } from "@mailproof/core/lib/content-disposition";
import { Failure } from "@mailproof/core/lib/failure";
import { type Blobs, type ByteRange, UnreadableBlobError } from "@mailproof/core/ports/blobs";
import { BLOBS_PATH, type LinkPurpose, type OpenLink } from "../storage/blob-links.ts";
import { readUpTo } from "./request-body.ts";
import { pipeToResponse } from "./response-body.ts";

type Downloads = {
  readonly openLink: OpenLink;
  /** Returns the function that ends the download. Throws when the account has too many. */
  readonly beginDownload: (account: string) => () => void;
};

/** The counterpart of S3: it accepts a signed link and no other credential. */
export const serveBlob = async (
  blobs: Blobs,
  { openLink, beginDownload }: Downloads,
  target: string,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> => {
  const [path = "", search = ""] = target.split("?", 2);
  const key = path.slice(BLOBS_PATH.length);
  const purpose = openLink(incoming.method ?? "", key, new URLSearchParams(search));
  if (!purpose) {
    const what = "This link has expired, was changed, or is for another method or object.";
    throw new Failure("FORBIDDEN", "nothing_charged", what);
  }
  if (purpose.method === "PUT") await receiveUpload(blobs, purpose, incoming, outgoing);
  else {
    const end = beginDownload(purpose.account ?? key);
    await sendDownload(blobs, purpose, incoming, outgoing).finally(end);
  }
};

type PutPurpose = Extract<LinkPurpose, { method: "PUT" }>;
type GetPurpose = Extract<LinkPurpose, { method: "GET" }>;

const receiveUpload = async (
  blobs: Blobs,
  purpose: PutPurpose,
  incoming: IncomingMessage,
  out: ServerResponse,
) => {
  const { key, bytesMax, bytes } = purpose;
  const length = incoming.headers["content-length"];
  if (length !== undefined && bytes !== undefined && Number(length) !== bytes)
    throw createOtherSizeError(bytes);
  const content = readUpTo(bytesMax, incoming, () => createTooLargeError(bytesMax));
  const { version } = await blobs.put(
    key,
    bytes === undefined ? content : assertSize(bytes, content),
  );
  out.writeHead(200, { etag: `"${version}"` }).end();
};

/** A body without a Content-Length shows its size only at its end; the store gives the file its name after that. */
async function* assertSize(
  bytes: number,
  content: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  let count = 0;
  for await (const piece of content) {
    count += piece.length;
    if (count > bytes) throw createOtherSizeError(bytes);
    yield piece;
  }
  if (count !== bytes) throw createOtherSizeError(bytes);
}

/** S3 also answers 403, because the link's signature includes the size. */
const createOtherSizeError = (bytes: number) =>
  new Failure("FORBIDDEN", "nothing_charged", `This link is for a file of exactly ${bytes} bytes.`);

const createTooLargeError = (bytesMax: number) =>
  new Failure("PAYLOAD_TOO_LARGE", "nothing_charged", `The file is over ${bytesMax} bytes.`);

const sendDownload = async (
  blobs: Blobs,
  purpose: GetPurpose,
  incoming: IncomingMessage,
  out: ServerResponse,
) => {
  try {
    await streamBlob(blobs, purpose, incoming, out);
  } catch (error) {
    if (!(error instanceof UnreadableBlobError)) throw error;
    // Without the damaged blob, a client can request the export again with a new link. A response in progress aborts.
    await blobs.remove(purpose.key);
    throw createGoneError(error);
  }
};

const createGoneError = (cause?: UnreadableBlobError) => {
  const what = "The object of this link no longer exists.";
  return new Failure("NOT_FOUND", "nothing_charged", what, { cause });
};

const streamBlob = async (
  blobs: Blobs,
  { key, fileName, contentType }: GetPurpose,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
) => {
  const metadata = await blobs.head(key);
  const range = metadata && parseRange(incoming.headers.range, metadata.bytes);
  const blob =
    metadata && (await blobs.get(key, { version: metadata.version, ...(range && { range }) }));
  if (!blob) throw createGoneError();
  outgoing.writeHead(range ? 206 : 200, {
    "accept-ranges": "bytes",
    "content-type": contentType,
    "content-length": range ? range.to - range.from + 1 : blob.bytes,
    ...(range && { "content-range": `bytes ${range.from}-${range.to}/${blob.bytes}` }),
    "content-disposition": toContentDisposition(fileName),
    "x-content-type-options": "nosniff",
    etag: `"${blob.version}"`,
  });
  await pipeToResponse(blob.content, outgoing);
};

/** A single range, which a resumed download requests. For any other range the whole object is sent (RFC 9110). */
const parseRange = (header: string | undefined, bytes: number): ByteRange | undefined => {
  const [, first = "", last = ""] = /^bytes=(\d*)-(\d*)$/.exec(header ?? "") ?? [];
  if (first === "" && last === "") return undefined;
  const from = first === "" ? Math.max(0, bytes - Number(last)) : Number(first);
  const to = first === "" || last === "" ? bytes - 1 : Math.min(Number(last), bytes - 1);
  return from <= to ? { from, to } : undefined;
};
