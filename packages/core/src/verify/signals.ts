import type { Finding } from "@mailproof/mail/smtp/classify";
import type { CatchAll } from "../smtp-pool/probe.ts";

export type Signals = {
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
    readonly squat: string | null;
  };
  /** The meaning of the mail server's reply; null when no mail server was asked. */
  readonly mailbox: Finding | null;
  readonly catchAll: CatchAll;
  /** The provider accepts at RCPT and bounces later, so an acceptance proves nothing. */
  readonly acceptsThenBounces: boolean;
  /** The provider is known to refuse unknown recipients at RCPT, so an acceptance needs no catch-all probe. */
  readonly rejectsUnknownRecipients: boolean;
  /** The provider accepted a canary against the belief: an acceptance proves nothing until the provider refuses canaries again. */
  readonly acceptsUnknownRecipients: boolean;
  /** The account's own mail to this address bounced lately, because the mailbox accepts none. */
  readonly bounced: boolean;
  /** The reason that the provider cannot have given this name to any user, or null. */
  readonly nameFault: string | null;
  /** The name is shorter or longer than names that the provider gives today. */
  readonly hasUnusualLength: boolean;
  /** Set when the name is longer than every server must accept; "taken": the domain's server is known to accept such names. */
  readonly longName: "untried" | "taken" | null;
  readonly botLikeness: number;
  readonly encrypted: boolean;
};

export type JudgedInput = {
  readonly signals: Signals;
  /** The likelihood of the mailbox when an acceptance proves nothing; null when an acceptance is a proof. */
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

export const UNLISTED: Signals["listed"] = {
  trap: false,
  disposable: false,
  disposableHint: false,
  role: null,
  free: false,
  squat: null,
};
