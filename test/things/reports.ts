import type { AppWorld } from "@mailproof/core/app-world";
import { START } from "../app/given.ts";
import { send } from "../app/send.ts";
import { createDmarcReport, createRecord } from "./made-reports.ts";
import { createMail } from "./mail-tests.ts";

/** The start of the day this many days before the start of a test, in epoch seconds. */
export const daysAgo = (days: number): number => START.getTime() / 1_000 - days * 86_400;

type UploadedReport = Omit<NonNullable<Parameters<typeof createDmarcReport>[0]>, "records"> & {
  readonly daysBefore?: number;
  readonly records?: readonly Parameters<typeof createRecord>[0][];
};

/** A DMARC report about a day. */
export const createDailyReport = ({
  daysBefore = 1,
  records = [{}],
  ...fields
}: UploadedReport = {}) => {
  const begin = daysAgo(daysBefore);
  return createDmarcReport({
    id: `report-${daysBefore}`,
    begin,
    end: begin + 86_399,
    ...fields,
    records: records.map((record) => createRecord(record)),
  });
};

export const uploadFile = (world: AppWorld, key: string, content: string | Uint8Array) =>
  send(world, "POST /v1/deliverability/reports", {
    key,
    form: [{ name: "file", fileName: "report.xml", content }],
  });

export const uploadReport = (world: AppWorld, key: string, report: UploadedReport = {}) =>
  uploadFile(world, key, createDailyReport(report));

/** The address to which receivers send the reports of an account. */
export const readReportsAddress = async (
  world: AppWorld,
  key: string,
  domain = "example.com",
): Promise<string> =>
  (await send(world, `GET /v1/deliverability/domains/${domain}/reports`, { key })).data
    .reports_address;

type MadePart = {
  readonly content: string | Uint8Array;
  readonly type?: string;
  /** Further fields of the part. */
  readonly fields?: readonly string[];
};

const encodePart = ({ content, type = "application/gzip", fields = [] }: MadePart): string =>
  [
    `Content-Type: ${type}`,
    "Content-Transfer-Encoding: base64",
    ...fields,
    "",
    ...(Buffer.from(content)
      .toString("base64")
      .match(/.{1,76}/g) ?? []),
  ].join("\r\n");

const REPORT_FIELDS = [
  "From: noreply-dmarc@receiver.example",
  "Subject: Report Domain: example.com Submitter: receiver.example Report-ID: <1>",
  "MIME-Version: 1.0",
];

/** A mail of a receiver, with a text and these files. */
export const createReportMail = (parts: readonly MadePart[], kind = "mixed"): string =>
  [
    ...REPORT_FIELDS,
    `Content-Type: multipart/${kind}; boundary="b"`,
    "",
    "--b",
    "Content-Type: text/plain",
    "",
    "This is a DMARC aggregate report.",
    ...parts.flatMap((part) => ["--b", encodePart(part)]),
    "--b--",
    "",
  ].join("\r\n");

/** A mail that is the report itself. */
export const createBareReportMail = (part: MadePart): string =>
  [...REPORT_FIELDS, encodePart(part), ""].join("\r\n");

/** The domain in From of these mails, as one that asks receivers to check it. */
export const RECEIVER_ZONE = {
  "receiver.example": { TXT: ["v=spf1 ip4:192.0.2.1 -all"] },
  "_dmarc.receiver.example": { TXT: ["v=DMARC1; p=reject"] },
};

/** A mail as the receiver of mail has it. */
export const toReceived = (text: string) => ({ ...createMail(START), raw: Buffer.from(text) });
