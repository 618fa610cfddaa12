import { countMessages } from "@mailproof/core/deliverability/reports/report";
import { ReportFault } from "@mailproof/core/deliverability/reports/report-fault";
import {
  type StoredReport,
  storeReport,
} from "@mailproof/core/deliverability/reports/store-report";
import { REPORT_BYTES_MAX } from "@mailproof/core/deliverability/reports/unpack-report";
import { Failure } from "@mailproof/core/lib/failure";
import * as v from "valibot";
import { endpoint, type Part } from "../http/endpoint.ts";
import { invalidField } from "../http/parse.ts";
import { describe, notEmpty } from "../schema/common.ts";
import { ReportNotes, toNotes } from "../schema/domain-reports.ts";
import * as field from "../schema/fields.ts";
import { DOMAIN_FIELDS, toDomainFields } from "../schema/sender.ts";

const BASE64 = /^[\d+/A-Za-z]+={0,2}$/;

export const uploadReport = endpoint({
  id: "uploadReport",
  route: "POST /v1/deliverability/reports",
  tag: "Deliverability",
  addition:
    "The contract checks what a domain publishes; receivers' reports show what they saw of its mail.",
  summary:
    "Store a report that a receiver made about a domain: a DMARC aggregate report (XML) or a TLS report (JSON), in gzip or zip or uncompressed, or the mail that brought it (.eml).",
  access: "deliverability:write",
  needs: ["table:readwrite", "queue:send", "dns"],
  // Not a tool: a model cannot read the file that it would have to send.
  tool: null,
  form: "gathered",
  repeat: "always",
  answers: [200, 201],
  errors: ["LIMIT_REACHED", "PAYLOAD_TOO_LARGE"],

  // A Lambda accepts 6 MB.
  bodyBytesMax: 5_000_000,
  body: v.strictObject({
    content: describe(
      v.pipe(v.string(), notEmpty, v.regex(BASE64, "must be base64")),
      "The file in base64. A form with the field `file` takes larger ones.",
    ),
  }),
  output: v.object({
    type: describe(
      v.picklist(["dmarc", "tls"]),
      "dmarc: a DMARC aggregate report (RFC 7489, RFC 9990). tls: an SMTP TLS report (RFC 8460).",
    ),
    reporter: field.text("The organisation that made the report."),
    report_id: field.text("The report's id, given by the reporter."),
    ...DOMAIN_FIELDS,
    begins_at: field.text("Start of the time that the report covers, ISO 8601."),
    ends_at: field.text("End of the time that the report covers, ISO 8601."),
    rows: field.count("Number of rows in the report: records, or policies of a TLS report."),
    messages: field.count("Number of messages, or of sessions in a TLS report."),
    notes: ReportNotes,
    duplicate: field.boolean(
      "True when this reporter's report was already stored. Nothing changes then.",
    ),
  }),

  async handle(world, caller, { body, form }) {
    const bytes = form ? await readFile(form) : Buffer.from(body.content, "base64");
    const report = await world.reading
      .run(caller.account, "readUploadedReport", bytes)
      .catch((error: unknown) => {
        throw error instanceof ReportFault ? toFailure(error) : error;
      });
    const stored = await storeReport(world, caller, {
      report,
      way: "upload",
      isAuthenticated: true,
    });
    return { status: stored.isDuplicate ? 200 : 201, data: toAnswer(stored) };
  },
});

const toAnswer = ({ report, isDuplicate }: StoredReport) => ({
  type: report.type,
  reporter: report.reporter,
  report_id: report.reportId,
  ...toDomainFields(report.domain),
  begins_at: report.begin.toISOString(),
  ends_at: report.end.toISOString(),
  rows: report.rows,
  messages: countMessages(report),
  notes: toNotes(report.notes),
  duplicate: isDuplicate,
});

const toFailure = ({ path, what, isTooLarge }: ReportFault): Failure =>
  isTooLarge ? createTooLarge() : invalidField(path, what);

const createTooLarge = (): Failure =>
  new Failure(
    "PAYLOAD_TOO_LARGE",
    "nothing_charged",
    `A report may have at most ${REPORT_BYTES_MAX} bytes, packed and unpacked.`,
  );

const readFile = async (form: AsyncIterable<Part>): Promise<Uint8Array> => {
  let file: Uint8Array | undefined;
  for await (const part of form) {
    if (part.name !== "file") throw invalidField(part.name, "is not a known field");
    if (file) throw invalidField("file", "is sent twice; send each report in its own request");
    if (part.fileName === null) throw invalidField("file", "must be a file");
    file = await readContent(part.content);
  }
  if (!file) throw invalidField("file", "is required");
  return file;
};

const readContent = async (content: Part["content"]): Promise<Uint8Array> => {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of content) {
    bytes += piece.length;
    if (bytes > REPORT_BYTES_MAX) throw createTooLarge();
    // The form reader reuses no buffer, so the pieces do not change.
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
};
