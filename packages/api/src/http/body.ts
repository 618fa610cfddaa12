import { Failure } from "@mailproof/core/lib/failure";
import type { Endpoint } from "./endpoint.ts";

/** A hundred addresses of the greatest length fit into the default limit. */
export const BODY_BYTES_MAX = 128_000;

export const getBodyBytesMax = ({
  bodyBytesMax = BODY_BYTES_MAX,
}: Pick<Endpoint, "bodyBytesMax">) => bodyBytesMax;

export const bodyTooLarge = (bytesMax: number) => {
  const what = `The body is over ${bytesMax} bytes, the most that this operation takes.`;
  return new Failure("PAYLOAD_TOO_LARGE", "nothing_charged", what);
};

/**
 * The limit of a form or a response on AWS: a Lambda accepts and returns 6 MB of JSON, in which base64 uses four characters for
 * three bytes, and every quote uses two.
 */
export const LAMBDA_BYTES_MAX = 4_500_000;

/** A list of 50 MiB fits, with the boundaries around it. */
export const FORM_BYTES_MAX = 55_000_000;

/** `bytesMax` differs, because API Gateway allows less than one machine does. */
export const formTooLarge = (bytesMax: number) => {
  const what = `A form may have at most ${bytesMax} bytes here. A larger list goes in two steps: POST /v1/verify/file (action get_upload_url) and PUT the file to its upload_url; then POST again (action process).`;
  return new Failure("PAYLOAD_TOO_LARGE", "nothing_charged", what);
};

// A repeat of the same request may arrive whole, because the network caused the fault.
export const brokenOff = (cause: unknown) =>
  unreadable("body: broke off before its end.", cause, true);

export const tooSlow = (leastBytesPerSecond: number) =>
  unreadable(`body: came at less than ${leastBytesPerSecond} bytes a second.`, undefined, true);

export const malformedJson = (cause?: unknown) => unreadable("body: must be valid JSON.", cause);

const JSON_TYPE = /^\s*application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;

/** A missing type counts as JSON; any other type is meant for another service. */
export const assertJsonType = (contentType: string | undefined): void => {
  if (contentType !== undefined && !JSON_TYPE.test(contentType))
    throw unreadable("content-type: must be application/json.");
};

/** An invalid UTF-8 sequence would silently become another address. The decoder removes a byte order mark. */
const utf8 = new TextDecoder("utf-8", { fatal: true });

export const decodeJson = (bytes: Uint8Array): string => {
  try {
    return utf8.decode(bytes);
  } catch (cause) {
    throw unreadable("body: must be UTF-8.", cause);
  }
};

/** The size of a compressed body is known only after unpacking, and no operation needs compression. */
export const assertNotCompressed = (encoding: string | undefined): void => {
  if (["", "identity"].includes(encoding?.trim().toLowerCase() ?? "")) return;
  const what = "content-encoding: a compressed body is not read. Send it as it is.";
  throw new Failure("UNSUPPORTED_MEDIA_TYPE", "nothing_charged", what);
};

/** For runtimes without the middleware that parses on AWS. The text has passed `createJsonGuard`. */
export const parseJson = (bytes: Uint8Array): unknown => {
  const text = decodeJson(bytes);
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw malformedJson(cause);
  }
};

/** Fields of an operation are at most six levels deep; a tool call adds three. */
const DEPTH_MAX = 32;
/** Ten times the values of the largest batch. */
const VALUES_MAX = 100_000;

/**
 * Parsing 5 MB of text takes 40 ms, of names one second, of brackets two seconds, while the process serves nothing else. So
 * this counts brackets and values outside strings first, in 15 ms.
 */
export const assertCheapJson = (bytes: Uint8Array): void => createJsonGuard()(bytes);

/** Checks a body in chunks: it refuses a faulty body at once and stores none of it. */
export const createJsonGuard = (): ((chunk: Uint8Array) => void) => {
  let depth = 0;
  let values = 0;
  let isInString = false;
  let isEscaped = false;
  return (chunk) => {
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at];
      if (isEscaped) isEscaped = false;
      else if (isInString) {
        if (byte === BACKSLASH) isEscaped = true;
        else if (byte === QUOTE) isInString = false;
      } else if (byte === QUOTE) isInString = true;
      else if (byte === COMMA || byte === COLON) values++;
      else if (byte === OPEN_LIST || byte === OPEN_OBJECT) depth++;
      else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) depth--;
      if (depth > DEPTH_MAX)
        throw unreadable(`body: is nested more than ${DEPTH_MAX} levels deep.`);
      if (values > VALUES_MAX) throw unreadable(`body: has more than ${VALUES_MAX} values.`);
    }
  };
};

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

const unreadable = (what: string, cause?: unknown, retryable = false) =>
  new Failure("INVALID_REQUEST", "nothing_charged", what, { cause, retryable });
