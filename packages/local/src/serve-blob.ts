import type { IncomingMessage, ServerResponse } from "node:http";
import { attachment } from "@mailproof/core/attachment";
import { type Blobs, type ByteRange, UnreadableBlobError } from "@mailproof/core/blobs";
import { Failure } from "@mailproof/core/failure";
import { BLOBS_PATH, type LinkPurpose, type OpenLink } from "./blob-links.ts";
import { upTo } from "./incoming.ts";
import { poured } from "./outgoing.ts";
import type { Slots } from "./slots.ts";

/** What S3 is on AWS: it honours a signed link, and knows nothing else of who is asking. */
export const serveBlob = async (
  blobs: Blobs,
  { openLink, downloads }: { readonly openLink: OpenLink; readonly downloads: Slots },
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> => {
  const [path = "", search = ""] = (incoming.url ?? "").split("?", 2);
  const key = path.slice(BLOBS_PATH.length);
  const purpose = openLink(incoming.method ?? "", key, new URLSearchParams(search));
  if (!purpose) {
    const what = "This link has expired, was changed, or is for another method or object.";
    throw new Failure("FORBIDDEN", "nothing_charged", what);
  }
  if (purpose.method === "PUT") await take(blobs, purpose, incoming, outgoing);
  else {
    const release = downloads.acquireSlot(purpose.account ?? key);
    await give(blobs, purpose, incoming, outgoing).finally(release);
  }
};

type Put = Extract<LinkPurpose, { method: "PUT" }>;
type Get = Extract<LinkPurpose, { method: "GET" }>;

const take = async (blobs: Blobs, purpose: Put, incoming: IncomingMessage, out: ServerResponse) => {
  const { key, bytesMax } = purpose;
  if (Number(incoming.headers["content-length"] ?? 0) > bytesMax) throw tooLarge(bytesMax);
  const content = upTo(bytesMax, incoming, () => tooLarge(bytesMax));
  const { version } = await blobs.put(key, content);
  out.writeHead(200, { etag: `"${version}"` }).end();
};

const tooLarge = (bytesMax: number) =>
  new Failure("PAYLOAD_TOO_LARGE", "nothing_charged", `The file is over ${bytesMax} bytes.`);

const give = async (blobs: Blobs, purpose: Get, incoming: IncomingMessage, out: ServerResponse) => {
  try {
    await pass(blobs, purpose, incoming, out);
  } catch (error) {
    if (!(error instanceof UnreadableBlobError)) throw error;
    // What has a link can be made again, and is when somebody asks for the link again. What was sent already breaks off.
    await blobs.remove(purpose.key);
    throw gone(error);
  }
};

const gone = (cause?: UnreadableBlobError) => {
  const what = "The object behind this link is gone.";
  return new Failure("NOT_FOUND", "nothing_charged", what, { cause });
};

const pass = async (
  blobs: Blobs,
  { key, fileName, contentType }: Get,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
) => {
  const facts = await blobs.head(key);
  const range = facts && rangeOf(incoming.headers.range, facts.bytes);
  const found =
    facts && (await blobs.get(key, { version: facts.version, ...(range && { range }) }));
  if (!found) throw gone();
  outgoing.writeHead(range ? 206 : 200, {
    "accept-ranges": "bytes",
    "content-type": contentType,
    "content-length": range ? range.to - range.from + 1 : found.bytes,
    ...(range && { "content-range": `bytes ${range.from}-${range.to}/${found.bytes}` }),
    "content-disposition": attachment(fileName),
    "x-content-type-options": "nosniff",
    etag: `"${found.version}"`,
  });
  await poured(found.content, outgoing);
};

/** One range, as a download that is resumed asks for it. Any other wish is answered with the whole (RFC 9110). */
const rangeOf = (header: string | undefined, bytes: number): ByteRange | undefined => {
  const [, first = "", last = ""] = /^bytes=(\d*)-(\d*)$/.exec(header ?? "") ?? [];
  if (first === "" && last === "") return undefined;
  const from = first === "" ? Math.max(0, bytes - Number(last)) : Number(first);
  const to = first === "" || last === "" ? bytes - 1 : Math.min(Number(last), bytes - 1);
  return from <= to ? { from, to } : undefined;
};
