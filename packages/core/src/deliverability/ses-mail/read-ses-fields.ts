import { parseIp } from "@mailproof/mail/ip";
import { getValue, type HeaderField, readFields } from "@mailproof/mail/message/parse/fields";

/** The client, from the fields that Amazon SES added to the mail, and the mail without these fields. */
export type SesMail = { readonly ip: string; readonly helo: string; readonly raw: Uint8Array };

/** The fields that SES puts above the mail's own fields, each at most once. */
const ADDED = new Set([
  "return-path",
  "received",
  "x-ses-spam-verdict",
  "x-ses-virus-verdict",
  "received-spf",
  "authentication-results",
  "x-ses-receipt",
  "x-ses-dkim-signature",
]);

/** Matches "from out.shop.example (out.shop.example [192.0.2.1]) by inbound-smtp.eu-west-1.amazonaws.com with SMTP id 4f0c…". */
const RECEIVED =
  /^from (?<name>\S+) \([^()]*\[(?:IPv6:)?(?<ip>[\da-f.:]+)\]\) by inbound-smtp\.[a-z\d-]+\.amazonaws\.com with \S+ id (?<id>[\w-]+)/i;
/** The sender's address precedes it and may be quoted, so only the end of the field counts. */
const HELO = /; *helo=(?<helo>[^;\s"]+);?$/i;
const SES_RESULTS = /^amazonses\.com;/i;

/**
 * Reads the fields that SES added at the top of a stored mail; the client may have written any field below. SES does not report
 * whether the client encrypted. Undefined without SES's own Received field, because the client is then unknown.
 */
export const readSesFields = (stored: Buffer, messageId: string): SesMail | undefined => {
  const added = listAddedFields(readFields(stored).fields);
  const received = RECEIVED.exec(readValue(added, "received"))?.groups;
  // Only SES knows this id, so another Received field belongs to the mail.
  if (received?.["id"] !== messageId || !parseIp(received["ip"] ?? "")) return undefined;
  const { ip = "", name = "" } = received;
  const helo = HELO.exec(readValue(added, "received-spf"))?.groups?.["helo"] ?? name;
  const bytes = added.reduce((sum, { raw }) => sum + raw.length + LINE_END_BYTES, 0);
  return { ip, helo, raw: stored.subarray(bytes) };
};

const LINE_END_BYTES = 2;

const listAddedFields = (fields: readonly HeaderField[]): readonly HeaderField[] => {
  const seen = new Set<string>();
  const end = fields.findIndex((field) => {
    const isOthers = field.key === "authentication-results" && !SES_RESULTS.test(getValue(field));
    if (!ADDED.has(field.key) || seen.has(field.key) || isOthers) return true;
    seen.add(field.key);
    return false;
  });
  return end < 0 ? fields : fields.slice(0, end);
};

const readValue = (fields: readonly HeaderField[], name: string): string => {
  const field = fields.find(({ key }) => key === name);
  return field ? getValue(field).replaceAll(/\s+/g, " ") : "";
};
