import { type HeaderField, readFields } from "./fields.ts";
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

const CR = 0x0d;
const LF = 0x0a;

type LineEnds = {
  readonly bytes: Buffer;
  /** Line feeds that had no carriage return before them; in `bytes` they are CRLF. */
  readonly bareLineFeeds: number;
  readonly bareReturns: number;
  readonly longestLine: number;
};

/**
 * Changes all line ends of a message to CRLF. RFC 5321 §2.3.8 allows no other, but mail servers that accept a bare line feed forward it as
 * CRLF, and signatures must be verified over that form.
 */
export const normalizeLineEnds = (raw: Uint8Array): LineEnds => {
  const source = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength);
  let bareLineFeeds = 0;
  let bareReturns = 0;
  let longestLine = 0;
  let lineAt = 0;
  for (let at = 0; at < source.length; at += 1) {
    const byte = source[at];
    if (byte === CR && source[at + 1] !== LF) bareReturns += 1;
    if (byte !== LF) continue;
    const isBare = at === 0 || source[at - 1] !== CR;
    if (isBare) bareLineFeeds += 1;
    longestLine = Math.max(longestLine, at - lineAt - (isBare ? 0 : 1));
    lineAt = at + 1;
  }
  longestLine = Math.max(longestLine, source.length - lineAt);
  const bytes = bareLineFeeds === 0 ? source : insertReturns(source, bareLineFeeds);
  return { bytes, bareLineFeeds, bareReturns, longestLine };
};

const insertReturns = (source: Buffer, count: number): Buffer => {
  const bytes = Buffer.allocUnsafe(source.length + count);
  let to = 0;
  for (let at = 0; at < source.length; at += 1) {
    const byte = source[at] ?? 0;
    if (byte === LF && (at === 0 || source[at - 1] !== CR)) {
      bytes[to] = CR;
      to += 1;
    }
    bytes[to] = byte;
    to += 1;
  }
  return bytes;
};
