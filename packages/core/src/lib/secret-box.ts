import { createCipheriv, createDecipheriv, createHmac } from "node:crypto";
import type { World } from "../ports/world.ts";

const CIPHER = "aes-256-gcm";
const IV_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Encrypts a secret for storage: a leaked table does not reveal it. `associatedData` identifies the owner, and the secret
 * cannot be decrypted for another owner.
 */
export const encryptSecret = (
  world: Pick<World, "randomBytes" | "settings">,
  associatedData: string,
  text: string,
): string => {
  const iv = world.randomBytes(IV_BYTES);
  const cipher = createCipheriv(CIPHER, deriveKey(world.settings.encryptionKey), iv);
  cipher.setAAD(Buffer.from(associatedData));
  const ciphertext = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), ciphertext]).toString("base64url");
};

/** Undefined when the text was not encrypted for this owner, with the key or the one before. */
export const decryptSecret = (
  { settings }: Pick<World, "settings">,
  associatedData: string,
  encrypted: string,
): string | undefined => {
  const bytes = Buffer.from(encrypted, "base64url");
  if (bytes.length < IV_BYTES + TAG_BYTES) return undefined;
  const { encryptionKey, encryptionKeyBefore } = settings;
  return (
    decryptWith(encryptionKey, associatedData, bytes) ??
    (encryptionKeyBefore === null
      ? undefined
      : decryptWith(encryptionKeyBefore, associatedData, bytes))
  );
};

const decryptWith = (
  setting: string,
  associatedData: string,
  bytes: Buffer,
): string | undefined => {
  const iv = bytes.subarray(0, IV_BYTES);
  const decipher = createDecipheriv(CIPHER, deriveKey(setting), iv, {
    authTagLength: TAG_BYTES,
  });
  decipher.setAAD(Buffer.from(associatedData));
  decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
  try {
    const text = decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES));
    return Buffer.concat([text, decipher.final()]).toString("utf8");
  } catch {
    return undefined;
  }
};

/** The setting is a long text of any length; the cipher needs a key of 32 bytes. */
const deriveKey = (setting: string): Buffer =>
  createHmac("sha256", setting).update("encrypted secrets").digest();
