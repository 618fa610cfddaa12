import { deflateRawSync, inflateRawSync } from "node:zlib";
import type { Json } from "../ports/table.ts";

// What is long, repeats itself and is read as a whole is stored like this: an item costs by its bytes.

/** More than this saves little and costs much. */
const COMPRESSION_LEVEL = 3;

export const compressJson = (value: Json): string =>
  deflateRawSync(JSON.stringify(value), { level: COMPRESSION_LEVEL }).toString("base64");

export const decompressJson = (text: string): unknown =>
  JSON.parse(inflateRawSync(Buffer.from(text, "base64")).toString());
