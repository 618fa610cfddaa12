import type { Finding } from "@mailproof/mail/smtp/classify";
import type { CatchAll } from "../smtp-pool/probe.ts";

/** Everything that the checks found out about one address. */
export type Signals = {
  /** Why the text is not an address, or null. */
  readonly syntaxFault: string | null;
  readonly domain: DomainSignal;
  /** The visitor proved control of the address, so no mail server was asked. */
  readonly isControlled?: true;
  readonly listed: {
    readonly trap: boolean;
    readonly disposable: boolean;
    readonly disposableHint: boolean;
    readonly role: string | null;
    readonly free: boolean;
    /** The provider that the squat imitates. */
    readonly squat: string | null;
  };
  /** What the mail server's reply means; null when no mail server was asked. */
  readonly mailbox: Finding | null;
  readonly catchAll: CatchAll;
  /** The provider accepts at RCPT what it will bounce later, so an acceptance proves nothing. */
  readonly acceptsThenBounces: boolean;
  /** The provider is known to refuse unknown recipients at RCPT, so an acceptance needs no catch-all probe. */
  readonly rejectsUnknownRecipients: boolean;
  /** The provider was believed to refuse them, and a canary was accepted: an acceptance proves nothing until it refuses. */
  readonly acceptsUnknownRecipients: boolean;
  /** The account's own mail to this address bounced lately, because the mailbox takes none. */
  readonly bounced: boolean;
  /** Why the provider cannot have given this name to anyone, or null. */
  readonly nameFault: string | null;
  /** The name is shorter or longer than those that the provider gives today. */
  readonly hasUnusualLength: boolean;
  /** The name is longer than every server must take; "taken": the domain's own server is known to take such names. */
  readonly longName: "untried" | "taken" | null;
  readonly botLikeness: number;
  readonly encrypted: boolean;
};

/** All that `judge` is given. */
export type JudgedInput = {
  readonly signals: Signals;
  /** How likely the mailbox exists where an acceptance proves nothing; null: the question does not arise. */
  readonly catchAllConfidence: number | null;
};

export type DomainSignal =
  | "mail_host"
  | "implicit_mail_host"
  | "domain_not_found"
  | "null_mx"
  | "no_mail_host"
  | "mx_unroutable"
  | "dns_inconclusive"
  | "dns_answer_too_large"
  | "address_literal"
  | "not_asked";

/** In none of the lists. */
export const UNLISTED: Signals["listed"] = {
  trap: false,
  disposable: false,
  disposableHint: false,
  role: null,
  free: false,
  squat: null,
};
