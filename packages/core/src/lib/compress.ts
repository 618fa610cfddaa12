import { deflateRawSync, inflateRawSync } from "node:zlib";
import type { Json } from "../ports/table.ts";

// Long, repetitive values that are read as a whole are stored compressed, because DynamoDB bills an item by its bytes.

/** A higher level saves few bytes and costs much time. */
export const COMPRESSION_LEVEL = 3;

export const compressJson = (value: Json): string =>
  deflateRawSync(JSON.stringify(value), { level: COMPRESSION_LEVEL }).toString("base64");

export const decompressJson = (text: string): unknown =>
  JSON.parse(inflateRawSync(Buffer.from(text, "base64")).toString());
