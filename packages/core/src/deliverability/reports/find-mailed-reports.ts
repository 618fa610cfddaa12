import { decodeBody } from "../message/parse/encodings.ts";
import { parseMessage } from "../message/parse/message.ts";
import type { MessagePart } from "../message/parse/parts.ts";
import { ReportFault } from "./report-fault.ts";
import { findPacking, REPORT_BYTES_MAX, unpackReport } from "./unpack-report.ts";

/** Receivers send one report in a mail. */
const REPORTS_MAX = 10;

export type MailedReports = {
  /** Unpacked. */
  readonly reports: readonly Uint8Array[];
  /** Of all of them. */
  readonly bytes: number;
};

/**
 * The files of a mail that may be reports: attachments, or the body itself. What is inside of an attached message is not
 * read: failure reports attach the message that failed. A file that cannot be unpacked is an error only where no other can.
 */
export const findMailedReports = (raw: Uint8Array): MailedReports => {
  const reports: Uint8Array[] = [];
  let bytes = 0;
  let fault = new ReportFault("mail", "has no report in it");
  for (const content of listReportFiles(raw)) {
    try {
      const report = unpackReport(content);
      bytes += report.length;
      reports.push(report);
    } catch (error) {
      if (!(error instanceof ReportFault)) throw error;
      fault = error;
    }
    if (bytes > REPORT_BYTES_MAX)
      throw new ReportFault("mail", `unpacks to more than ${REPORT_BYTES_MAX} bytes`);
  }
  if (reports.length === 0) throw fault;
  return { reports, bytes };
};

const listReportFiles = (raw: Uint8Array): readonly Buffer[] => {
  const files: Buffer[] = [];
  for (const part of parseMessage(raw).tree.parts) {
    const content = decodeBody(part.body, part.encoding);
    if (isReportLike(part, content)) files.push(content);
  }
  if (files.length > REPORTS_MAX)
    throw new ReportFault("mail", `has more than ${REPORTS_MAX} reports`);
  return files;
};

/** Such as text/xml, application/json and application/tlsrpt+json. Packed reports are known by their bytes. */
const REPORT_TYPE = /^(?:application|text)\/(?:[\w.-]+\+)?(?:xml|json)$/;
const REPORT_NAME = /\.(?:xml|json)$/i;
/** The beginning of a report, whatever its part is called. */
const REPORT_START = /^(?:\xef\xbb\xbf)?\s*(?:<\?xml|<(?:\w+:)?feedback|\{)/;
const START_BYTES = 200;

/** The bytes decide, since names and media types are often wrong. */
const isReportLike = ({ type, filename }: MessagePart, content: Buffer): boolean =>
  !type.startsWith("multipart/") &&
  (findPacking(content) !== undefined ||
    REPORT_TYPE.test(type) ||
    REPORT_NAME.test(filename ?? "") ||
    REPORT_START.test(content.toString("latin1", 0, START_BYTES)));
