import { fingerprint } from "../../lib/fingerprint.ts";
import { readDmarcReport } from "./read-dmarc.ts";
import type { ReadContext } from "./read-fields.ts";
import { readTlsReport } from "./read-tls.ts";
import type { Report } from "./report.ts";
import { ReportFault } from "./report-fault.ts";
import { type AddNote, createNotes } from "./report-notes.ts";
import { REPORT_BYTES_MAX, unpackReport } from "./unpack-report.ts";

/**
 * Reads a DMARC aggregate report or a TLS report, packed or not. Throws a ReportFault with the place and the fault; faults that
 * affect no sum become notes. Calls `onUnpacked` with the number of unpacked bytes before it reads them.
 */
export const readReport = async (
  bytes: Uint8Array,
  bytesMax: number = REPORT_BYTES_MAX,
  onUnpacked?: (bytes: number) => void,
): Promise<Report> => {
  const notes = createNotes();
  const unpacked = await unpackReport(bytes, notes.add, bytesMax);
  onUnpacked?.(unpacked.length);
  const text = decodeText(unpacked, notes.add);
  const report = readText(text, {
    note: notes.add,
    createId: () => `content-${fingerprint([text])}`,
  });
  const noted = notes.list();
  return noted.length === 0 ? report : { ...report, notes: noted };
};

const readText = (text: string, reading: ReadContext): Report => {
  const [, first] = /^\ufeff?\s*(\S)/.exec(text) ?? [];
  if (first === "<") return readDmarcReport(text, reading);
  if (first === "{") return readTlsReport(text, reading);
  throw new ReportFault(
    "file",
    "is neither a DMARC aggregate report (XML) nor a TLS report (JSON), nor one in a gzip or zip file or a mail",
  );
};

/**
 * Decodes a report by its byte order mark, otherwise by its first line's declaration, otherwise as UTF-8. An invalid byte is
 * replaced: it mostly stands in a name, and where a sum needs the text, the reader refuses it.
 */
const decodeText = (bytes: Uint8Array, note: AddNote): string => {
  const encoding = findMarked(bytes) ?? findDeclared(bytes, note);
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    note("file", `is not ${encoding.toUpperCase()} text throughout`);
    return new TextDecoder(encoding).decode(bytes);
  }
};

/** Every other byte of "<?" is zero in UTF-16 without a mark (XML 1.0, appendix F). */
const findMarked = (bytes: Uint8Array): string | undefined => {
  const [first = 0, second = 0] = bytes;
  if ((first === 0xff && second === 0xfe) || (first === 0x3c && second === 0)) return "utf-16le";
  if ((first === 0xfe && second === 0xff) || (first === 0 && second === 0x3c)) return "utf-16be";
  return first === 0xef && second === 0xbb ? "utf-8" : undefined;
};

const DECLARATION_BYTES_MAX = 200;

const findDeclared = (bytes: Uint8Array, note: AddNote): string => {
  const beginning = Buffer.from(bytes.subarray(0, DECLARATION_BYTES_MAX)).toString("latin1");
  const [, name = "utf-8"] =
    /^\s*<\?xml\s[^>]*?encoding\s*=\s*["']([\w.:-]+)["']/.exec(beginning) ?? [];
  try {
    const { encoding } = new TextDecoder(name);
    // The declaration was readable as single bytes, so the text is not UTF-16, whatever it declares.
    return encoding.startsWith("utf-16") ? "utf-8" : encoding;
  } catch {
    note("file", `is in the encoding ${name}, which is not supported: it is read as UTF-8`);
    return "utf-8";
  }
};
