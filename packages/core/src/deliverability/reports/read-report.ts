import { decodeText } from "./decode-text.ts";
import { readDmarcReport } from "./read-dmarc.ts";
import { readTlsReport } from "./read-tls.ts";
import type { Report } from "./report.ts";
import { ReportFault } from "./report-fault.ts";
import { unpackReport } from "./unpack-report.ts";

/** A DMARC aggregate report or a TLS report, packed or not. Throws a ReportFault that names what is wrong where. */
export const readReport = async (bytes: Uint8Array): Promise<Report> =>
  readUnpackedReport(await unpackReport(bytes));

export const readUnpackedReport = (bytes: Uint8Array): Report => {
  const text = decodeText(bytes);
  const [, first] = /^\ufeff?\s*(\S)/.exec(text) ?? [];
  if (first === "<") return readDmarcReport(text);
  if (first === "{") return readTlsReport(text);
  throw new ReportFault(
    "file",
    "is neither a DMARC aggregate report (XML) nor a TLS report (JSON), nor one in a gzip or zip file",
  );
};
