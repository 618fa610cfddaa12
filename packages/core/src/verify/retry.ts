// The schedule of later attempts, by the cause of a result. Only an `unknown` result is retried, or a result that later
// attempts must confirm. Any other verdict is final, even when the mail server replied "later".

import { THROTTLE_MINUTES } from "@mailproof/mail/mail-provider-table";
import { REFUSAL_REASONS } from "./unpaid-results.ts";

type RetrySchedule = {
  /** The waits between two attempts, in minutes. After the last attempt the result is final. */
  readonly afterMinutes: readonly number[];
  /** docs/scores.md prints this reason for the numbers. */
  readonly why: string;
  readonly reasons: readonly string[];
};

export const RETRY_CAUSES = [
  "dns",
  "connection",
  "busy",
  "throttled",
  "greylisting",
  "silence",
  "unreached",
  "internal",
] as const;

export type RetryCause = (typeof RETRY_CAUSES)[number];

/** For a failure that may end in seconds and mostly ends within half an hour. */
const SOON = [1, 5, 20] as const;

export const RETRY_SCHEDULES: Readonly<Record<RetryCause, RetrySchedule>> = {
  dns: {
    afterMinutes: SOON,
    why: "An overloaded resolver recovers within a minute; resolvers remember a failure for at most five minutes (RFC 9520).",
    reasons: ["dns_inconclusive", "network_error"],
  },
  connection: {
    afterMinutes: SOON,
    why: "A restart takes a minute, a deployment five; after half an hour a host is down for the day.",
    reasons: ["connect_failed", "connection_lost", "proxy_failed"],
  },
  busy: {
    afterMinutes: SOON,
    why: "A full queue or a restart is over in minutes, at the slowest servers in a quarter of an hour.",
    reasons: [
      "too_many_recipients",
      "server_error",
      "server_refuses",
      "server_storage",
      "mailbox_not_found_transient",
    ],
  },
  throttled: {
    afterMinutes: THROTTLE_MINUTES,
    why: "Servers count limits by the quarter of an hour or the hour; the longest wait that large providers name is four hours.",
    reasons: REFUSAL_REASONS,
  },
  greylisting: {
    afterMinutes: [6, 30],
    why: "Greylisting takes five minutes by default (Postgrey, rspamd), at some servers half an hour.",
    reasons: ["greylisted", "policy_blocked", "relay_denied", "recipient_restricted"],
  },
  silence: {
    afterMinutes: [5],
    why: "An attempt costs minutes of a session, and a host that is silent twice mostly stays silent.",
    reasons: ["timeout"],
  },
  unreached: {
    afterMinutes: SOON,
    why: "The chunk's attempt ended before the row had a slot at its mail host.",
    reasons: [],
  },
  internal: {
    afterMinutes: SOON,
    why: "A failure of this service.",
    reasons: ["internal"],
  },
};

const CAUSE_BY_REASON: ReadonlyMap<string, RetryCause> = new Map(
  RETRY_CAUSES.flatMap((cause) =>
    RETRY_SCHEDULES[cause].reasons.map((reason): [string, RetryCause] => [reason, cause]),
  ),
);

/** A timed-out connection counts as silence, although its reason equals the reason of a refused connection. */
const SILENT_RULE = "connect_timeout";

export type AttemptOutcome = {
  readonly status: string;
  readonly reason: string;
  /** Null when the reply or the fault is permanent. */
  readonly retry: string | null;
  readonly rule: string | null;
  /** Null without a reply of the mail server. */
  readonly code: number | null;
};

/** A verdict with this reason is final when every attempt gets the same reply. */
const TO_BE_CONFIRMED = "mailbox_not_found_transient";

/** Null when the result is final. */
export const findRetryCause = ({
  status,
  reason,
  retry,
  rule,
  code,
}: AttemptOutcome): RetryCause | null => {
  if ((status !== "unknown" && reason !== TO_BE_CONFIRMED) || retry === null) return null;
  // A 5xx reply is permanent (RFC 5321 §4.2.1), unless it concerns only this connection or our rate.
  const isOfUs = retry === "new_connection" || reason === "directory_harvest";
  if (code !== null && code >= 500 && !isOfUs) return null;
  if (rule === SILENT_RULE && reason !== "no_smtp_egress") return "silence";
  return CAUSE_BY_REASON.get(reason) ?? null;
};

export const MAX_WAIT_MINUTES = { default: 40, most: 1_440 } as const;

type RetryLimits = {
  readonly maxWaitMinutes: number;
  /** The mail provider's own waits after a throttle. Absent when the schedule's waits apply. */
  readonly throttleMinutes?: readonly number[] | undefined;
};

/** The minutes that a row has waited at least: a provider's own waits after a throttle are not known here. */
export const countWaitedMinutes = (causes: readonly RetryCause[]): number =>
  causes.reduce((sum, cause, at) => {
    const { afterMinutes } = RETRY_SCHEDULES[cause];
    const before = causes.slice(0, at).filter((earlier) => earlier === cause).length;
    return sum + (cause === "throttled" ? 0 : (afterMinutes[before] ?? 0));
  }, 0);

/** Returns the minutes until the next attempt; undefined when none follows. `causes`: the causes of the earlier waits. */
export const getNextRetryMinutes = (
  causes: readonly RetryCause[],
  cause: RetryCause,
  { maxWaitMinutes, throttleMinutes = THROTTLE_MINUTES }: RetryLimits,
): number | undefined => {
  /** Each cause has its own schedule: a host that greylists after a DNS failure has greylisted once. */
  const getWaitMinutes = (before: readonly RetryCause[], next: RetryCause): number | undefined => {
    const schedule = next === "throttled" ? throttleMinutes : RETRY_SCHEDULES[next].afterMinutes;
    return schedule[before.filter((earlier) => earlier === next).length];
  };
  const minutes = getWaitMinutes(causes, cause);
  if (minutes === undefined) return undefined;
  const waited = causes.reduce(
    (sum, earlier, at) => sum + (getWaitMinutes(causes.slice(0, at), earlier) ?? 0),
    0,
  );
  return waited + minutes <= maxWaitMinutes ? minutes : undefined;
};
