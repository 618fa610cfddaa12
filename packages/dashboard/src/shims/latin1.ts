// Replaces core's use of Buffer (packages/core/src/intake/latin1.ts), because a browser has no Buffer.

const CHUNK = 8_192;

export const bytesToLatin1 = (bytes: Uint8Array): string => {
  let text = "";
  for (let from = 0; from < bytes.length; from += CHUNK)
    text += String.fromCharCode(...bytes.subarray(from, from + CHUNK));
  return text;
};

const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });

export const latin1ToText = (latin1: string): string =>
  utf8.decode(Uint8Array.from(latin1, (one) => one.charCodeAt(0)));

export const textToLatin1 = (text: string): string => bytesToLatin1(new TextEncoder().encode(text));
