import { findReportFiles } from "./find-mailed-reports.ts";
import { readReport } from "./read-report.ts";
import type { Report } from "./report.ts";
import { ReportFault } from "./report-fault.ts";

/** A header field begins an .eml file, and "From " an mbox file. A report begins with <, { or the mark of a packed file. */
const MAIL_START = /^(?:From |[a-z][\w-]*:)/i;
const START_BYTES = 100;

export const isMail = (bytes: Uint8Array): boolean =>
  MAIL_START.test(Buffer.from(bytes.subarray(0, START_BYTES)).toString("latin1"));

/**
 * The report files in the mail of an .eml file, or in the mails of an mbox file: its "From " line and each one after an empty
 * line begin a mail (RFC 4155). In the text of an .eml file such a line is only text.
 */
export const listMailedFiles = (bytes: Uint8Array): readonly Buffer[] => {
  const text = Buffer.from(bytes).toString("latin1");
  const mails = text.startsWith("From ") ? text.split(/(?<=^|\n\r?\n)From .*\r?\n/) : [text];
  return mails
    .filter((mail) => mail !== "")
    .flatMap((mail) => findReportFiles(Buffer.from(mail, "latin1")));
};

/** The report in an uploaded file: the file itself, or the one in a mail. */
export const readUploadedReport = async (bytes: Uint8Array): Promise<Report> => {
  if (!isMail(bytes)) return readReport(bytes);
  const [file, ...others] = listMailedFiles(bytes);
  if (file === undefined) throw new ReportFault("file", "is mail without a DMARC or TLS report");
  if (others.length > 0)
    throw new ReportFault(
      "file",
      `holds ${others.length + 1} reports: upload each, or all with the command mailproof report`,
    );
  return readReport(file);
};
