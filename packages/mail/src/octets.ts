// The dashboard's build replaces this module in a browser (packages/dashboard/build.ts).

export const countOctets = (text: string): number => Buffer.byteLength(text);
