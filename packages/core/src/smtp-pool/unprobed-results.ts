import type { PendingProbe, ProbeResult } from "../verify/recipient-check.ts";
import { HOST_DAILY_LIMIT } from "../verify/result.ts";

// Answers about recipients that no mail server was asked about.

/** A bug of ours broke the session. */
export const createBrokenResult = ({
  recipient,
  unknownRecipients,
  hosts,
}: PendingProbe): ProbeResult => ({
  ...createUnansweredResult(recipient),
  unknownRecipients,
  host: hosts[0]?.host ?? "",
});

/** Nobody asked, because the mail host or the domain was asked enough for this day. */
export const createDailyLimitResult = ({
  recipient,
  unknownRecipients,
  hosts,
}: PendingProbe): ProbeResult => ({
  ...createUnansweredResult(recipient),
  unknownRecipients,
  host: hosts[0]?.host ?? "",
  finding: {
    verdict: "unknown",
    reason: HOST_DAILY_LIMIT,
    rule: HOST_DAILY_LIMIT,
    confidence: 1,
    retry: null,
    aboutUs: true,
  },
});

/** Something failed on our side before any mail server could be asked. */
export const createUnansweredResult = (recipient: string): ProbeResult => ({
  recipient,
  unknownRecipients: [],
  finding: {
    verdict: "unknown",
    reason: "internal",
    rule: "internal",
    confidence: 1,
    retry: "later",
    aboutUs: true,
  },
  reply: null,
  host: "",
  ip: "",
  encrypted: false,
  catchAll: "not_tested",
  transcript: [],
  randomRecipient: null,
});
