import { createHash } from "node:crypto";

// An address or a key in a log would outlive the customer who sent it. The hash in its place still lets an operator match two lines.
const API_KEY = /\bmp_(?:live|test|operator)_[A-Za-z0-9]+|\bwhsec_[A-Za-z0-9+/]+/g;
// An access token: its first two parts are JSON objects in base64url, and every JSON object starts with the same letters.
const ACCESS_TOKEN = /\beyJ[\w-]+\.eyJ[\w-]+(?:\.[\w-]*)?/g;
// A word that contains an @, plain or percent-encoded. A redacted word too many is better than a missed address.
const ADDRESS_CANDIDATE = /[^\s"'<>()[\]{},;:=]+/g;
const AT_SIGN = /@|%(?:25)*40/;
// A local part may be quoted; its spaces and quotes would end the word.
const QUOTED_LOCAL_PART = /"(?:[^"\\]|\\.){1,64}"(?=@|%)/g;
const LINK_SECRET =
  /\b(signature|X-Amz-Signature|X-Amz-Credential|X-Amz-Security-Token|token|__Host-mailproof)=[^&;\s"']+/gi;
// The page of an invitation, whose token follows the #.
const INVITATION = /\blink#[\w-]+/g;

/** A copy of a log line's fields without addresses, keys, tokens and signed links, at any depth. */
export const redact = (value: unknown): unknown => {
  if (typeof value === "string") return redactText(value);
  if (value instanceof Error) return redactText(value.stack ?? value.message);
  if (Array.isArray(value)) return value.map(redact);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [redactText(name), redact(field)]),
  );
};

/** Every pattern above contains one of these signs. A text without them, which is the usual case, is returned unchanged. */
const HAS_SECRETS = /[@%=]|link#|mp_|whsec_|eyJ/;

const redactText = (text: string): string => (HAS_SECRETS.test(text) ? replaceSecrets(text) : text);

const replaceSecrets = (text: string): string =>
  text
    .replaceAll(API_KEY, (found) => `key:${shortHash(found)}`)
    .replaceAll(ACCESS_TOKEN, (found) => `token:${shortHash(found)}`)
    .replaceAll(QUOTED_LOCAL_PART, "")
    .replaceAll(ADDRESS_CANDIDATE, (word) =>
      AT_SIGN.test(word) ? `address:${shortHash(word.toLowerCase())}` : word,
    )
    .replaceAll(INVITATION, "link#redacted")
    .replaceAll(LINK_SECRET, (_, name: string) => `${name}=redacted`);

const shortHash = (text: string): string =>
  createHash("sha256").update(text).digest("base64url").slice(0, 10);
