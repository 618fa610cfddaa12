export const NAMESPACE = "Mailproof";

/** The names under which alarms and the dashboard find what Lambdas measure. */
export type MetricName =
  | "due_age_seconds"
  | "due_misplaced"
  | "held_over_an_hour"
  | "audit_violations"
  | "smtp_sessions"
  | "smtp_unreached";

/**
 * A number for an alarm, in the form that CloudWatch reads out of a log. Without dimensions, those of Powertools
 * included: an alarm sees a number by all of its dimensions or not at all, and these are one each, whoever says them.
 */
export const putMetric = (name: MetricName, value: number, at: Date): void => {
  const directive = { Namespace: NAMESPACE, Dimensions: [[]], Metrics: [{ Name: name }] };
  const line = { _aws: { Timestamp: at.getTime(), CloudWatchMetrics: [directive] }, [name]: value };
  process.stdout.write(`${JSON.stringify(line)}\n`);
};
