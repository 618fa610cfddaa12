import { readFileSync, statSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { MailproofError } from "@mailproof/client/errors";
import type { UploadReportData } from "@mailproof/client/types";
import { isMail, listMailedFiles } from "@mailproof/core/deliverability/reports/uploaded-report";
import * as v from "valibot";
import { PROGRAM } from "../installation.ts";
import { defineCommand, describeOption, Flag, UsageError } from "./define-command.ts";
import { EXIT_CODES, getExitCode } from "./exit-codes.ts";
import { requireService, SERVICE, type Service, watchInterrupt } from "./service.ts";
import { countOf } from "./show-reports.ts";
import { replaceControls } from "./terminal.ts";

const USAGE = "FILE... [options]";
const FILE_BYTES_MAX = 20_000_000;
const MAILBOX_BYTES_MAX = 200_000_000;

export const reportCommand = defineCommand({
  usage: USAGE,
  options: v.strictObject({
    json: describeOption(Flag, "prints the responses with the API's fields, also on a terminal"),
    ...SERVICE,
  }),
  examples: [
    "report google.com!example.com!1772323200!1772409599.zip",
    "report reports/*.xml.gz --json",
    "report dmarc-mails/*.eml inbox.mbox",
  ],
  takesWords: true,
  async run(input) {
    const { words, options } = input;
    if (words.length === 0) throw new UsageError(`Missing file. Usage: ${PROGRAM} report ${USAGE}`);
    const service = requireService(input);
    const isText = process.stdout.isTTY && !options.json;
    const { signal, end } = watchInterrupt();
    let code: number = EXIT_CODES.done.code;
    try {
      for (const file of words)
        for await (const outcome of uploadAll(service, file, signal)) {
          if (outcome.kind === "failed") code = Math.max(code, getExitCode(outcome.error));
          print(file, outcome, isText);
        }
    } finally {
      end();
    }
    return code;
  },
});

type UploadOutcome =
  | { readonly kind: "stored"; readonly data: UploadReportData }
  | { readonly kind: "failed"; readonly error: Error };

/** Uploads the report of a file, or each one of a mail or mailbox. */
async function* uploadAll(
  service: Service,
  file: string,
  signal: AbortSignal,
): AsyncGenerator<UploadOutcome> {
  try {
    for (const report of listReportFiles(file)) yield await upload(service, report, signal);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    yield { kind: "failed", error };
  }
}

const listReportFiles = (file: string): readonly Buffer[] => {
  const bytes = readBytes(file);
  if (!isMail(bytes)) {
    if (bytes.length > FILE_BYTES_MAX)
      throw new UsageError(`over ${FILE_BYTES_MAX} bytes, the most that a report may have.`);
    return [bytes];
  }
  const reports = listMailedFiles(bytes);
  if (reports.length === 0) throw new UsageError("is mail without a DMARC or TLS report.");
  return reports;
};

/** A file that is not a report does not stop the next one. Any other failure ends the command. */
const upload = async (
  { client }: Service,
  report: Buffer,
  signal: AbortSignal,
): Promise<UploadOutcome> => {
  try {
    const content = pack(report).toString("base64");
    return { kind: "stored", data: await client.uploadReport({ content }, { signal }) };
  } catch (error) {
    if (isAboutFile(error)) return { kind: "failed", error: error as Error };
    throw error;
  }
};

const isAboutFile = (error: unknown): boolean =>
  error instanceof MailproofError && (error.status === 400 || error.status === 413);

const readBytes = (file: string): Buffer => {
  try {
    if (statSync(file).size > MAILBOX_BYTES_MAX)
      throw new UsageError(`over ${MAILBOX_BYTES_MAX} bytes, the most that is read of a mailbox.`);
    return readFileSync(file);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`cannot be read (${(error as NodeJS.ErrnoException).code ?? "unknown"}).`);
  }
};

/** gzip shrinks XML and JSON to a tenth; a request has at most 5 MB. */
const pack = (bytes: Buffer): Buffer => {
  const isPlain = /^(?:\ufeff|\ufffd|\s)*[<{]/.test(bytes.subarray(0, 100).toString());
  return isPlain ? gzipSync(bytes) : bytes;
};

const print = (file: string, outcome: UploadOutcome, isText: boolean): void => {
  if (outcome.kind === "failed") {
    process.stderr.write(`${replaceControls(`${file}: ${outcome.error.message}`)}\n`);
    return;
  }
  const { data } = outcome;
  process.stdout.write(
    isText
      ? `${replaceControls(`${file}: ${describeReport(data)}`)}\n`
      : `${JSON.stringify({ file, ...data })}\n`,
  );
};

const describeReport = (data: UploadReportData): string => {
  const { type, reporter, domain, begins_at: begin, messages, duplicate, notes } = data;
  const kind = type === "dmarc" ? "DMARC report" : "TLS report";
  const counted = countOf(messages, type === "dmarc" ? "message" : "session");
  const before = duplicate ? "; stored before" : "";
  const faults = notes.map(({ field, message }) => `; ${field} ${message}`).join("");
  return `${kind} of ${reporter} about ${domain}, ${begin.slice(0, 10)}, ${counted}${before}${faults}`;
};
