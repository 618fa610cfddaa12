import * as v from "valibot";
import { compressJson, decompressJson } from "../lib/compress.ts";
import type { Json } from "../ports/table.ts";
import type { ReadProgress } from "./result-pages.ts";

// Encodes a reader's progress in a cursor. A job has at most 1,000 chunks (500,000 rows in chunks of 500), and each chunk is
// one compressed character, so a cursor stays under 2,000 characters in whatever order the chunks finish. A cursor of an ended
// job has about 40.

export const encodeReadProgress = ({ before, passes, partial }: ReadProgress): Json => [
  before,
  passes.length > 0 ? compressJson(passes.map(toCharacter).join("")) : "",
  ...(partial ? [partial.chunk, partial.passes, partial.row] : []),
];

const EncodedProgress = v.union([
  v.strictTuple([v.number(), v.string()]),
  v.strictTuple([v.number(), v.string(), v.number(), v.number(), v.number()]),
]);

export const decodeReadProgress = (encoded: Json): ReadProgress => {
  const [before, text, chunk, passes, row] = v.parse(EncodedProgress, encoded);
  return {
    before,
    passes: text === "" ? [] : Array.from(v.parse(v.string(), decompressJson(text)), fromCharacter),
    ...(chunk !== undefined &&
      passes !== undefined &&
      row !== undefined && { partial: { chunk, passes, row } }),
  };
};

const ZERO = 48;
const toCharacter = (passes: number): string => String.fromCharCode(ZERO + passes);
const fromCharacter = (character: string): number => character.charCodeAt(0) - ZERO;
