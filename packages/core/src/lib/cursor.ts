import { createHmac, timingSafeEqual } from "node:crypto";
import type { Settings } from "../ports/settings.ts";
import type { Json } from "../ports/table.ts";

const MAC_BYTES = 12;

type CursorSettings = Pick<Settings, "cursorSecret" | "cursorSecretBefore">;

/**
 * Signs the position where a client stopped. `binding` identifies the list and the filter: a cursor of another list, or with
 * one changed letter, is invalid.
 */
export const signCursor = (
  { cursorSecret }: CursorSettings,
  binding: string,
  position: Json,
): string => {
  const body = Buffer.from(JSON.stringify(position));
  return Buffer.concat([computeMac(cursorSecret, binding, body), body]).toString("base64url");
};

/** Undefined when this service did not sign the cursor for this binding. */
export const verifyCursor = (
  { cursorSecret, cursorSecretBefore }: CursorSettings,
  binding: string,
  cursor: string,
): Json | undefined => {
  const bytes = Buffer.from(cursor, "base64url");
  // Node skips characters outside base64url, so compare: each cursor has exactly one spelling.
  if (bytes.toString("base64url") !== cursor || bytes.length <= MAC_BYTES) return undefined;
  const body = bytes.subarray(MAC_BYTES);
  const isSignedWith = (secret: string): boolean =>
    timingSafeEqual(bytes.subarray(0, MAC_BYTES), computeMac(secret, binding, body));
  const isOurs =
    isSignedWith(cursorSecret) || (cursorSecretBefore !== null && isSignedWith(cursorSecretBefore));
  return isOurs ? (JSON.parse(body.toString()) as Json) : undefined;
};

const computeMac = (secret: string, binding: string, body: Buffer): Buffer =>
  createHmac("sha256", secret)
    .update(`${binding.length}:${binding}`)
    .update(body)
    .digest()
    .subarray(0, MAC_BYTES);
