import { Failure } from "@mailproof/core/failure";

/** A batch of 10,000 addresses of the greatest length fits; so does what Lambda hands over at once. */
export const BODY_BYTES_MAX = 5_000_000;

export const bodyTooLarge = () =>
  new Failure("PAYLOAD_TOO_LARGE", "nothing_charged", `The body is over ${BODY_BYTES_MAX} bytes.`);

/** A list of 50 MiB and the boundaries round it. */
export const FORM_BYTES_MAX = 55_000_000;

/** `bytesMax` differs: a gateway lets less through than one machine does. */
export const formTooLarge = (bytesMax: number) => {
  const what = `A form may have at most ${bytesMax} bytes here. A larger file goes in two steps: POST /v1/verify/file (action get_upload_url) and PUT the file to its upload_url; then POST again (action process).`;
  return new Failure("PAYLOAD_TOO_LARGE", "nothing_charged", what);
};

export const brokenOff = (cause: unknown) => unreadable("body: broke off before its end.", cause);

export const tooSlow = (leastBytesPerSecond: number) =>
  unreadable(`body: came at less than ${leastBytesPerSecond} bytes a second.`);

export const malformedJson = (cause?: unknown) => unreadable("body: must be valid JSON.", cause);

const JSON_TYPE = /^\s*application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;

/** A missing type is taken for JSON; any other is a request meant for something else. */
export const assertJsonType = (contentType: string | undefined): void => {
  if (contentType !== undefined && !JSON_TYPE.test(contentType))
    throw unreadable("content-type: must be application/json.");
};

/** On AWS the middleware parses; this is for runtimes without it. */
export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw malformedJson(cause);
  }
};

const unreadable = (what: string, cause?: unknown) =>
  new Failure("INVALID_REQUEST", "nothing_charged", what, { cause });
