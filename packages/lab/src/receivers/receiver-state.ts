import { isExistingMailbox, type RecipientRequest, type ReplyText } from "../host-behavior.ts";
import type { Block, Limit, Mailbox, Receiver } from "./receiver.ts";

export type ClientRecord = {
  readonly open: number;
  readonly sessions: number;
  readonly unknown: number;
  readonly block: (Block & { readonly untilMs: number }) | undefined;
};

export type SessionRecord = {
  readonly transactions: number;
  readonly recipients: number;
  readonly refusals: number;
};

type Situation = {
  readonly receiver: Receiver;
  readonly request: RecipientRequest;
  readonly client: ClientRecord;
  readonly session: SessionRecord;
  readonly nowMs: number;
};

type Outcome = {
  readonly reply: ReplyText;
  readonly client: ClientRecord;
  readonly session: SessionRecord;
  /** Whether a limit caused the reply. */
  readonly isOverLimit: boolean;
};

const MINUTE_MS = 60_000;
export const NEW_CLIENT: ClientRecord = {
  open: 0,
  sessions: 0,
  unknown: 0,
  block: undefined,
};
export const NEW_SESSION: SessionRecord = { transactions: 0, recipients: 0, refusals: 0 };

export const findMailbox = (local: string): Mailbox => {
  const [, condition] = /^(full|disabled|busy)\b/.exec(local.toLowerCase()) ?? [];
  if (condition) return condition as Mailbox;
  return isExistingMailbox(local) ? "existing" : "unknown";
};

export const answerRecipient = (situation: Situation): Outcome => {
  const { receiver, request, client, session, nowMs } = situation;
  const limited = findExceeded(situation);
  const mailbox = findMailbox(request.local);
  const reply = limited?.reply ?? findMailboxReply(situation, mailbox);
  const isUnknown = !limited && mailbox === "unknown";
  const unknown = client.unknown + (isUnknown ? 1 : 0);
  const block = receiver.blocks?.find(({ afterUnknown = Infinity }) => unknown >= afterUnknown);
  return {
    reply,
    isOverLimit: limited !== undefined,
    client: block
      ? { ...client, unknown: 0, block: startBlock(block, nowMs) }
      : { ...client, unknown },
    session: {
      ...session,
      recipients: session.recipients + 1,
      refusals: session.refusals + (reply.startsWith("5") ? 1 : 0),
    },
  };
};

export const startBlock = (block: Block, nowMs: number) => ({
  ...block,
  untilMs: nowMs + block.minutes * MINUTE_MS,
});

const findExceeded = ({ receiver, request, session }: Situation): Limit | undefined => {
  const { limits = {} } = receiver;
  const { earlier } = request;
  const domains = new Set([...earlier, request].map((one) => one.domain));
  const counted: readonly (readonly [Limit | undefined, number])[] = [
    [limits.refusalsPerSession, session.refusals + 1],
    [limits.recipientsPerSession, session.recipients + 1],
    [limits.domainsPerTransaction, domains.size],
    [limits.recipientsPerTransaction, earlier.length + 1],
  ];
  return counted.find(([limit, count]) => limit && count > limit.most)?.[0];
};

const findMailboxReply = ({ receiver, request }: Situation, mailbox: Mailbox): ReplyText => {
  const domain = receiver.domains.find(({ name }) => name === request.domain);
  if (!domain) return "554 5.7.1 <{address}>: Relay access denied";
  const { greylist } = domain;
  if (greylist && request.waitedMs() < greylist.minutes * MINUTE_MS) return greylist.reply;
  const replies = { ...receiver.mailboxes, ...domain.mailboxes };
  return replies[mailbox] ?? replies.existing;
};
