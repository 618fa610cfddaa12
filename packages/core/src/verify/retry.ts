// When an address is verified again, by the cause of its result. Only a result whose status is `unknown` is retried, and
// one that later attempts have to confirm: any other verdict is final, also where the mail server replied "later".

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
    why: "A full queue or a rate limit is counted per minute at most servers, and per quarter of an hour at the slowest.",
    reasons: [
      "rate_limited",
      "too_many_recipients",
      "directory_harvest",
      "server_error",
      "server_refuses",
      "server_storage",
      "mailbox_not_found_transient",
    ],
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
  // A 5xx is permanent (RFC 5321 §4.2.1), except where it is about this connection or our rate alone.
  const isOfUs = retry === "new_connection" || reason === "directory_harvest";
  if (code !== null && code >= 500 && !isOfUs) return null;
  if (rule === SILENT_RULE && reason !== "no_smtp_egress") return "silence";
  return CAUSE_BY_REASON.get(reason) ?? null;
};

/** The longest time that all waits of one address may take together, in minutes. */
export const MAX_WAIT_MINUTES = { default: 40, most: 60 } as const;

/** How many minutes until the next attempt; undefined when there is none. `causes`: why it waited before. */
export const getNextRetryMinutes = (
  causes: readonly RetryCause[],
  cause: RetryCause,
  maxWaitMinutes: number,
): number | undefined => {
  const minutes = getWaitMinutes(causes, cause);
  if (minutes === undefined) return undefined;
  const waited = causes.reduce(
    (sum, earlier, at) => sum + (getWaitMinutes(causes.slice(0, at), earlier) ?? 0),
    0,
  );
  return waited + minutes <= maxWaitMinutes ? minutes : undefined;
};

/** Each cause has a schedule of its own: a host that greylists after its DNS failed has greylisted once. */
const getWaitMinutes = (causes: readonly RetryCause[], cause: RetryCause): number | undefined =>
  RETRY_SCHEDULES[cause].afterMinutes[causes.filter((earlier) => earlier === cause).length];
