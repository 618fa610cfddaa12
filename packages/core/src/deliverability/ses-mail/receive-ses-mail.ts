import { parseIp } from "@mailproof/mail/ip";
import { getValue, type HeaderField, readFields } from "@mailproof/mail/message/parse/fields";
import { normalizeLineEnds } from "@mailproof/mail/message/parse/message";
import type { ReceivedMessage } from "@mailproof/mail/message/received-message";
import * as v from "valibot";
import { DAY_MS } from "../../lib/time.ts";
import { DELAY_SECONDS_MAX } from "../../ports/queue.ts";
import type { Json } from "../../ports/table.ts";
import type { World } from "../../ports/world.ts";
import type { Worker } from "../../runtime/worker.ts";
import type { CheckWorld } from "../dns-lookups.ts";
import { acceptMail } from "../inbound-mail.ts";

// The notification that Amazon SES publishes after it has stored a mail in S3. AWS documents it under "Contents of
// notifications for Amazon SES email receiving".

/** The client, from the fields that Amazon SES added to the mail, and the mail without these fields. */
type SesMail = { readonly ip: string; readonly helo: string; readonly raw: Uint8Array };

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
const readSesFields = (stored: Buffer, messageId: string): SesMail | undefined => {
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

type SesReceipt = {
  readonly messageId: string;
  readonly blob: string;
  /** The address of MAIL FROM, "" for the null reverse-path. */
  readonly mailFrom: string;
  readonly recipients: readonly string[];
  readonly receivedAt: Date;
};

const Notification = v.object({
  notificationType: v.literal("Received"),
  mail: v.object({
    messageId: v.string(),
    source: v.string(),
    timestamp: v.pipe(v.string(), v.isoTimestamp()),
  }),
  receipt: v.object({
    recipients: v.array(v.string()),
    action: v.object({ type: v.literal("S3"), objectKey: v.string() }),
  }),
});

/** Throws when the message does not match AWS's documentation. */
const parseReceipt = (body: unknown): SesReceipt => {
  const { mail, receipt } = v.parse(Notification, body);
  return {
    messageId: mail.messageId,
    blob: receipt.action.objectKey,
    // SES has no notation for the null reverse-path.
    mailFrom: mail.source.includes("@") ? mail.source : "",
    recipients: receipt.recipients,
    receivedAt: new Date(mail.timestamp),
  };
};

/** The worker also queries DNS for the names of reports' sources. If the table fails for ten minutes, no message is lost. */
export const INBOUND_MAIL_QUEUE = {
  name: "inbound-mail",
  visibilitySeconds: 120,
  receivesMax: 12,
  concurrency: 5,
};

/** The limit of one machine, too (local/src/mail-receiver/limits.ts). SES accepts more. */
const MESSAGE_BYTES_MAX = 10_000_000;

/** SMTP servers retry a deferred mail for days, but a report is useful for one day. */
const BUSY_FOR_MS = DAY_MS;

/**
 * Accepts a mail that Amazon SES stored, and removes it. SES has already replied 250, so the worker drops a mail that an SMTP
 * server would refuse: the service sends no mail, and so no bounce.
 */
export const receiveSesMail: Worker<CheckWorld> = {
  queue: INBOUND_MAIL_QUEUE,
  lambda: { batch: 1, concurrency: 5 },
  needs: ["table:readwrite", "queue:send", "blobs:read", "blobs:write", "dns", "activity"],
  async handle(world, body) {
    const receipt = parseReceipt(body);
    const mail = await readMail(world, receipt);
    if (!mail) return;
    const busy: string[] = [];
    for (const recipient of receipt.recipients) {
      const outcome = await acceptMail(world, recipient, mail);
      if (outcome === "busy" && mayWait(world, receipt)) busy.push(recipient);
      else if (outcome !== "stored") drop(world, receipt, outcome);
    }
    if (busy.length > 0) await sendAgain(world, body, busy);
    else await world.blobs.remove(receipt.blob);
  },
};

/** Undefined when there is nothing to accept. Throws when the client is unknown, because the report would blame the sender. */
const readMail = async (
  world: World,
  receipt: SesReceipt,
): Promise<ReceivedMessage | undefined> => {
  const found = await world.blobs.get(receipt.blob);
  if (!found) return drop(world, receipt, "removed");
  if (found.bytes > MESSAGE_BYTES_MAX) {
    await world.blobs.remove(receipt.blob);
    return drop(world, receipt, "too_large");
  }
  const stored = Buffer.concat(await Array.fromAsync(found.content));
  const read = readSesFields(normalizeLineEnds(stored).bytes, receipt.messageId);
  if (!read) throw new Error(`${receipt.messageId}: the fields of SES are not as known`);
  const { mailFrom, receivedAt } = receipt;
  return { ...read, mailFrom, receivedAt, tls: "unknown" };
};

const drop = (world: World, { messageId }: SesReceipt, reason: string): undefined => {
  world.log("mail_dropped", { messageId, reason });
};

const mayWait = ({ now }: World, { receivedAt }: SesReceipt): boolean =>
  now().getTime() - receivedAt.getTime() < BUSY_FOR_MS;

const sendAgain = async (
  { queue }: World,
  body: Json,
  recipients: readonly string[],
): Promise<void> => {
  const { receipt, ...others } = body as { readonly [field: string]: Json };
  const again = { ...others, receipt: { ...(receipt as object), recipients } };
  const [outcome] = await queue.sendMany(INBOUND_MAIL_QUEUE.name, [
    { body: again as Json, delaySeconds: DELAY_SECONDS_MAX },
  ]);
  if (outcome !== "sent") throw new Error("unknown whether the mail waits for a later time");
};
