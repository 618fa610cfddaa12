import { type ReadAuthor, readAuthor } from "@mailproof/mail/message/authenticate";
import { decodeBody } from "@mailproof/mail/message/parse/encodings";
import { type ParsedMessage, parseMessage } from "@mailproof/mail/message/parse/message";
import type { MessagePart } from "@mailproof/mail/message/parse/parts";
import { readReport } from "./read-report.ts";
import type { Report } from "./report.ts";
import { ReportFault } from "./report-fault.ts";
import { findPacking } from "./unpack-report.ts";

/** Reporters usually send one report per mail. */
const REPORTS_MAX = 10;

export type MailedReports = {
  readonly reports: readonly Report[];
  /** The bytes count even when unpacking failed. */
  readonly unpackedBytes: number;
  /**
   * The reason that the mail or one of its files is unreadable. With `isTooLarge` the mail exceeds its limit, and no report
   * counts. Null when each candidate file is a report.
   */
  readonly fault: Pick<ReportFault, "path" | "what" | "isTooLarge"> | null;
  readonly author: ReadAuthor;
};

/** DEFLATE expands one byte to at most 1,032 bytes. */
const RATIO_MAX = 1_032;

/**
 * Reads the reports of a mail: attachments, or the body itself. It skips the content of attached messages, because failure
 * reports attach the failed message. All files together unpack to at most `bytesMax`.
 */
export const readMailedReports = async (
  raw: Uint8Array,
  bytesMax: number,
): Promise<MailedReports> => {
  const message = parseMessage(raw);
  const files = listReportFiles(message);
  const reports: Report[] = [];
  let unpackedBytes = 0;
  let fault: MailedReports["fault"] = files.length > REPORTS_MAX ? describe(TOO_MANY) : null;
  for (const content of files.length > REPORTS_MAX ? [] : files) {
    const left = bytesMax - unpackedBytes;
    try {
      // A file counts with its largest possible size until it is unpacked, and when that fails.
      unpackedBytes += Math.min(left, content.length * RATIO_MAX);
      const report = await readReport(content, left, (bytes) => {
        unpackedBytes = bytesMax - left + bytes;
        if (unpackedBytes > bytesMax) throw createOverFault(bytesMax);
      });
      reports.push(report);
    } catch (error) {
      if (!(error instanceof ReportFault)) throw error;
      fault = describe(error.isTooLarge ? createOverFault(bytesMax) : error);
      if (error.isTooLarge) break;
    }
  }
  return { reports, unpackedBytes, fault, author: readAuthor(message) };
};

const TOO_MANY = new ReportFault("mail", `has more than ${REPORTS_MAX} reports`);

const createOverFault = (bytesMax: number): ReportFault =>
  new ReportFault("mail", `unpacks to more than ${bytesMax} bytes`, { isTooLarge: true });

/** A thread's message cannot contain the error itself. */
const describe = ({ path, what, isTooLarge }: ReportFault): MailedReports["fault"] => ({
  path,
  what,
  isTooLarge,
});

export const findReportFiles = (raw: Uint8Array): readonly Buffer[] =>
  listReportFiles(parseMessage(raw));

const listReportFiles = ({ tree }: ParsedMessage): readonly Buffer[] => {
  const files: Buffer[] = [];
  for (const part of tree.parts) {
    const content = decodeBody(part.body, part.encoding);
    if (isReportLike(part, content)) files.push(content);
  }
  return files;
};

/** Matches text/xml, application/json and application/tlsrpt+json. The bytes reveal a packed report. */
const REPORT_TYPE = /^(?:application|text)\/(?:[\w.-]+\+)?(?:xml|json)$/;
const REPORT_NAME = /\.(?:xml|json)$/i;
const REPORT_START = /^(?:\xef\xbb\xbf)?\s*(?:<\?xml|<(?:\w+:)?feedback|\{)/;
const START_BYTES = 200;

/** The bytes decide whether a part is a report, since names and media types are often wrong. */
const isReportLike = ({ type, filename }: MessagePart, content: Buffer): boolean =>
  !type.startsWith("multipart/") &&
  (findPacking(content) !== undefined ||
    REPORT_TYPE.test(type) ||
    REPORT_NAME.test(filename ?? "") ||
    REPORT_START.test(content.toString("latin1", 0, START_BYTES)));
