import { createHmac } from "node:crypto";
import { toEpochSeconds } from "../lib/time.ts";
import type { World } from "../ports/world.ts";

// Standard Webhooks, so that any library that speaks it can check what we send.

const PREFIX = "whsec_";
/** As the standard wants: 24 to 64 bytes. */
const SECRET_BYTES = 24;

export const generateSecret = ({ randomBytes }: Pick<World, "randomBytes">): string =>
  PREFIX + Buffer.from(randomBytes(SECRET_BYTES)).toString("base64");

/**
 * The HMAC key of a secret: of whsec_ and base64 the bytes that the base64 stands for, of any other text, which a caller
 * chose for a callback, its own bytes.
 */
export const toSigningKey = (secret: string): Buffer => {
  const text = secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : "";
  const key = Buffer.from(text, "base64");
  const isBase64 =
    key.toString("base64").replace(/(?<!=)=+$/, "") === text.replace(/(?<!=)=+$/, "");
  return isBase64 && key.length > 0 ? key : Buffer.from(secret);
};

type SignedMessage = { readonly id: string; readonly body: string; readonly at: Date };

/** The headers that say which event it is and when it was sent, and prove by whom. */
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
