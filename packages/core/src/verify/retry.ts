// When an address is verified again, by the cause of its result. Only a result whose status is `unknown` is retried, and
// one that later attempts have to confirm: any other verdict is final, also where the mail server replied "later".

import { THROTTLE_MINUTES } from "@mailproof/mail/mail-provider-table";
import { REFUSAL_REASONS } from "./unpaid-results.ts";

type RetrySchedule = {
  /** The waits between one attempt and the next, in minutes. After the last attempt the result is final. */
  readonly afterMinutes: readonly number[];
  /** Why these numbers. docs/scores.md prints it. */
  readonly why: string;
  /** The reasons of results that follow this schedule. */
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

/** A failure that may be over in seconds, and is mostly over in half an hour. */
const SOON = [1, 5, 20] as const;

export const RETRY_SCHEDULES: Readonly<Record<RetryCause, RetrySchedule>> = {
  dns: {
    afterMinutes: SOON,
    why: "A resolver that is overloaded recovers within a minute, a restarted name server within five; resolvers remember a failure for at most five minutes (RFC 9520).",
    reasons: ["dns_inconclusive", "network_error"],
  },
  connection: {
    afterMinutes: SOON,
    why: "A restart takes a minute, a deployment five; a host that is down longer than half an hour is down for the day.",
    reasons: ["connect_failed", "connection_lost", "proxy_failed"],
  },
  busy: {
    afterMinutes: SOON,
    why: "A full queue or a restart is over in minutes at most servers, and in a quarter of an hour at the slowest.",
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
    why: "The server turns us away for now: our IP address, our sender or our pace. Limits are counted by the quarter of an hour or the hour, and the longest wait that large providers name is four hours.",
    reasons: REFUSAL_REASONS,
  },
  greylisting: {
    afterMinutes: [6, 30],
    why: "Greylisting lets a sender in after five minutes by default (Postgrey, rspamd); some servers want half an hour.",
    reasons: ["greylisted", "policy_blocked", "relay_denied", "recipient_restricted"],
  },
  silence: {
    afterMinutes: [5],
    why: "An attempt at a silent host costs minutes of a session, and a host that is silent twice mostly stays silent.",
    reasons: ["timeout"],
  },
  unreached: {
    afterMinutes: SOON,
    why: "The chunk's attempt ended before the row had a slot at its mail host, so the host was not asked yet.",
    reasons: [],
  },
  internal: {
    afterMinutes: SOON,
    why: "A failure of this service. It is retried as a busy server is.",
    reasons: ["internal"],
  },
};

const CAUSE_BY_REASON: ReadonlyMap<string, RetryCause> = new Map(
  RETRY_CAUSES.flatMap((cause) =>
    RETRY_SCHEDULES[cause].reasons.map((reason): [string, RetryCause] => [reason, cause]),
  ),
);

/** A connection that times out is silence, though its reason is that of a connection that was refused. */
const SILENT_RULE = "connect_timeout";

/** What decides whether a later attempt may find out more. */
export type AttemptOutcome = {
  readonly status: string;
  readonly reason: string;
  /** Null where the reply or the fault is permanent. */
  readonly retry: string | null;
  readonly rule: string | null;
  /** The code of the mail server's reply; null where there was none. */
  readonly code: number | null;
};

/** A verdict with this reason stands when the reply is the same at every attempt. */
const TO_BE_CONFIRMED = "mailbox_not_found_transient";

/** Null: the result is final. */
export const findRetryCause = ({
  status,
  reason,
  retry,
  rule,
  code,
}: AttemptOutcome): RetryCause | null => {
  if ((status !== "unknown" && reason !== TO_BE_CONFIRMED) || retry === null) return null;
  // A 5xx is permanent (RFC 5321 §4.2.1), except where it is only about this connection or our rate.
  const isOfUs = retry === "new_connection" || reason === "directory_harvest";
  if (code !== null && code >= 500 && !isOfUs) return null;
  if (rule === SILENT_RULE && reason !== "no_smtp_egress") return "silence";
  return CAUSE_BY_REASON.get(reason) ?? null;
};

/** The longest time that all waits of one address may take together, in minutes. */
export const MAX_WAIT_MINUTES = { default: 40, most: 1_440 } as const;

type RetryLimits = {
  readonly maxWaitMinutes: number;
  /** The mail provider's own waits after a throttle. Absent: those of the schedule. */
  readonly throttleMinutes?: readonly number[] | undefined;
};

/** How many minutes until the next attempt; undefined when there is none. `causes`: why it waited before. */
export const getNextRetryMinutes = (
  causes: readonly RetryCause[],
  cause: RetryCause,
  { maxWaitMinutes, throttleMinutes = THROTTLE_MINUTES }: RetryLimits,
): number | undefined => {
  /** Each cause has a schedule of its own: a host that greylists after its DNS failed has greylisted once. */
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
