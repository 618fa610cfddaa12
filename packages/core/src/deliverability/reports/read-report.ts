import { fingerprint } from "../../lib/fingerprint.ts";
import { decodeText } from "./decode-text.ts";
import { readDmarcReport } from "./read-dmarc.ts";
import type { ReadContext } from "./read-fields.ts";
import { readTlsReport } from "./read-tls.ts";
import type { Report } from "./report.ts";
import { ReportFault } from "./report-fault.ts";
import { createNotes } from "./report-notes.ts";
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
