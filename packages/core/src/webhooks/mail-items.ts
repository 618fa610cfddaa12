import * as v from "valibot";
import { addMs, MINUTE_MS, toEpochSeconds } from "../lib/time.ts";
import { readOwnerId, toQueueGroup } from "../money/payer.ts";
import type { QueueConfig } from "../ports/queue.ts";
import type { Item, Key } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import type { OutboxWrite } from "../runtime/commit.ts";
import { scheduleWork } from "../runtime/leases.ts";
import type { OutboxEvent } from "./items.ts";

// Mails that wait to be sent. Like an event, a mail is a write of the transaction that causes it. The worker (mails/send-mail.ts)
// turns an event or a Monday letter into a text for each recipient, sends each text, and removes it.
//
//   pk                 sk         content
//   MAIL#<id>          MAIL       a mail; due until it is sent or given up
//   MAILS#<subject>    <day>      sent: the mails of a day (UTC), of an account or of the hash of an address
//   LETTERS#<monday>   <account>  the account's Monday letter was queued. DONE: those of all accounts were

export const MAILS_QUEUE: QueueConfig = {
  name: "mails",
  visibilitySeconds: 300,
  receivesMax: 5,
  concurrency: 4,
};

/** A paragraph, or the lines of a list. */
const Block = v.union([v.string(), v.array(v.string())]);

const Letter = v.object({
  subject: v.string(),
  blocks: v.array(Block),
  /** The screen of the dashboard that shows more. */
  screen: v.string(),
});
export type Letter = Readonly<v.InferOutput<typeof Letter>>;

const Content = v.variant("kind", [
  v.object({ kind: v.literal("event"), event: v.string() }),
  /** The letter of the week that ended before this Monday. */
  v.object({ kind: v.literal("week"), monday: v.string() }),
  v.object({ kind: v.literal("letter"), person: v.string(), letter: Letter }),
  /** `secret`: the link's token, encrypted for the account. */
  v.object({ kind: v.literal("invitation"), invitation: v.string(), secret: v.string() }),
]);
export type MailContent = Readonly<v.InferOutput<typeof Content>>;

const Mail = v.object({
  id: v.string(),
  account: v.string(),
  content: Content,
  createdAt: v.string(),
  attempts: v.number(),
  triedSince: v.optional(v.string()),
  nextTryAt: v.optional(v.string()),
  /** True when the mail counts towards the limits of its day, or needs not: a Monday letter comes once a week. */
  isCounted: v.boolean(),
});
export type Mail = Readonly<v.InferOutput<typeof Mail>>;

export const MAIL = "mail";
export const readMail = (item: Item): Mail => v.parse(Mail, item);
export const toMailKey = (id: string): Key => ({ pk: `MAIL#${id}`, sk: "MAIL" });

/** The reconciler sends the mail's message if this process has not sent it within a minute. */
const SEND_WITHIN_MS = MINUTE_MS;
/** Longer than a mail is tried. */
const RETENTION_SECONDS = 3 * 86_400;

export const createMail = (
  world: Pick<World, "now" | "newId">,
  account: string,
  content: MailContent,
  isCounted = false,
): OutboxWrite => {
  const id = world.newId("mail");
  const token = world.newId("txn");
  const now = world.now();
  const mail: Mail = {
    id,
    account,
    content,
    createdAt: now.toISOString(),
    attempts: 0,
    isCounted,
  };
  return {
    create: {
      ...toMailKey(id),
      ...mail,
      ...scheduleWork(MAIL, id, addMs(now, SEND_WITHIN_MS), token),
      expires_at: toEpochSeconds(now) + RETENTION_SECONDS,
    },
    sends: {
      queue: MAILS_QUEUE.name,
      message: { body: { id, token }, delaySeconds: 0, ...toQueueGroup(account) },
    },
  };
};

/** The events that people learn of by mail, too. */
const MAILED: readonly OutboxEvent["type"][] = [
  "job.completed",
  "job.failed",
  "credits.low",
  "credits.depleted",
  "blacklist.detected",
  "dmarc.failed",
];

/** Empty for events of test keys, and where this service sends no mail. */
export const createEventMails = (
  world: Pick<World, "now" | "newId" | "settings">,
  { id, owner, type }: Pick<OutboxEvent, "id" | "owner" | "type">,
): readonly OutboxWrite[] => {
  const { account, mode } = readOwnerId(owner);
  if (world.settings.mailFrom === null || mode === "test" || !MAILED.includes(type)) return [];
  return [createMail(world, account, { kind: "event", event: id })];
};

export const toMailsKey = (subject: string, day: string): Key => ({
  pk: `MAILS#${subject}`,
  sk: day,
});
export const toLetterKey = (monday: string, account: string): Key => ({
  pk: `LETTERS#${monday}`,
  sk: account,
});
/** Sorts apart from accounts, whose ids begin with acc_. */
export const ALL_LETTERS = "DONE";
