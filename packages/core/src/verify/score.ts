import { BOT_THRESHOLD } from "@mailproof/mail/signals/bot";
import type { Finding } from "@mailproof/mail/smtp/classify";
import type { ScorePart, Status } from "./result.ts";
import type { Signals } from "./signals.ts";

type Scored = {
  readonly status: Status;
  readonly reason: string;
  readonly signals: Signals;
  /** Null when the domain cannot be a catch-all, or nothing was accepted. */
  readonly catchAllConfidence: number | null;
};

export const scoreVerdict = (
  scored: Scored,
): { readonly score: number; readonly parts: readonly ScorePart[] } => {
  const { status } = scored;
  const parts = listParts(scored);
  const sum = parts.reduce((total, { points }) => total + points, 0);
  const { least, most } = BANDS[status];
  const score = Math.min(most, Math.max(least, sum));
  const clamp = { part: `limited to ${least}–${most} for ${status}`, points: score - sum };
  return { score, parts: clamp.points === 0 ? parts : [...parts, clamp] };
};

/** The contract's bands (90 excellent, 70 good, 50 fair, below poor), and the start and range of each status in them. */
export const BANDS = {
  valid: { start: 94, least: 90, most: 100 },
  // The score is below 50 when the mailbox probably does not exist.
  catch_all: { start: 55, least: 40, most: 69 },
  role: { start: 56, least: 50, most: 69 },
  risky: { start: 50, least: 40, most: 60 },
  // The score is never near zero, because most causes are our own failures.
  unknown: { start: 40, least: 30, most: 49 },
  disposable: { start: 20, least: 10, most: 30 },
  invalid: { start: 5, least: 0, most: 10 },
  spam_trap: { start: 2, least: 0, most: 5 },
} as const satisfies Record<Status, object>;

/** From the least to the highest confidence, which is 0.95, a score moves by 30 points, as far as its band allows. */
const CONFIDENCE_POINTS = 30;
const CONFIDENCE_MIDDLE = 0.5;

type Adjustment = {
  readonly part: string;
  readonly points: number;
  readonly holds: (scored: Scored) => boolean;
};

const hasVerdict =
  (verdict: Finding["verdict"]) =>
  ({ signals }: Scored): boolean =>
    signals.mailbox?.verdict === verdict;

/** The confidence already covers what the local part shows, and an acceptance adds nothing to it. */
const isProven = ({ catchAllConfidence }: Scored): boolean => catchAllConfidence === null;

const isUnknownFor =
  (...reasons: readonly string[]) =>
  ({ status, reason }: Scored): boolean =>
    status === "unknown" && reasons.includes(reason);

const BY_PART: Readonly<Record<string, Omit<Adjustment, "part">>> = {
  "the visitor proved control of the address": {
    points: 6,
    holds: ({ signals: { isControlled = false } }) => isControlled,
  },
  "the server accepted the address": {
    points: 4,
    holds: (scored) => hasVerdict("valid")(scored) && isProven(scored),
  },
  "the server refused a random recipient": {
    points: 2,
    holds: ({ signals: { catchAll, rejectsUnknownRecipients } }) =>
      catchAll === "no" || rejectsUnknownRecipients,
  },
  "no MX record, only an A or AAAA record": {
    points: -3,
    holds: ({ signals }) => signals.domain === "implicit_mail_host",
  },
  "on a broad list of disposable domains": {
    points: -6,
    holds: ({ signals }) => signals.listed.disposableHint,
  },
  "looks generated": {
    points: -6,
    holds: (scored) => scored.signals.botLikeness >= BOT_THRESHOLD && isProven(scored),
  },
  "unusually short or long name": {
    points: -6,
    holds: ({ signals }) => signals.hasUnusualLength,
  },
  "more than 64 octets before the @": {
    points: -6,
    holds: ({ signals }) => signals.longName !== null,
  },
  "mail to this address bounced": { points: -5, holds: ({ signals }) => signals.bounced },
  "the connection was encrypted": {
    points: 1,
    holds: (scored) => scored.signals.encrypted && isProven(scored),
  },
  "the refusal is unambiguous": {
    points: -5,
    holds: ({ signals: { mailbox } }) =>
      mailbox?.verdict === "invalid" && mailbox.confidence >= 0.9,
  },
  // Parts for an unknown address, by its reason. A domain with a working mail server has mailboxes.
  "the mail server takes mail, later": {
    points: 7,
    holds: isUnknownFor(
      "greylisted",
      "rate_limited",
      "throttled",
      "too_many_recipients",
      "server_storage",
    ),
  },
  "the mail server refuses us, and not the address": {
    points: 4,
    holds: isUnknownFor(
      "ip_blocked",
      "witness_refused",
      "ip_reputation",
      "missing_ptr",
      "sender_rejected",
      "sender_blocklisted",
      "sender_auth_failed",
      "auth_or_tls_required",
      "directory_harvest",
      "policy_blocked",
      "content_rejected",
    ),
  },
  "the mail server broke off or has a fault": {
    points: -2,
    holds: isUnknownFor("connection_lost", "server_error", "server_refuses", "protocol_error"),
  },
  "the mail server does not reply": { points: -4, holds: isUnknownFor("timeout") },
  "no mail server can be reached": { points: -6, holds: isUnknownFor("connect_failed") },
  "the DNS look-up failed": {
    points: -8,
    holds: isUnknownFor("dns_inconclusive", "dns_answer_too_large"),
  },
};

export const ADJUSTMENTS: readonly Adjustment[] = Object.entries(BY_PART).map(([part, one]) => ({
  part,
  ...one,
}));

const listParts = (scored: Scored): ScorePart[] => [
  { part: scored.status, points: BANDS[scored.status].start },
  ...listConfidence(scored),
  ...ADJUSTMENTS.filter(({ holds }) => holds(scored)).map(({ part, points }) => ({ part, points })),
];

const listConfidence = ({ catchAllConfidence }: Scored): readonly ScorePart[] =>
  catchAllConfidence === null
    ? []
    : [
        {
          part: `catch_all_confidence ${catchAllConfidence.toFixed(2)}`,
          points: Math.round((catchAllConfidence - CONFIDENCE_MIDDLE) * CONFIDENCE_POINTS) + 0,
        },
      ];
