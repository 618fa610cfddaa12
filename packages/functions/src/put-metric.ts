export const NAMESPACE = "Mailproof";

/** The metric names of alarms and the dashboard. */
export type MetricName =
  | "due_age_seconds"
  | "due_misplaced"
  | "held_over_an_hour"
  | "providers_in_doubt"
  | "mail_providers_blocked"
  | "audit_violations"
  | "smtp_sessions"
  | "smtp_unreached";

/**
 * A number for an alarm, in the form that CloudWatch reads out of a log. Without dimensions, those of Powertools
 * included: an alarm must name all dimensions of a metric, and each of these is one number for all Lambdas.
 */
export const putMetric = (name: MetricName, value: number, at: Date): void => {
  const directive = { Namespace: NAMESPACE, Dimensions: [[]], Metrics: [{ Name: name }] };
  const line = { _aws: { Timestamp: at.getTime(), CloudWatchMetrics: [directive] }, [name]: value };
  process.stdout.write(`${JSON.stringify(line)}\n`);
};
