import { ReportFault } from "./report-fault.ts";

/** The encodings that reports are written in, by the names that they declare. */
const DECODERS: Readonly<Record<string, string>> = {
  "utf-8": "utf-8",
  utf8: "utf-8",
  "us-ascii": "utf-8",
  ascii: "utf-8",
  "utf-16": "utf-16le",
  "utf-16le": "utf-16le",
  "utf-16be": "utf-16be",
  "iso-8859-1": "windows-1252",
  latin1: "windows-1252",
  "windows-1252": "windows-1252",
};

/** The text of a report: by its byte order mark, else by what its first line declares, else UTF-8. */
export const decodeText = (bytes: Uint8Array): string => {
  const encoding = findMarked(bytes) ?? findDeclared(bytes);
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    throw new ReportFault("file", `is not ${encoding.toUpperCase()} text throughout`);
  }
};

/** UTF-16 without a mark shows itself: every other byte of "<?" is zero (XML 1.0, appendix F). */
const findMarked = (bytes: Uint8Array): string | undefined => {
  const [first = 0, second = 0] = bytes;
  if ((first === 0xff && second === 0xfe) || (first === 0x3c && second === 0)) return "utf-16le";
  if ((first === 0xfe && second === 0xff) || (first === 0 && second === 0x3c)) return "utf-16be";
  return first === 0xef && second === 0xbb ? "utf-8" : undefined;
};

const DECLARATION_BYTES_MAX = 200;

const findDeclared = (bytes: Uint8Array): string => {
  const beginning = Buffer.from(bytes.subarray(0, DECLARATION_BYTES_MAX)).toString("latin1");
  const [, name = "utf-8"] =
    /^\s*<\?xml\s[^>]*?encoding\s*=\s*["']([\w.:-]+)["']/.exec(beginning) ?? [];
  const encoding = Object.hasOwn(DECODERS, name.toLowerCase())
    ? DECODERS[name.toLowerCase()]
    : undefined;
  if (encoding === undefined)
    throw new ReportFault("file", `is in the encoding ${name}, which is not read; use UTF-8`);
  // It was read as single bytes, so it is no UTF-16, whatever it says.
  return encoding.startsWith("utf-16") ? "utf-8" : encoding;
};
