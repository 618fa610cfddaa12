import { decodeBody, decodeText } from "./encodings.ts";
import { findValue, type HeaderField, readFields } from "./fields.ts";

type FieldParameters = {
  /** The value in lower case, such as "text/html" or "attachment". */
  readonly value: string;
  readonly parameters: ReadonlyMap<string, string>;
};

/** A mail has few parameters; a hostile one may have thousands. */
const PARAMETERS_MAX = 50;
const TEXT_LENGTH_MAX = 10_000;

/** Parses the value and parameters of Content-Type or Content-Disposition (RFC 2045 §5.1, RFC 2231 §3). */
export const parseParameters = (text: string): FieldParameters => {
  const parts = splitOutsideQuotes(text.slice(0, TEXT_LENGTH_MAX));
  const parameters = new Map<string, string>();
  for (const part of parts.slice(1, PARAMETERS_MAX)) {
    const equals = part.indexOf("=");
    if (equals < 1) continue;
    // "name*0*" is a piece of "name". Pieces are joined in the order in which they were sent.
    const name = (part.slice(0, equals).split("*", 1)[0] ?? "").trim().toLowerCase();
    const isPiece = /\*\d/.test(part.slice(0, equals));
    const value = unquote(part.slice(equals + 1).trim());
    const before = parameters.get(name);
    if (before === undefined) parameters.set(name, value);
    else if (isPiece) parameters.set(name, before + value);
  }
  return { value: (parts[0] ?? "").trim().toLowerCase(), parameters };
};

const unquote = (value: string): string =>
  value.startsWith('"')
    ? value
        .slice(1)
        .replace(/"[^"]*$/, "")
        .replaceAll(/\\(.)/g, "$1")
    : value;

const splitOutsideQuotes = (text: string): readonly string[] => {
  const parts = [""];
  let isQuoted = false;
  let comments = 0;
  for (let at = 0; at < text.length; at += 1) {
    const sign = text.charAt(at);
    const last = parts.length - 1;
    if (sign === "\\" && isQuoted) {
      parts[last] += sign + text.charAt(at + 1);
      at += 1;
    } else if (sign === '"' && comments === 0) {
      isQuoted = !isQuoted;
      parts[last] += sign;
    } else if (isQuoted) parts[last] += sign;
    else if (sign === "(") comments += 1;
    else if (sign === ")" && comments > 0) comments -= 1;
    else if (comments > 0) continue;
    else if (sign === ";") parts.push("");
    else parts[last] += sign;
  }
  return parts;
};

/** A part of a message (RFC 2046), which has either a body or further parts. */
export type MessagePart = {
  readonly depth: number;
  readonly type: string;
  readonly charset: string;
  readonly encoding: string;
  readonly isAttachment: boolean;
  readonly filename: string | null;
  /** The raw body, with its transfer encoding. */
  readonly body: Buffer;
  readonly bytes: number;
  readonly isBroken: boolean;
  /** The text of text/plain and text/html. Null for other types, for attachments and for unknown character sets. */
  readonly text: string | null;
  readonly textBytes: number;
};

export type PartTree = {
  readonly parts: readonly MessagePart[];
  readonly isCut: boolean;
};

/** The deepest nesting to read; mail programs nest four levels. */
const DEPTH_MAX = 10;
const PARTS_MAX = 200;
/** The reader ignores further bytes of a text. */
const TEXT_BYTES_MAX = 2 * 1024 * 1024;

/** Reads the parts of a message. It never fails: a body that is not MIME becomes one plain text. */
export const readParts = (fields: readonly HeaderField[], body: Buffer): PartTree => {
  const parts: MessagePart[] = [];
  let isCut = false;
  const read = (own: readonly HeaderField[], content: Buffer, depth: number): void => {
    if (parts.length === PARTS_MAX) {
      isCut = true;
      return;
    }
    const { value, parameters } = parseParameters(findValue(own, "content-type") ?? "");
    const type = /^[^\s/]+\/[^\s/]+$/.test(value) ? value : "text/plain";
    const boundary = parameters.get("boundary") ?? "";
    const isMultipart = type.startsWith("multipart/");
    const children = isMultipart && boundary !== "" ? splitParts(content, boundary) : [];
    parts.push({
      depth,
      ...describePart(own, content, type, parameters),
      isBroken: isMultipart && children.length === 0,
    });
    if (children.length > 0 && depth === DEPTH_MAX) isCut = true;
    else
      for (const child of children) {
        const section = readFields(child);
        read(section.fields, child.subarray(section.bodyAt), depth + 1);
      }
  };
  read(fields, body, 0);
  return { parts, isCut };
};

const describePart = (
  fields: readonly HeaderField[],
  body: Buffer,
  type: string,
  parameters: ReadonlyMap<string, string>,
): Omit<MessagePart, "depth" | "isBroken"> => {
  const disposition = parseParameters(findValue(fields, "content-disposition") ?? "");
  const encoding = (findValue(fields, "content-transfer-encoding") ?? "7bit").toLowerCase();
  const filename = disposition.parameters.get("filename") ?? parameters.get("name") ?? null;
  const isAttachment = disposition.value === "attachment";
  const charset = (parameters.get("charset") ?? "").trim().toLowerCase();
  const isText = (type === "text/plain" || type === "text/html") && !isAttachment;
  const decoded = isText ? decodeBody(body, encoding) : body.subarray(0, 0);
  const text = isText ? decodeText(decoded.subarray(0, TEXT_BYTES_MAX), charset) : undefined;
  return {
    type,
    charset,
    encoding,
    isAttachment,
    filename,
    body,
    bytes: body.length,
    text: text ?? null,
    textBytes: decoded.length,
  };
};

/** Splits the parts at the delimiter lines (RFC 2046 §5.1.1). The last part may lack its end. */
const splitParts = (body: Buffer, boundary: string): readonly Buffer[] => {
  const delimiter = Buffer.from(`--${boundary}`, "latin1");
  const parts: Buffer[] = [];
  let partAt: number | undefined;
  for (let at = body.indexOf(delimiter); at >= 0 && parts.length <= PARTS_MAX; ) {
    const line = readDelimiterLine(body, at, delimiter.length);
    if (line) {
      if (partAt !== undefined) parts.push(body.subarray(partAt, Math.max(partAt, at - 2)));
      partAt = line.end;
      if (line.isLast) return parts;
    }
    at = body.indexOf(delimiter, at + delimiter.length);
  }
  if (partAt !== undefined) parts.push(body.subarray(partAt));
  return parts;
};

const readDelimiterLine = (
  body: Buffer,
  at: number,
  length: number,
): { readonly end: number; readonly isLast: boolean } | undefined => {
  if (at > 0 && body[at - 1] !== 0x0a) return undefined;
  let end = at + length;
  const isLast = body[end] === 0x2d && body[end + 1] === 0x2d;
  if (isLast) return { end, isLast };
  while (body[end] === 0x20 || body[end] === 0x09) end += 1;
  if (end === body.length) return { end, isLast };
  return body[end] === 0x0d && body[end + 1] === 0x0a ? { end: end + 2, isLast } : undefined;
};
