import { normalizeLineEnds } from "@mailproof/mail/message/parse/line-ends";
import type { ReceivedMessage } from "@mailproof/mail/message/received-message";
import { DAY_MS } from "../../lib/time.ts";
import { DELAY_SECONDS_MAX } from "../../ports/queue.ts";
import type { Json } from "../../ports/table.ts";
import type { World } from "../../ports/world.ts";
import type { Worker } from "../../runtime/worker.ts";
import type { CheckWorld } from "../dns-lookups.ts";
import { acceptMail } from "../inbound-mail.ts";
import { parseReceipt, type SesReceipt } from "./parse-receipt.ts";
import { readSesFields } from "./read-ses-fields.ts";

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
