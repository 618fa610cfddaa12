import { brotliCompressSync, brotliDecompressSync, constants } from "node:zlib";

/** Texts by their paths, as a bundle carries them: they repeat much of one another, so one window goes over all of them. */
export type PackedTexts = string;

const WINDOW = { params: { [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS } };

export const packTexts = (texts: Readonly<Record<string, string>>): PackedTexts =>
  brotliCompressSync(JSON.stringify(texts), WINDOW).toString("base64");

export const unpackTexts = (packed: PackedTexts): ReadonlyMap<string, string> =>
  new Map(
    Object.entries(JSON.parse(brotliDecompressSync(Buffer.from(packed, "base64")).toString())),
  );
