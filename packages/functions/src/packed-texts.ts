import { brotliCompressSync, brotliDecompressSync, constants } from "node:zlib";

/** Texts by their paths, packed for a bundle. The texts repeat each other, so one compression window covers all texts. */
export type PackedTexts = string;

const WINDOW = { params: { [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS } };

export const packTexts = (texts: Readonly<Record<string, string>>): PackedTexts =>
  brotliCompressSync(JSON.stringify(texts), WINDOW).toString("base64");

export const unpackTexts = (packed: PackedTexts): ReadonlyMap<string, string> =>
  new Map(
    Object.entries(JSON.parse(brotliDecompressSync(Buffer.from(packed, "base64")).toString())),
  );
