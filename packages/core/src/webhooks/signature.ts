import { createHmac } from "node:crypto";
import type { World } from "../world.ts";

// Standard Webhooks, so that any library that speaks it can check what we send.

const PREFIX = "whsec_";
/** As the standard wants: 24 to 64 bytes. */
const SECRET_BYTES = 24;

export const newSecret = ({ randomBytes }: Pick<World, "randomBytes">): string =>
  PREFIX + Buffer.from(randomBytes(SECRET_BYTES)).toString("base64");

/**
 * What signs: of a secret such as whsec_…, what its base64 stands for; of any other, which somebody made up for a
 * callback, its own bytes. Undefined: it says that it is base64 and is not.
 */
export const signingKeyOf = (secret: string): Buffer | undefined => {
  if (!secret.startsWith(PREFIX)) return Buffer.from(secret);
  const text = secret.slice(PREFIX.length);
  const key = Buffer.from(text, "base64");
  const isBase64 =
    key.toString("base64").replace(/(?<!=)=+$/, "") === text.replace(/(?<!=)=+$/, "");
  return isBase64 && key.length > 0 ? key : undefined;
};

type Message = { readonly id: string; readonly body: string; readonly at: Date };

/** The headers that say which event it is and when it was sent, and prove by whom. */
export const headersOf = (
  { id, body, at }: Message,
  secret: string | null,
): Readonly<Record<string, string>> => {
  const timestamp = String(Math.floor(at.getTime() / 1000));
  const headers = { "webhook-id": id, "webhook-timestamp": timestamp };
  if (secret === null) return headers;
  const key = signingKeyOf(secret);
  if (!key) throw new Error("a secret that cannot sign");
  const mac = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64");
  return { ...headers, "webhook-signature": `v1,${mac}` };
};
