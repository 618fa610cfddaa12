import type { WebhookEvent } from "./types.ts";

// The client checks requests by Standard Webhooks: an HMAC over id, time and body, sent in three headers.

/** A webhook request. */
export interface WebhookInput {
  /** The original body, not parsed and serialized JSON. */
  body: string | Uint8Array;
  /** The headers of the request. Names of a plain object may have any case. */
  headers:
    | {
        /** The value of a header, or null, as in `Headers`. */
        get(name: string): string | null;
      }
    | Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The signing secret, or both secrets while a new one replaces the old. */
  secret: string | readonly string[];
  /** The allowed difference between the sender's clock and ours, in seconds. Default: 300. */
  toleranceSeconds?: number | undefined;
  /** Replaces the current time. */
  now?: Date | undefined;
}

/** The reasons for which a webhook request is refused. */
export type WebhookFault =
  | "MISSING_HEADER"
  | "INVALID_TIMESTAMP"
  | "TOO_OLD"
  | "TOO_NEW"
  | "INVALID_SECRET"
  | "INVALID_SIGNATURE"
  | "UNREADABLE";

/** The request is not proven to come from the service. Respond with 400 and ignore it. */
export class WebhookError extends Error {
  /** Always `WebhookError`. */
  override readonly name = "WebhookError";
  /** The reason for which the request was refused. */
  readonly code: WebhookFault;

  constructor(code: WebhookFault, message: string) {
    super(message);
    this.code = code;
  }
}

const TOLERANCE_SECONDS = 300;

/** Returns the event after checking who sent it, and that it was sent just now. */
export const verifyWebhook = async ({
  body,
  headers,
  secret,
  toleranceSeconds = TOLERANCE_SECONDS,
  now = new Date(),
}: WebhookInput): Promise<WebhookEvent> => {
  const [id, timestamp, signatures] = [
    readHeader(headers, "webhook-id"),
    readHeader(headers, "webhook-timestamp"),
    readHeader(headers, "webhook-signature"),
  ];
  assertRecent(timestamp, toleranceSeconds, now);
  const signed = new Uint8Array([...toBytes(`${id}.${timestamp}.`), ...toBytes(body)]);
  const given = parseSignatures(signatures);
  let isProven = false;
  for (const one of [secret].flat()) {
    const key = await importKey(one);
    // WebCrypto compares in constant time.
    for (const signature of given)
      isProven = (await crypto.subtle.verify("HMAC", key, signature, signed)) || isProven;
  }
  if (!isProven) throw new WebhookError("INVALID_SIGNATURE", "No signature matches the secret.");
  return parseEvent(body);
};

const readHeader = (headers: WebhookInput["headers"], name: string): string => {
  const found = isGetter(headers)
    ? headers.get(name)
    : Object.entries(headers).find(([one]) => one.toLowerCase() === name)?.[1];
  const value = Array.isArray(found) ? found.join(" ") : found;
  if (typeof value === "string" && value !== "") return value;
  throw new WebhookError("MISSING_HEADER", `The header ${name} is missing.`);
};

const isGetter = (
  headers: WebhookInput["headers"],
): headers is { get(name: string): string | null } => typeof headers["get"] === "function";

const assertRecent = (timestamp: string, toleranceSeconds: number, now: Date): void => {
  if (!/^\d{1,12}$/.test(timestamp))
    throw new WebhookError("INVALID_TIMESTAMP", "webhook-timestamp is not a time.");
  const aheadSeconds = Number(timestamp) - now.getTime() / 1000;
  if (aheadSeconds < -toleranceSeconds)
    throw new WebhookError("TOO_OLD", "The event is too old: it may be a replay.");
  if (aheadSeconds > toleranceSeconds)
    throw new WebhookError("TOO_NEW", "The event is from the future: check the clocks.");
};

type Bytes = Uint8Array<ArrayBuffer>;

/** Parses the v1 signatures of a header that may have several, separated by blanks. */
const parseSignatures = (header: string): readonly Bytes[] =>
  header.split(" ").flatMap((one) => {
    const [version, text = ""] = one.split(",");
    const bytes = version === "v1" ? fromBase64(text) : undefined;
    return bytes ? [bytes] : [];
  });

const PREFIX = "whsec_";

/** Follows the service's signing: decodes `whsec_` and base64; the bytes of any other text, chosen for a callback, are the key. */
const importKey = async (secret: string) => {
  if (secret === "") throw new WebhookError("INVALID_SECRET", "Not a signing secret.");
  const bytes = decodeSecret(secret) ?? toBytes(secret);
  const hmac = { name: "HMAC", hash: "SHA-256" };
  return crypto.subtle.importKey("raw", bytes, hmac, false, ["verify"]);
};

const decodeSecret = (secret: string): Bytes | undefined => {
  const text = secret.startsWith(PREFIX) ? stripPadding(secret.slice(PREFIX.length)) : "";
  const bytes = fromBase64(text);
  // `atob` also accepts blanks and surplus bits, which the service refuses.
  const isBase64 = bytes && stripPadding(btoa(String.fromCharCode(...bytes))) === text;
  return isBase64 && text !== "" ? bytes : undefined;
};

const stripPadding = (base64: string): string => base64.replace(/(?<!=)=+$/, "");

const fromBase64 = (text: string): Bytes | undefined => {
  try {
    return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  } catch {
    return undefined;
  }
};

const toBytes = (text: string | Uint8Array): Bytes =>
  typeof text === "string" ? new TextEncoder().encode(text) : new Uint8Array(text);

const parseEvent = (body: string | Uint8Array): WebhookEvent => {
  try {
    return JSON.parse(new TextDecoder().decode(toBytes(body))) as WebhookEvent;
  } catch {
    throw new WebhookError("UNREADABLE", "The body is not JSON.");
  }
};
