import { type HeaderField, readFields } from "./fields.ts";
import { normalizeLineEnds } from "./line-ends.ts";
import { type PartTree, readParts } from "./parts.ts";

export type ParsedMessage = {
  readonly sizeBytes: number;
  readonly fields: readonly HeaderField[];
  readonly body: Buffer;
  readonly strayLines: number;
  readonly bareLineFeeds: number;
  readonly bareReturns: number;
  readonly longestLine: number;
  readonly tree: PartTree;
};

/** Reads any bytes as a message (RFC 5322, RFC 2045). */
export const parseMessage = (raw: Uint8Array): ParsedMessage => {
  const { bytes, ...lines } = normalizeLineEnds(raw);
  const { fields, strayLines, bodyAt } = readFields(bytes);
  const body = bytes.subarray(bodyAt);
  return {
    sizeBytes: raw.byteLength,
    fields,
    body,
    strayLines,
    ...lines,
    tree: readParts(fields, body),
  };
};
