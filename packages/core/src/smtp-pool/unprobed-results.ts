import type { PendingProbe, ProbeResult } from "../verify/recipient-check.ts";
import { HOST_DAILY_LIMIT } from "../verify/result.ts";

// Results for recipients about which no mail server was asked.

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

/** No mail server was asked, because the mail host or the domain has reached its daily limit. */
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

/** Our own failure before any mail server could be asked. */
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
