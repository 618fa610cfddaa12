import type { LabStatus } from "../domain.ts";
import type { ReplyText } from "../host-behavior.ts";

// Real receivers, as their documents and their senders' published logs describe them: one value per receiver, which the lab plays
// (receiver-host.ts), the tests verify against, and docs/receivers.md prints.

/**
 * The state of an address at the receiver. The local part decides: `full.…`, `disabled.…` and `busy.…` exist in that condition; for others
 * `isExistingMailbox` decides.
 */
export type Mailbox = "existing" | "unknown" | "full" | "disabled" | "busy";

/** The actual values replace {address}, {local}, {domain}, {host} and {client} in a reply. */
export type MailboxReplies = {
  readonly existing: ReplyText;
  readonly unknown: ReplyText;
  /** Absent when the reply equals `existing`. */
  readonly full?: ReplyText;
  readonly disabled?: ReplyText;
  readonly busy?: ReplyText;
};

/** The replies of a domain that answers every recipient alike. */
export const always = (reply: ReplyText) => ({ existing: reply, unknown: reply });

export type Limit = { readonly most: number; readonly reply: ReplyText };

export type ReceiverLimits = {
  /** Open sessions of one client, at all hosts together; the receiver refuses the next session at the greeting. */
  readonly sessionsAtOnce?: Limit;
  /** Transactions, which senders of mail count as messages; the next MAIL is refused. */
  readonly transactionsPerSession?: Limit;
  readonly recipientsPerSession?: Limit;
  readonly recipientsPerTransaction?: Limit;
  readonly domainsPerTransaction?: Limit;
  readonly refusalsPerSession?: Limit;
};

export type Block = {
  readonly name?: string;
  readonly stage: "greeting" | "mail" | "rcpt";
  readonly reply: ReplyText;
  /** Absent when the block lasts a day. */
  readonly minutes?: number;
  /** The number of sessions after which the block ends. Absent when only time ends it. */
  readonly sessions?: number;
  /** The number of unknown recipients from one client that starts the block. Absent when the address is listed (`blockedBy`). */
  readonly afterUnknown?: number;
};

export type Greylist = { readonly minutes: number; readonly reply: ReplyText };

export type ReceiverDomain = {
  readonly name: string;
  readonly hosts?: readonly string[];
  /** The name of a customer's own setting, which replaces the receiver's replies. */
  readonly setting?: string;
  readonly mailboxes?: Partial<MailboxReplies>;
  readonly greylist?: Greylist;
};

export type Verdict = `${LabStatus} ${string}`;

/** An address and its verdict; several where chance decides, such as the order of a list. */
export type Expectation = readonly [address: string, ...verdicts: readonly Verdict[]];

export type Scenario = {
  readonly shows: string;
  /** The receiver has the client's address on its list; a text names the block that applies. */
  readonly isBlocked?: true | string;
  readonly results: readonly Expectation[];
  /** Unless it states another number, a scenario opens at most SESSIONS_INTO_BLOCK_MAX sessions into a block. */
  readonly atMost?: Partial<ReceiverCounts>;
};

export const DAY_MINUTES = 24 * 60;
export const SESSIONS_INTO_BLOCK_MAX = 20;

/** A receiver's counts, for all clients together. */
export type ReceiverCounts = {
  readonly sessions: number;
  readonly sessionsIntoBlock: number;
  readonly recipients: number;
  readonly unknownRecipients: number;
  readonly overLimit: number;
};

export type Receiver = {
  /** The provider's name in the engine's table, and the entry of docs/receivers.md. */
  readonly id: string;
  readonly title: string;
  /** Each states its content, its place, and the month of publication, or of reading when the source has no date. */
  readonly sources: readonly string[];
  readonly notes?: string;
  readonly hosts: readonly string[];
  readonly greeting?: ReplyText;
  readonly extensions?: readonly string[];
  /** Absent when the receiver offers STARTTLS. */
  readonly offersTls?: false;
  readonly mailboxes: MailboxReplies;
  readonly limits?: ReceiverLimits;
  /** The first block that applies to a client excludes all others. */
  readonly blocks?: readonly Block[];
  /** The delays before the greeting and before each reply to RCPT, in seconds; one second is the lab's `slowMs`. */
  readonly greetingSeconds?: number;
  readonly recipientSeconds?: number;
  readonly domains: readonly ReceiverDomain[];
  readonly scenarios: readonly Scenario[];
};
