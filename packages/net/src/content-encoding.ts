import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

// Content negotiation for texts that are the same for all clients: compressed once, and cached.

/** In the order of preference, where a client accepts several equally. */
const ENCODINGS = ["br", "gzip", "identity"] as const;
export type Encoding = (typeof ENCODINGS)[number];

/** The coding that a client prefers (RFC 9110 §12.5.3). A client that refuses all of them gets the plain text. */
export const chooseEncoding = (acceptEncoding = ""): Encoding => {
  const weights = new Map(acceptEncoding.toLowerCase().split(",").map(readWeight));
  const weightOf = (encoding: Encoding): number =>
    weights.get(encoding) ??
    weights.get("*") ??
    // A client that does not name it accepts plain text, but only where nothing is better.
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

/** Higher levels take ten times as long, and save a twentieth. */
const BROTLI_QUALITY = 9;
const GZIP_LEVEL = 9;

const ENCODERS: Encoders = {
  br: (text) =>
    brotliCompressed(text, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } }),
  gzip: (text) => gzipped(text, { level: GZIP_LEVEL }),
  identity: async (text) => text,
};

/** Below this, a compressed text saves no packet. */
const COMPRESSED_FROM_BYTES = 1_024;
/** A few documents in each encoding, under a few of the host names of a server. */
const CACHED_MAX = 32;

/** Each holds a thread that files and look-ups also need. Beyond this, texts are sent uncompressed. */
const COMPRESSIONS_MAX = 2;

type EncodableText = {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

type RequestConditions = {
  readonly acceptEncoding: string | undefined;
  readonly ifNoneMatch: string | undefined;
};

/**
 * Makes the responses of one process. The host name of a server stands in some texts and is the client's to choose, so
 * the cache is bounded, and drops its oldest entry first.
 */
export const createEncoder = (encoders: Encoders = ENCODERS) => {
  const cache = new Map<string, Promise<Buffer>>();
  const plain = new WeakMap<EncodableText, { readonly bytes: Buffer; readonly hash: string }>();
  let compressions = 0;

  const getPlain = (text: EncodableText) => {
    const cached = plain.get(text);
    if (cached) return cached;
    const bytes = Buffer.from(text.body);
    const hash = createHash("sha256").update(bytes).digest("base64url").slice(0, 22);
    const encoded = { bytes, hash };
    plain.set(text, encoded);
    return encoded;
  };
  const getEncoded = (etag: string, text: Buffer, encoding: Encoding): Promise<Buffer> => {
    const cached = cache.get(etag);
    if (cached) return cached;
    const [oldest] = cache.keys();
    if (cache.size >= CACHED_MAX && oldest !== undefined) cache.delete(oldest);
    compressions++;
    const encoded = encoders[encoding](text).finally(() => compressions--);
    cache.set(etag, encoded);
    return encoded;
  };
  const selectEncoding = (hash: string, acceptEncoding: string | undefined): Encoding => {
    const encoding = chooseEncoding(acceptEncoding);
    return compressions < COMPRESSIONS_MAX || cache.has(`"${hash}-${encoding}"`)
      ? encoding
      : "identity";
  };

  return async (response: EncodableText, conditions: RequestConditions) => {
    const { statusCode, headers } = response;
    const { bytes: text, hash } = getPlain(response);
    const isLong = text.length >= COMPRESSED_FROM_BYTES;
    const encoding = isLong ? selectEncoding(hash, conditions.acceptEncoding) : "identity";
    // Another encoding has other bytes, and so another strong tag (RFC 9110 §8.8.3.3).
    const etag = `"${hash}-${encoding}"`;
    const { vary: others } = headers;
    const vary = others === undefined ? "accept-encoding" : `${others}, accept-encoding`;
    const common = { ...headers, etag, vary };
    if (isMatch(conditions.ifNoneMatch, etag))
      return { statusCode: 304, headers: common, body: Buffer.alloc(0) };
    const coded = encoding === "identity" ? {} : { "content-encoding": encoding };
    const bytes = encoding === "identity" ? text : await getEncoded(etag, text, encoding);
    return { statusCode, headers: { ...common, ...coded }, body: bytes };
  };
};

/** RFC 9110 §13.1.2: a list of tags, compared weakly, or a star. */
export const isMatch = (ifNoneMatch: string | undefined, etag: string): boolean =>
  ifNoneMatch?.split(",").some((one) => ["*", etag].includes(one.trim().replace(/^W\//, ""))) ??
  false;
