import * as v from "valibot";
import { deflated, inflated } from "../deflated.ts";
import type { Json } from "../table.ts";
import type { Delivered } from "./result-pages.ts";

// What a reader has of a job, as its cursor carries it. A job has at most 1,000 chunks (500,000 rows in chunks of 500),
// and a character stands for each, compressed: so a cursor stays under 2,000 characters, whatever the order in which
// the chunks finished. That of a job read after its end has about 40.

export const encodeDelivered = ({ before, passes, partial }: Delivered): Json => [
  before,
  passes.length > 0 ? deflated(passes.map(toCharacter).join("")) : "",
  ...(partial ? [partial.chunk, partial.passes, partial.row] : []),
];

const Encoded = v.union([
  v.strictTuple([v.number(), v.string()]),
  v.strictTuple([v.number(), v.string(), v.number(), v.number(), v.number()]),
]);

/** In 0.1.0 a cursor named the next row only. A reader may bring one back after the upgrade. */
const FormerCursor = v.object({ chunk: v.number(), row: v.number() });

export const decodeDelivered = (encoded: Json): Delivered => {
  if (v.is(FormerCursor, encoded)) {
    const { chunk, row } = encoded;
    return { before: chunk, passes: [], partial: { chunk, passes: Number.MAX_SAFE_INTEGER, row } };
  }
  const [before, text, chunk, passes, row] = v.parse(Encoded, encoded);
  return {
    before,
    passes: text === "" ? [] : Array.from(v.parse(v.string(), inflated(text)), fromCharacter),
    ...(chunk !== undefined &&
      passes !== undefined &&
      row !== undefined && { partial: { chunk, passes, row } }),
  };
};

const ZERO = 48;
const toCharacter = (passes: number): string => String.fromCharCode(ZERO + passes);
const fromCharacter = (character: string): number => character.charCodeAt(0) - ZERO;
