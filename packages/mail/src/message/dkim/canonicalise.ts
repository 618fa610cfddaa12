import { createHash } from "node:crypto";
import type { HeaderField } from "../parse/fields.ts";

export const CANONICALISATIONS = ["simple", "relaxed"] as const;

export type Canonicalisation = (typeof CANONICALISATIONS)[number];

const CR = 0x0d;
const LF = 0x0a;
const SPACE = 0x20;
const TAB = 0x09;

/** Returns the body in the form for hashing (RFC 6376 §3.4.3 and §3.4.4). All of its line ends are CRLF. */
const canonicaliseBody = (body: Buffer, way: Canonicalisation): Buffer => {
  const lines = way === "relaxed" ? reduceWhiteSpace(body) : body;
  let end = lines.length;
  while (end >= 2 && lines[end - 1] === LF && lines[end - 2] === CR) end -= 2;
  // An empty body stays empty when relaxed, and becomes one line end when simple.
  if (end === 0) return Buffer.from(way === "relaxed" ? "" : "\r\n");
  return end === lines.length
    ? Buffer.concat([lines, Buffer.from("\r\n")])
    : lines.subarray(0, end + 2);
};

/** Reduces each run of white space to one space, and removes it at the end of a line. */
const reduceWhiteSpace = (body: Buffer): Buffer => {
  const reduced = Buffer.allocUnsafe(body.length);
  let to = 0;
  let isSpace = false;
  for (let at = 0; at < body.length; at += 1) {
    const byte = body[at] ?? 0;
    if (byte === SPACE || byte === TAB) {
      isSpace = true;
      continue;
    }
    const isLineEnd = (byte === CR && body[at + 1] === LF) || byte === LF;
    if (isSpace && !isLineEnd) {
      reduced[to] = SPACE;
      to += 1;
    }
    isSpace = false;
    reduced[to] = byte;
    to += 1;
  }
  return reduced.subarray(0, to);
};

/** Hashes the body of a message, once for each form and length, because most signatures share both. */
export const createBodyHasher = (body: Buffer) => {
  const bodies = new Map<Canonicalisation, Buffer>();
  const hashes = new Map<string, string>();
  return (way: Canonicalisation, limit: number | null) => {
    const canonical = bodies.get(way) ?? canonicaliseBody(body, way);
    bodies.set(way, canonical);
    const length = Math.min(limit ?? canonical.length, canonical.length);
    const key = `${way} ${length}`;
    const hash =
      hashes.get(key) ??
      createHash("sha256").update(canonical.subarray(0, length)).digest("base64");
    hashes.set(key, hash);
    return { hash, bodyLength: canonical.length };
  };
};

export type BodyHasher = ReturnType<typeof createBodyHasher>;

/** Returns a field in the form for signing (RFC 6376 §3.4.1 and §3.4.2), without a line end. */
export const canonicaliseField = (raw: string, way: Canonicalisation): string => {
  if (way === "simple") return raw;
  const colon = raw.indexOf(":");
  const name = toLowerAscii(raw.slice(0, colon)).replaceAll(/[\t\r\n ]+/g, "");
  const value = raw
    .slice(colon + 1)
    .replaceAll("\r\n", "")
    .replaceAll(/[\t ]+/g, " ");
  return `${name}:${trimSpace(value)}`;
};

const toLowerAscii = (text: string): string =>
  text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());

/** Runs of white space are already reduced, so at most one space is left at each end. */
const trimSpace = (value: string): string =>
  value.slice(value.startsWith(" ") ? 1 : 0, value.endsWith(" ") && value !== " " ? -1 : undefined);

/** A signature's own field is signed with an empty b= (RFC 6376 §3.7). */
export const emptySignatureTag = (raw: string): string => {
  const colon = raw.indexOf(":") + 1;
  const tags = raw.slice(colon).split(";");
  const at = tags.findIndex((tag) => /^[\t\r\n ]*b[\t\r\n ]*=/.test(tag));
  const tag = tags[at];
  return tag === undefined
    ? raw
    : raw.slice(0, colon) + tags.with(at, tag.slice(0, tag.indexOf("=") + 1)).join(";");
};

/**
 * Selects the fields that h= names (RFC 6376 §5.4.2), the last field of a repeated name first. A name without a remaining field selects
 * nothing, which keeps others from adding such a field.
 */
export const selectFields = (
  fields: readonly HeaderField[],
  names: readonly string[],
): readonly HeaderField[] => {
  const left = new Map<string, HeaderField[]>();
  for (const field of fields) {
    const same = left.get(field.key);
    if (same) same.push(field);
    else left.set(field.key, [field]);
  }
  return names.flatMap((name) => left.get(name)?.pop() ?? []);
};
