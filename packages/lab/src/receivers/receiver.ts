import type { LabStatus } from "../domain.ts";
import type { HostBehavior, ReplyText } from "../host-behavior.ts";

// How a real receiver answers, by its documents and by logs that its senders published: a value per receiver, which the
// lab plays (receiver-host.ts), the tests verify against, and docs/receivers.md prints.

/** Where a behavior is documented. */
export type Source = {
  readonly what: string;
  /** A page, or the repository and the number of a thread. */
  readonly at: string;
  /** The year and month in which it was written or, where it has no date, read. */
  readonly date: string;
};

/**
 * What the receiver has at an address. The local part decides: `full.…`, `disabled.…` and `busy.…` exist in that
 * condition; of the others `isExistingMailbox` decides.
 */
export type Mailbox = "existing" | "unknown" | "full" | "disabled" | "busy";

/** In a reply {address}, {local}, {domain}, {host} and {client} are replaced by what they name. */
export type MailboxReplies = {
  readonly existing: ReplyText;
  readonly unknown: ReplyText;
  /** Absent: as `existing`. */
  readonly full?: ReplyText;
  readonly disabled?: ReplyText;
  readonly busy?: ReplyText;
};

export type Limit = { readonly most: number; readonly reply: ReplyText };

/** What is allowed. A reply with 421 ends the session. */
export type ReceiverLimits = {
  /** Open sessions of one client, at all hosts together; the next one is refused at the greeting. */
  readonly sessionsAtOnce?: Limit;
  /** Transactions, which are what senders of mail count as messages; the next MAIL is refused. */
  readonly transactionsPerSession?: Limit;
  readonly recipientsPerSession?: Limit;
  readonly recipientsPerTransaction?: Limit;
  /** Of the recipients of one transaction. */
  readonly domainsPerTransaction?: Limit;
  /** Recipients refused with 5xx. */
  readonly refusalsPerSession?: Limit;
};

/** When the receiver stops to talk to a client, and for how long. */
export type Block = {
  /** Where the receiver has several for listed clients. */
  readonly name?: string;
  readonly stage: "greeting" | "mail" | "rcpt";
  readonly reply: ReplyText;
  readonly minutes: number;
  /** It lets the client in after this many sessions. Absent: not before its time is over. */
  readonly sessions?: number;
  /** The number of unknown recipients from one client that triggers it. Absent: the address is listed (`blockedBy`). */
  readonly afterUnknown?: number;
};

/** Refuses a sender and recipient until they return after this many minutes. */
export type Greylist = { readonly minutes: number; readonly reply: ReplyText };

export type ReceiverDomain = {
  readonly name: string;
  /** Its MX records by preference. Absent: the receiver's. */
  readonly hosts?: readonly string[];
  /** A customer's own setting, in the place of the receiver's replies, and what it is called. */
  readonly setting?: string;
  readonly mailboxes?: Partial<MailboxReplies>;
  readonly greylist?: Greylist;
};

/** Status and reason. */
export type Verdict = `${LabStatus} ${string}`;

/** An address and its verdict; more than one where chance decides, such as the order of a list. */
export type Expectation = readonly [address: string, ...verdicts: readonly Verdict[]];

/** A list that is verified at once, by a client that the receiver has not met. */
export type Scenario = {
  readonly shows: string;
  /** The receiver has the client's address on its list: how it treats such clients, or the name of the block. */
  readonly isBlocked?: true | string;
  readonly results: readonly Expectation[];
  /** What a careful client causes at most. */
  readonly atMost?: Partial<ReceiverCounts>;
  /** What the engine does not do yet. The test fails as soon as it does. */
  readonly openIssue?: string;
};

/** What a receiver counts, for all clients together. */
export type ReceiverCounts = {
  readonly sessions: number;
  /** Begun while the client was blocked. */
  readonly sessionsIntoBlock: number;
  readonly recipients: number;
  readonly unknownRecipients: number;
  /** Replies that a limit caused. */
  readonly overLimit: number;
};

export type Receiver = {
  /** The provider of the engine's table, and the entry of docs/receivers.md. */
  readonly id: string;
  readonly title: string;
  readonly sources: readonly Source[];
  /** What a sender of mail has to know besides the rules. */
  readonly notes?: string;
  readonly hosts: readonly string[];
  readonly greeting?: ReplyText;
  readonly extensions?: readonly string[];
  readonly tls?: HostBehavior["tls"];
  readonly mailboxes: MailboxReplies;
  readonly limits?: ReceiverLimits;
  /** The first that applies: a client that is blocked meets no other one. */
  readonly blocks?: readonly Block[];
  /** Before the greeting and before each reply to RCPT, in seconds; the lab's `slowMs` is one of them. */
  readonly greetingSeconds?: number;
  readonly recipientSeconds?: number;
  readonly domains: readonly ReceiverDomain[];
  readonly scenarios: readonly Scenario[];
};
