import type { MetricUnit } from "@aws-lambda-powertools/metrics/types";

// The figures that the Lambdas publish. Each is read by an alarm or by the dashboard (infra/cdk); a test holds both to
// this list, since an unread metric costs the same.

export const NAMESPACE = "Mailproof";

/** One number for all Lambdas of a stage. */
export const METRIC_UNITS = {
  /** Each minute: how late the latest scheduled work is. */
  due_age_seconds: "Seconds",
  /** Each minute: scheduled work whose time is later than any deferral allows. */
  due_misplaced: "Count",
  /** Each minute: credits that have been held for more than an hour. */
  held_over_an_hour: "Count",
  /** Each minute: mail providers that accepted a canary. */
  providers_in_doubt: "Count",
  /** Each minute: large mail providers that refuse one of our IP addresses. */
  mail_providers_blocked: "Count",
  /** Each day: broken invariants of the ledger. */
  audit_violations: "Count",
  /** Sessions with mail servers, and those for which no server could be reached. */
  smtp_sessions: "Count",
  smtp_unreached: "Count",
} as const satisfies Readonly<Record<string, MetricUnit>>;

export type MetricName = keyof typeof METRIC_UNITS;

/** Powertools' name for the first invocation of a process. */
export const COLD_STARTS = "ColdStart";

/**
 * A failure that AWS does not count, since the Lambda itself answered: a status of 5xx, or a message that has to be
 * delivered again. It is published only when it occurs, and it alone tells the Lambda (`function_name`).
 */
export const FAILURES = "failures";

export const DIMENSIONS = { service: "service", lambda: "function_name" } as const;
