import type { Finding } from "../mail/smtp/classify.ts";
import { BOT_THRESHOLD } from "../signals/bot.ts";
import { type CatchAll, type ScorePart, type Status } from "./result.ts";
import { NOT_PROBED } from "./unpaid-results.ts";

/** Everything that the checks found out about one address. */
export type Signals = {
  /** Why the text is not an address, or null. */
  readonly syntaxFault: string | null;
  readonly domain: DomainSignal;
  readonly listed: {
    readonly trap: boolean;
    readonly disposable: boolean;
    readonly disposableHint: boolean;
    readonly role: string | null;
    readonly free: boolean;
    /** The provider that the squat is taken for. */
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

export type DomainSignal =
  | "mail_host"
  | "implicit_mail_host"
  | "domain_not_found"
  | "null_mx"
  | "no_mail_host"
  | "mx_unroutable"
  | "dns_inconclusive"
  | "dns_answer_too_large"
  | "not_asked";

export type Judgement = {
  readonly status: Status;
  readonly reason: string;
  readonly score: number;
  /** They add up to the score. */
  readonly parts: readonly ScorePart[];
};

/** Signals in, verdict out: the first line that holds is the status, the sum of the named parts the score. */
export const judge = (signals: Signals): Judgement => {
  const rule = PRECEDENCE.find(({ holds }) => holds(signals)) ?? NOTHING_PROVEN;
  const { status } = rule;
  const parts = listParts(status, signals);
  const sum = parts.reduce((total, { points }) => total + points, 0);
  const { least, most } = BANDS[status];
  const score = Math.min(most, Math.max(least, sum));
  const clamp = { part: `limited to ${least}–${most} for ${status}`, points: score - sum };
  return {
    status,
    reason: rule.reason(signals),
    score,
    parts: clamp.points === 0 ? parts : [...parts, clamp],
  };
};

type VerdictRule = {
  readonly status: Status;
  readonly holds: (signals: Signals) => boolean;
  readonly reason: (signals: Signals) => string;
};

/** DNS was queried and did not answer where mail for the domain goes. */
export const isUndecided = (domain: DomainSignal): boolean =>
  domain === "dns_inconclusive" || domain === "dns_answer_too_large";

/** The outcome when no rule above holds: our own failures, and servers that give no clear reply. Never "invalid". */
const NOTHING_PROVEN: VerdictRule = {
  status: "unknown",
  holds: () => true,
  reason: ({ domain, mailbox }) => mailbox?.reason ?? (isUndecided(domain) ? domain : NOT_PROBED),
};

const hasVerdict =
  (verdict: Finding["verdict"]) =>
  ({ mailbox }: Signals): boolean =>
    mailbox?.verdict === verdict;

const useReason = (reason: string) => () => reason;
const getMailboxReason = ({ mailbox }: Signals): string => mailbox?.reason ?? "unclassified";

const NO_MAIL: ReadonlySet<DomainSignal> = new Set<DomainSignal>([
  "domain_not_found",
  "null_mx",
  "no_mail_host",
  "mx_unroutable",
]);

const HAS_HOST: ReadonlySet<DomainSignal> = new Set<DomainSignal>([
  "mail_host",
  "implicit_mail_host",
]);

/** The server accepted the address, and accepts or may accept a random recipient too: no proof of a mailbox. */
const isUnprovenAcceptance = (signals: Signals): boolean =>
  signals.catchAll !== "no" && !signals.rejectsUnknownRecipients;

/**
 * Whether the domain may be a catch-all: a probe proved it, or the server accepted this address and no probe showed
 * that it refuses others. A bounce has answered the question.
 */
export const isCatchAllInQuestion = (signals: Signals): boolean =>
  !signals.bounced &&
  (signals.catchAll === "yes" || (hasVerdict("valid")(signals) && isUnprovenAcceptance(signals)));

/** The server tells this mailbox from others: it knows that it is full, or accepts it and refuses unknown ones. */
const isProvenMailbox = (signals: Signals): boolean =>
  hasVerdict("risky")(signals) || (hasVerdict("valid")(signals) && !isUnprovenAcceptance(signals));

/** The domain's server takes the long name, by its reply or by what is known of it. Those on the way may refuse it. */
const isLongNameTaken = (signals: Signals): boolean => {
  const { longName, mailbox, domain } = signals;
  if (longName === null || !HAS_HOST.has(domain)) return false;
  const isUnanswered = mailbox === null || mailbox.verdict === "unknown";
  return hasVerdict("valid")(signals) || (longName === "taken" && isUnanswered);
};

/** The order is the rule: `judge` looks at a status only when none above it holds. */
const PRECEDENCE: readonly VerdictRule[] = [
  {
    status: "invalid",
    holds: ({ syntaxFault }) => syntaxFault !== null,
    reason: ({ syntaxFault }) => syntaxFault ?? "",
  },
  { status: "invalid", holds: ({ domain }) => NO_MAIL.has(domain), reason: ({ domain }) => domain },
  {
    status: "spam_trap",
    holds: ({ listed }) => listed.trap,
    reason: useReason("listed_spam_trap"),
  },
  {
    status: "disposable",
    holds: ({ listed }) => listed.disposable,
    reason: useReason("listed_disposable"),
  },
  {
    status: "invalid",
    holds: ({ nameFault }) => nameFault !== null,
    reason: ({ nameFault }) => nameFault ?? "",
  },
  { status: "invalid", holds: hasVerdict("invalid"), reason: getMailboxReason },
  {
    // Sent mail is the proof that an acceptance of a server that accepts everybody is not.
    status: "invalid",
    holds: (signals) => signals.bounced && !isProvenMailbox(signals),
    reason: useReason("bounced"),
  },
  {
    // The server's present reply contradicts the bounce: a mailbox can be opened again.
    status: "risky",
    holds: ({ bounced }) => bounced,
    reason: useReason("bounced"),
  },
  {
    // The owner of such a domain may read what arrives, so an acceptance is no good sign.
    status: "risky",
    holds: ({ listed, domain }) => listed.squat !== null && HAS_HOST.has(domain),
    reason: useReason("typo_domain"),
  },
  {
    status: "role",
    holds: ({ listed }) => listed.role !== null,
    reason: useReason("role_account"),
  },
  {
    status: "risky",
    holds: (signals) => hasVerdict("valid")(signals) && signals.acceptsUnknownRecipients,
    reason: useReason("provider_accepts_unknown"),
  },
  {
    status: "risky",
    holds: (signals) =>
      hasVerdict("valid")(signals) && signals.acceptsThenBounces && signals.catchAll !== "no",
    reason: useReason("accept_then_bounce"),
  },
  {
    status: "risky",
    holds: isLongNameTaken,
    reason: useReason("long_local_part"),
  },
  {
    status: "catch_all",
    holds: (signals) => hasVerdict("valid")(signals) && signals.catchAll === "yes",
    reason: useReason("catch_all"),
  },
  { status: "risky", holds: hasVerdict("risky"), reason: getMailboxReason },
  {
    status: "risky",
    holds: (signals) => hasVerdict("valid")(signals) && isUnprovenAcceptance(signals),
    reason: useReason("catch_all_unverified"),
  },
  { status: "valid", holds: hasVerdict("valid"), reason: getMailboxReason },
];

/** The statuses in the order in which `judge` tries them, for diagrams. */
export const STATUS_ORDER: readonly Status[] = [...PRECEDENCE, NOTHING_PROVEN].map(
  ({ status }) => status,
);

/** The contract's bands (90 excellent, 70 good, 50 fair, below poor), and where each status may lie in them. */
export const BANDS: Readonly<Record<Status, { readonly least: number; readonly most: number }>> = {
  valid: { least: 90, most: 100 },
  catch_all: { least: 50, most: 69 },
  role: { least: 50, most: 69 },
  risky: { least: 40, most: 60 },
  // Never near zero: the cause is mostly a failure of ours.
  unknown: { least: 30, most: 49 },
  disposable: { least: 10, most: 30 },
  invalid: { least: 0, most: 10 },
  spam_trap: { least: 0, most: 5 },
};

const START_SCORES: Readonly<Record<Status, number>> = {
  valid: 94,
  catch_all: 58,
  role: 56,
  risky: 50,
  unknown: 40,
  disposable: 20,
  invalid: 5,
  spam_trap: 2,
};

type Adjustment = {
  readonly part: string;
  readonly points: number;
  readonly holds: (signals: Signals) => boolean;
};

/** What makes an address better or worse within the band of its status. */
const ADJUSTMENTS: readonly Adjustment[] = [
  { part: "the server accepted the address", points: 4, holds: hasVerdict("valid") },
  {
    part: "the server refused a random recipient",
    points: 2,
    holds: ({ catchAll, rejectsUnknownRecipients }) =>
      catchAll === "no" || rejectsUnknownRecipients,
  },
  {
    part: "no MX record, only an A or AAAA record",
    points: -3,
    holds: ({ domain }) => domain === "implicit_mail_host",
  },
  {
    part: "on a broad list of disposable domains",
    points: -6,
    holds: ({ listed }) => listed.disposableHint,
  },
  {
    part: "looks generated",
    points: -6,
    holds: ({ botLikeness }) => botLikeness >= BOT_THRESHOLD,
  },
  {
    part: "unusually short or long name",
    points: -6,
    holds: ({ hasUnusualLength }) => hasUnusualLength,
  },
  {
    part: "more than 64 octets before the @",
    points: -6,
    holds: ({ longName }) => longName !== null,
  },
  {
    part: "the DNS look-up failed",
    points: -6,
    holds: ({ domain }) => isUndecided(domain),
  },
  { part: "mail to this address bounced", points: -5, holds: ({ bounced }) => bounced },
  {
    part: "the connection was encrypted",
    points: 1,
    holds: ({ encrypted }) => encrypted,
  },
  {
    part: "the refusal is unambiguous",
    points: -5,
    holds: ({ mailbox }) => mailbox?.verdict === "invalid" && mailbox.confidence >= 0.9,
  },
];

const listParts = (status: Status, signals: Signals): ScorePart[] => [
  { part: status, points: START_SCORES[status] },
  ...ADJUSTMENTS.filter(({ holds }) => holds(signals)).map(({ part, points }) => ({
    part,
    points,
  })),
];
