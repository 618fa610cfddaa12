import type { PendingProbe, ProbeRequest, ProbeResult } from "./probe.ts";

// Results for recipients about which no mail server was asked, and why.

/** The reason where the mail host or the domain has reached its daily limit (`daily-limits.ts`). */
export const HOST_DAILY_LIMIT = "host_daily_limit";
/** The reason where the operator excludes the mail provider (`probe-policy.ts`). */
export const PROBE_POLICY = "probe_policy";

/** The reason while an address waits for a slot at its mail provider. No result has it: such a wait is no attempt. */
export const WAITING_FOR_PROVIDER = "waiting_for_provider";

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
export const createDailyLimitResult = (one: PendingProbe): ProbeResult => ({
  ...createUnaskedResult(one, HOST_DAILY_LIMIT),
  unknownRecipients: one.unknownRecipients,
});

/** No mail server was asked, and none would be at another attempt. */
export const createUnaskedResult = (
  { recipient, hosts }: Pick<ProbeRequest, "recipient" | "hosts">,
  reason: typeof HOST_DAILY_LIMIT | typeof PROBE_POLICY,
): ProbeResult => ({
  ...createUnansweredResult(recipient),
  host: hosts[0]?.host ?? "",
  finding: {
    verdict: "unknown",
    reason,
    rule: reason,
    confidence: 1,
    retry: null,
    aboutUs: true,
  },
});

/**
 * No mail server was asked, because it refused the process before. A lasting refusal is final: no later attempt of this
 * verification would reach the server.
 */
export const createRefusedResult = (result: ProbeResult, isLasting: boolean): ProbeResult => ({
  ...result,
  isWithheld: true,
  ...(isLasting && { finding: { ...result.finding, retry: null } }),
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
