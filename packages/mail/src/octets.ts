// The dashboard's build replaces this module in a browser (packages/dashboard/build.ts).

/** Counts the octets of a text in UTF-8. */
export const countOctets = (text: string): number => Buffer.byteLength(text);
