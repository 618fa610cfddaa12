import type { Failure } from "@mailproof/core/lib/failure";
import { invalidField } from "./parse.ts";

export type Field = { readonly name: string; readonly fileName: string | null };

export const malformed = (message: string): Failure => invalidField("body", message);

export const isForm = (contentType: string | undefined): contentType is string =>
  /^\s*multipart\/form-data\s*(?:;|$)/i.test(contentType ?? "");

// RFC 2046 §5.1.1: bchars, and no space at the end.
const BOUNDARY = /^[\w'()+,./:=? -]{0,69}[\w'()+,./:=?-]$/;

export const boundaryIn = (contentType: string): string => {
  const boundary = parametersAfter(/^\s*multipart\/form-data/i, contentType)?.get("boundary");
  if (boundary === undefined || !BOUNDARY.test(boundary))
    throw malformed("is a form whose content-type names no boundary of 1 to 70 characters");
  return boundary;
};

export const fieldIn = (text: string): Field => {
  const headers = parseHeaders(text.replaceAll(/\r\n[\t ]+/g, " ").split("\r\n"));
  const disposition = headers?.get("content-disposition") ?? "";
  const parameters = parametersAfter(/^\s*form-data/i, disposition);
  // Ignores filename*: RFC 7578 §4.2 forbids it, and an attacker could abuse two names for one file.
  const [name, file] = ["name", "filename"].map((one) => parameters?.get(one));
  if (name === undefined || nameFrom(name).includes("\0"))
    throw malformed("has a part without a valid content-disposition that names a field");
  if (!AS_IT_IS.test(headers?.get("content-transfer-encoding") ?? "binary"))
    throw invalidField(nameFrom(name), "must be sent without a content-transfer-encoding");
  // Some clients send the whole path. Only the last part counts (RFC 7578 §4.2).
  const fileName = file === undefined ? null : nameFrom(file).replace(/^.*[/\\]/s, "");
  return { name: nameFrom(name), fileName };
};

/** RFC 7578 §4.7: senders should omit this header, and receivers do not decode the content. */
const AS_IT_IS = /^\s*(?:7bit|8bit|binary)\s*$/i;

const HEADER = /^([\w!#$%&'*+.^`|~-]+):(.*)$/;
const CONTROL = /(?!\t)\p{Cc}/u;

/** Returns the headers by name; undefined when a line is not a header, or when a name occurs twice. */
const parseHeaders = (lines: readonly string[]): ReadonlyMap<string, string> | undefined => {
  const headers = new Map<string, string>();
  for (const line of lines) {
    const [, name = "", value = ""] = HEADER.exec(line) ?? [];
    if (name === "" || CONTROL.test(line) || headers.has(name.toLowerCase())) return undefined;
    headers.set(name.toLowerCase(), value);
  }
  return headers;
};

const PARAMETER = /\s*;\s*([\w!#$%&'*+.^`|~-]+)\s*=\s*(?:"([^"\\]*(?:\\.[^"\\]*)*)"|([^\s";]+))/y;

const parametersAfter = (
  beginning: RegExp,
  header: string,
): ReadonlyMap<string, string> | undefined => {
  let unread = header.replace(beginning, "");
  if (unread === header) return undefined;
  const parameters = new Map<string, string>();
  for (;;) {
    PARAMETER.lastIndex = 0;
    const [whole = "", name = "", quoted, plain = ""] = PARAMETER.exec(unread) ?? [];
    if (whole === "") return /^[\s;]*$/.test(unread) ? parameters : undefined;
    if (parameters.has(name.toLowerCase())) return undefined;
    parameters.set(name.toLowerCase(), quoted === undefined ? plain : unescapeQuoted(quoted));
    unread = unread.slice(whole.length);
  }
};

// Some backslashes are no escapes: old browsers send C:\lists\new.csv unchanged.
const unescapeQuoted = (quoted: string): string => quoted.replaceAll(/\\(["\\])/g, "$1");

/** Browsers write a quote as %22, and RFC 7578 §2 allows more escapes; a stray percent sign is literal. */
const nameFrom = (sent: string): string => {
  try {
    return decodeURIComponent(sent);
  } catch {
    return sent;
  }
};
