// Converts bytes to texts of one character per byte with Node's own functions. The dashboard replaces this module in browsers
// (packages/dashboard/build.ts).

export const bytesToLatin1 = ({ buffer, byteOffset, length }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, length).toString("latin1");

/** Decodes UTF-8; an invalid byte becomes U+FFFD. */
export const latin1ToText = (latin1: string): string => Buffer.from(latin1, "latin1").toString();

export const textToLatin1 = (text: string): string => Buffer.from(text).toString("latin1");
