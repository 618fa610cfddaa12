// In a browser the dashboard has another module in this one's place (packages/dashboard/build.ts).

/** How long the text is in UTF-8. */
export const countOctets = (text: string): number => Buffer.byteLength(text);
