import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

// Content negotiation for texts that are the same for all clients: the server compresses each text once and caches it.

/** When a client accepts several encodings equally, the first of this list wins. */
const ENCODINGS = ["br", "gzip", "identity"] as const;
export type Encoding = (typeof ENCODINGS)[number];

/** Returns the coding that a client prefers (RFC 9110 §12.5.3). A client that refuses all codings gets the plain text. */
export const chooseEncoding = (acceptEncoding = ""): Encoding => {
  const weights = new Map(acceptEncoding.toLowerCase().split(",").map(readWeight));
  const weightOf = (encoding: Encoding): number =>
    weights.get(encoding) ??
    weights.get("*") ??
    // A client that does not name `identity` accepts plain text, but prefers every coding that it accepts.
    (encoding === "identity" ? Number.MIN_VALUE : 0);
  const [best = "identity"] = ENCODINGS.toSorted((a, b) => weightOf(b) - weightOf(a));
  return weightOf(best) > 0 ? best : "identity";
};

const readWeight = (text: string): readonly [name: string, weight: number] => {
  const [name = "", ...parameters] = text.split(";").map((part) => part.trim());
  const weight = parameters.find((part) => part.startsWith("q="))?.slice(2) ?? "1";
  return [name, /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(weight) ? Number(weight) : 0];
};

export type Encoders = Readonly<Record<Encoding, (text: Buffer) => Promise<Buffer>>>;

const [brotliCompressed, gzipped] = [promisify(brotliCompress), promisify(gzip)];

/** Higher levels take ten times as long and save another twentieth. */
const BROTLI_QUALITY = 9;
const GZIP_LEVEL = 9;

const ENCODERS: Encoders = {
  br: (text) =>
    brotliCompressed(text, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } }),
  gzip: (text) => gzipped(text, { level: GZIP_LEVEL }),
  identity: async (text) => text,
};

/** Compressing a shorter text saves no packet. */
const COMPRESSED_FROM_BYTES = 1_024;

/** Each compression occupies a thread that files and look-ups also need. The server sends further texts uncompressed. */
const COMPRESSIONS_MAX = 2;

type EncodableText = {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

type Headers = Readonly<Record<string, string | undefined>>;

type Body = {
  readonly plain: Buffer;
  readonly hash: string;
  readonly encoded: Map<Encoding, Promise<Buffer>>;
};

/** Creates the encoder of one process. It compresses each text once, and caches it for as long as the caller keeps the text. */
export const createEncoder = (encoders: Encoders = ENCODERS) => {
  const texts = new WeakMap<EncodableText, Body>();
  let compressions = 0;

  const getBody = (text: EncodableText): Body => {
    const existing = texts.get(text);
    if (existing) return existing;
    const plain = Buffer.from(text.body);
    const hash = createHash("sha256").update(plain).digest("base64url").slice(0, 22);
    const made = { plain, hash, encoded: new Map<Encoding, Promise<Buffer>>() };
    texts.set(text, made);
    return made;
  };
  const encode = ({ plain, encoded }: Body, encoding: Encoding): Promise<Buffer> => {
    const existing = encoded.get(encoding);
    if (existing) return existing;
    compressions++;
    const bytes = encoders[encoding](plain).finally(() => compressions--);
    encoded.set(encoding, bytes);
    return bytes;
  };
  const selectEncoding = (
    { plain, encoded }: Body,
    acceptEncoding: string | undefined,
  ): Encoding => {
    if (plain.length < COMPRESSED_FROM_BYTES) return "identity";
    const encoding = chooseEncoding(acceptEncoding);
    return compressions < COMPRESSIONS_MAX || encoded.has(encoding) ? encoding : "identity";
  };

  return async (response: EncodableText, requested: Headers) => {
    const { statusCode, headers } = response;
    const made = getBody(response);
    const encoding = selectEncoding(made, requested["accept-encoding"]);
    // Each encoding has other bytes, and so another strong tag (RFC 9110 §8.8.3.3).
    const etag = `"${made.hash}-${encoding}"`;
    const { vary: others } = headers;
    const vary = others === undefined ? "accept-encoding" : `${others}, accept-encoding`;
    const common = { ...headers, etag, vary };
    if (isMatch(requested["if-none-match"], etag))
      return { statusCode: 304, headers: common, body: Buffer.alloc(0) };
    const coded = encoding === "identity" ? {} : { "content-encoding": encoding };
    return { statusCode, headers: { ...common, ...coded }, body: await encode(made, encoding) };
  };
};

/** RFC 9110 §13.1.2: If-None-Match is a list of tags, which the server compares weakly, or a star. */
export const isMatch = (ifNoneMatch: string | undefined, etag: string): boolean =>
  ifNoneMatch?.split(",").some((one) => ["*", etag].includes(one.trim().replace(/^W\//, ""))) ??
  false;
