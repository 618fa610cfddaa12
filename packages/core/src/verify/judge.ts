import type { Finding } from "@mailproof/mail/smtp/classify";
import type { ScorePart, Status } from "./result.ts";
import { scoreVerdict } from "./score.ts";
import type { DomainSignal, Signals } from "./signals.ts";
import { ADDRESS_LITERAL, CONTROLLED, NOT_PROBED } from "./unpaid-results.ts";

export type Judgement = {
  readonly status: Status;
  readonly reason: string;
  readonly score: number;
  /** The parts add up to the score. */
  readonly parts: readonly ScorePart[];
};

/**
 * Turns signals into a verdict: the first rule that holds decides the status, and the sum of the named parts is the score.
 * `catchAllConfidence`: the likelihood of the mailbox when an acceptance proves nothing.
 */
export const judge = (signals: Signals, catchAllConfidence: number | null = null): Judgement => {
  const rule = PRECEDENCE.find(({ holds }) => holds(signals)) ?? NOTHING_PROVEN;
  const verdict = {
    status: rule.status,
    reason: typeof rule.reason === "string" ? rule.reason : rule.reason(signals),
  };
  return { ...verdict, ...scoreVerdict({ ...verdict, signals, catchAllConfidence }) };
};

export const findSubStatus = (
  { reason }: Judgement,
  { mailbox, domain, nameFault }: Signals,
): string | null => {
  if (reason === nameFault) return null;
  const detail = mailbox?.reason ?? REASON_WITHOUT_ANSWER[domain] ?? reason;
  return detail === reason ? null : detail;
};

/** The reason for a missing reply of a mail server. A domain without mail hosts needs no such reason. */
const REASON_WITHOUT_ANSWER: { readonly [domain in DomainSignal]?: string } = {
  mail_host: NOT_PROBED,
  implicit_mail_host: NOT_PROBED,
  dns_inconclusive: "dns_inconclusive",
  dns_answer_too_large: "dns_answer_too_large",
  address_literal: ADDRESS_LITERAL,
};

type VerdictRule = {
  readonly status: Status;
  readonly holds: (signals: Signals) => boolean;
  readonly reason: string | ((signals: Signals) => string);
};

export const isUndecided = (domain: DomainSignal): boolean =>
  domain === "dns_inconclusive" || domain === "dns_answer_too_large";

/** The outcome when no rule above holds: our own failures, and servers without a clear reply. Never "invalid". */
const NOTHING_PROVEN: VerdictRule = {
  status: "unknown",
  holds: () => true,
  reason: ({ domain, mailbox }) =>
    mailbox?.reason ?? (isUndecided(domain) || domain === ADDRESS_LITERAL ? domain : NOT_PROBED),
};

const hasVerdict =
  (verdict: Finding["verdict"]) =>
  ({ mailbox }: Signals): boolean =>
    mailbox?.verdict === verdict;

const getMailboxReason = ({ mailbox }: Signals): string => mailbox?.reason ?? "unclassified";

/** The domain accepts no mail. These signals are also reasons of verdicts. */
export const NO_MAIL: ReadonlySet<string> = new Set<DomainSignal>([
  "domain_not_found",
  "null_mx",
  "no_mail_host",
  "mx_unroutable",
]);

const HAS_HOST: ReadonlySet<DomainSignal> = new Set<DomainSignal>([
  "mail_host",
  "implicit_mail_host",
]);

/** The server accepted the address and accepts, or may accept, a random recipient too, so the acceptance proves no mailbox. */
const isUnprovenAcceptance = (signals: Signals): boolean =>
  signals.catchAll !== "no" && !signals.rejectsUnknownRecipients;

/**
 * True when the domain may be a catch-all: a probe proved it, or the server accepted this address and no probe showed that it
 * refuses others. A bounce decides the matter.
 */
export const isCatchAllInQuestion = (signals: Signals): boolean =>
  !signals.bounced &&
  (signals.catchAll === "yes" || (hasVerdict("valid")(signals) && isUnprovenAcceptance(signals)));

/** True when the server distinguishes this mailbox from others: it is full, or accepted where unknown recipients are refused. */
const isProvenMailbox = (signals: Signals): boolean =>
  hasVerdict("risky")(signals) || (hasVerdict("valid")(signals) && !isUnprovenAcceptance(signals));

/** True when the domain's server accepts the long name, by its reply or by known facts. Servers in between may still refuse it. */
const isLongNameTaken = (signals: Signals): boolean => {
  const { longName, mailbox, domain } = signals;
  if (longName === null || !HAS_HOST.has(domain)) return false;
  const isUnanswered = mailbox === null || mailbox.verdict === "unknown";
  return hasVerdict("valid")(signals) || (longName === "taken" && isUnanswered);
};

/** The order is the rule: `judge` tries a status only when no status above it holds. */
const PRECEDENCE: readonly VerdictRule[] = [
  { status: "valid", holds: ({ isControlled = false }) => isControlled, reason: CONTROLLED },
  {
    status: "invalid",
    holds: ({ syntaxFault }) => syntaxFault !== null,
    reason: ({ syntaxFault }) => syntaxFault ?? "",
  },
  { status: "invalid", holds: ({ domain }) => NO_MAIL.has(domain), reason: ({ domain }) => domain },
  { status: "spam_trap", holds: ({ listed }) => listed.trap, reason: "listed_spam_trap" },
  { status: "disposable", holds: ({ listed }) => listed.disposable, reason: "listed_disposable" },
  {
    status: "invalid",
    holds: ({ nameFault }) => nameFault !== null,
    reason: ({ nameFault }) => nameFault ?? "",
  },
  { status: "invalid", holds: hasVerdict("invalid"), reason: getMailboxReason },
  {
    // Sent mail proves more than an acceptance by a server that accepts every recipient.
    status: "invalid",
    holds: (signals) => signals.bounced && !isProvenMailbox(signals),
    reason: "bounced",
  },
  {
    // The server's present reply contradicts the bounce: a mailbox can be opened again.
    status: "risky",
    holds: ({ bounced }) => bounced,
    reason: "bounced",
  },
  {
    // The owner of a squat may read the mail, so an acceptance is not a good sign.
    status: "risky",
    holds: ({ listed, domain }) => listed.squat !== null && HAS_HOST.has(domain),
    reason: "typo_domain",
  },
  { status: "role", holds: ({ listed }) => listed.role !== null, reason: "role_account" },
  {
    status: "risky",
    holds: (signals) => hasVerdict("valid")(signals) && signals.acceptsUnknownRecipients,
    reason: "provider_accepts_unknown",
  },
  {
    status: "risky",
    holds: (signals) =>
      hasVerdict("valid")(signals) && signals.acceptsThenBounces && signals.catchAll !== "no",
    reason: "accept_then_bounce",
  },
  { status: "risky", holds: isLongNameTaken, reason: "long_local_part" },
  {
    status: "catch_all",
    holds: (signals) => hasVerdict("valid")(signals) && signals.catchAll === "yes",
    reason: "catch_all",
  },
  { status: "risky", holds: hasVerdict("risky"), reason: getMailboxReason },
  {
    status: "risky",
    holds: (signals) => hasVerdict("valid")(signals) && isUnprovenAcceptance(signals),
    reason: "catch_all_unverified",
  },
  { status: "valid", holds: hasVerdict("valid"), reason: getMailboxReason },
];

export const STATUS_ORDER: readonly Status[] = [...PRECEDENCE, NOTHING_PROVEN].map(
  ({ status }) => status,
);
