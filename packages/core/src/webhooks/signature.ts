import { createHmac } from "node:crypto";
import { toEpochSeconds } from "../lib/time.ts";
import type { World } from "../ports/world.ts";

// Signs as Standard Webhooks defines, so that any library for it can verify the requests.

const PREFIX = "whsec_";
/** The standard requires 24 to 64 bytes. */
const SECRET_BYTES = 24;

export const generateSecret = ({ randomBytes }: Pick<World, "randomBytes">): string =>
  PREFIX + Buffer.from(randomBytes(SECRET_BYTES)).toString("base64");

/**
 * Returns the HMAC key of a secret: the decoded bytes after whsec_; for any other text, which a client chose for a callback,
 * its own bytes.
 */
export const toSigningKey = (secret: string): Buffer => {
  const text = secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : "";
  const key = Buffer.from(text, "base64");
  const isBase64 =
    key.toString("base64").replace(/(?<!=)=+$/, "") === text.replace(/(?<!=)=+$/, "");
  return isBase64 && key.length > 0 ? key : Buffer.from(secret);
};

type SignedMessage = { readonly id: string; readonly body: string; readonly at: Date };

export const signHeaders = (
  { id, body, at }: SignedMessage,
  secret: string | null,
): Readonly<Record<string, string>> => {
  const timestamp = String(toEpochSeconds(at));
  const headers = { "webhook-id": id, "webhook-timestamp": timestamp };
  if (secret === null) return headers;
  const key = toSigningKey(secret);
  const mac = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64");
  return { ...headers, "webhook-signature": `v1,${mac}` };
};
