import { createHash, createHmac } from "node:crypto";
import { once } from "node:events";
import { createReadStream, statSync } from "node:fs";
import http, { type IncomingMessage } from "node:http";
import https from "node:https";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";

// What a backup needs of a store that speaks S3: to store, to list and to remove an object. Signed here (Signature Version 4),
// since AWS's client would be larger than all that people install.

export type S3Bucket = {
  /** The endpoint followed by the bucket's name. */
  readonly url: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
  /** Before each repeat of a request that had no reply, or a reply of 5xx. */
  readonly pausesMs: readonly number[];
};

type S3Request = {
  readonly method: "GET" | "PUT" | "DELETE";
  readonly key?: string;
  readonly query?: Readonly<Record<string, string>>;
  /** The file of this machine to send. */
  readonly file?: string;
};

/** Omits the file's hash, which would need a second read: TLS protects the transfer, and the file contains a checksum. */
const PAYLOAD = "UNSIGNED-PAYLOAD";

export const signRequest = (
  { url, region, accessKeyId, secretAccessKey, sessionToken }: S3Bucket,
  { method, key = "", query = {} }: S3Request,
  at: Date,
) => {
  const target = new URL(`${url}/${key.split("/").map(encode).join("/")}`);
  target.search = Object.entries(query)
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .toSorted()
    .join("&");
  const time = at.toISOString().replaceAll(/[:-]|\.\d+/g, "");
  const headers: Readonly<Record<string, string>> = {
    host: target.host,
    "x-amz-content-sha256": PAYLOAD,
    "x-amz-date": time,
    ...(sessionToken !== undefined && { "x-amz-security-token": sessionToken }),
  };
  const names = Object.keys(headers);
  const canonical = [
    method,
    target.pathname,
    target.search.slice(1),
    ...names.map((name) => `${name}:${headers[name]}`),
    "",
    names.join(";"),
    PAYLOAD,
  ].join("\n");
  const scope = [time.slice(0, 8), region, "s3", "aws4_request"];
  const signingKey = scope.reduce<Buffer>(sign, Buffer.from(`AWS4${secretAccessKey}`));
  const signed = ["AWS4-HMAC-SHA256", time, scope.join("/"), hash(canonical)].join("\n");
  const signature = sign(signingKey, signed).toString("hex");
  const authorization = `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope.join("/")}, SignedHeaders=${names.join(";")}, Signature=${signature}`;
  return { url: target.href, headers: { ...headers, authorization } };
};

const encode = (text: string): string =>
  encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
const hash = (bytes: string): string => createHash("sha256").update(bytes).digest("hex");
const sign = (key: Buffer, text: string): Buffer => createHmac("sha256", key).update(text).digest();

type Reply = { readonly status: number; readonly text: string };

/** The longest time without a byte in either direction. */
const SILENCE_MS = 60_000;

/** Avoids `fetch`, which reads a whole file into memory before it sends the file. */
const sendOnce = async (bucket: S3Bucket, request: S3Request): Promise<Reply> => {
  const { method, file } = request;
  const { url, headers } = signRequest(bucket, request, new Date());
  const length = file === undefined ? 0 : statSync(file).size;
  const options = {
    method,
    headers: { ...headers, "content-length": length },
    timeout: SILENCE_MS,
  };
  const outgoing = (url.startsWith("https:") ? https : http).request(url, options);
  outgoing.on("timeout", () => void outgoing.destroy(new Error("the store is silent")));
  const replied = once(outgoing, "response") as Promise<[IncomingMessage]>;
  // A refusal may come before the end of the file.
  const body = file === undefined ? Readable.from([]) : createReadStream(file);
  pipeline(body, outgoing).catch(() => undefined);
  const [response] = await replied;
  return { status: response.statusCode ?? 0, text: await readText(response) };
};

/** A list of a thousand names of the greatest length, escaped. */
const REPLY_BYTES_MAX = 10_000_000;

const readText = async (response: IncomingMessage): Promise<string> => {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of response as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > REPLY_BYTES_MAX) throw new Error("the store's reply does not end");
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString();
};

/** Repeats a request without a reply, since each request has the same effect when it is sent twice. */
const send = async (bucket: S3Bucket, request: S3Request): Promise<Reply> => {
  for (const pauseMs of bucket.pausesMs) {
    const reply = await sendOnce(bucket, request).catch(() => undefined);
    if (reply && reply.status < 500) return requireOk(request, reply);
    await sleep(pauseMs);
  }
  return requireOk(request, await sendOnce(bucket, request));
};

const requireOk = ({ method, key = "" }: S3Request, reply: Reply): Reply => {
  if (reply.status < 300) return reply;
  const reason = [readTag(reply.text, "Code"), readTag(reply.text, "Message")].join(" ");
  throw new Error(`${method} ${key}: the store replied ${reply.status} ${reason}`.trim());
};

const readTag = (xml: string, tag: string): string => xml.split(`<${tag}>`)[1]?.split("<")[0] ?? "";

/** Stores the object. It appears when all of it has arrived, or not at all. */
export const putObject = async (bucket: S3Bucket, key: string, file: string): Promise<void> => {
  await send(bucket, { method: "PUT", key, file });
};

/** A page has a thousand names. */
const LIST_PAGES_MAX = 1_000;

/** Lists the objects with this prefix, without objects in deeper folders. */
export const listObjects = async (bucket: S3Bucket, prefix: string): Promise<string[]> => {
  const names: string[] = [];
  let after = "";
  for (let pages = 0; pages === 0 || after !== ""; pages++) {
    if (pages === LIST_PAGES_MAX) throw new Error("the store's list of backups does not end");
    const more = after !== "" && { "continuation-token": after };
    const query = { "list-type": "2", delimiter: "/", prefix, ...more };
    const { text } = await send(bucket, { method: "GET", query });
    for (const [, key = ""] of text.matchAll(/<Key>([^<]*)<\/Key>/g))
      names.push(key.slice(key.lastIndexOf("/") + 1));
    after = readTag(text, "NextContinuationToken");
  }
  return names;
};

export const removeObject = async (bucket: S3Bucket, key: string): Promise<void> => {
  await send(bucket, { method: "DELETE", key });
};
