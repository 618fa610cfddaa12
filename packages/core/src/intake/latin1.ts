// Bytes as texts of one character per byte, by Node's own functions. In a browser the dashboard has another module in this
// one's place (packages/dashboard/build.ts).

export const bytesToLatin1 = ({ buffer, byteOffset, length }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, length).toString("latin1");

/** What the bytes say as UTF-8; an invalid one becomes U+FFFD. */
export const latin1ToText = (latin1: string): string => Buffer.from(latin1, "latin1").toString();

export const textToLatin1 = (text: string): string => Buffer.from(text).toString("latin1");
