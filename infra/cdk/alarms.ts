import { ComparisonOperator, type IMetric, TreatMissingData } from "aws-cdk-lib/aws-cloudwatch";
import { type QueueSpec, queues } from "../topology.ts";
import { createLambdaAlarms, createVitalLambdaAlarms } from "./lambda-alarms.ts";
import type { Monitored } from "./metrics.ts";
import * as measures from "./metrics.ts";

/** An alarm: its condition, and the remedy for the operator. */
export type AlarmSpec = {
  readonly id: string;
  readonly metric: IMetric;
  /** The alarm starts when each of the latest `periods` reaches this value. */
  readonly threshold: number;
  readonly periods: number;
  readonly description: string;
  /**
   * What a period without data means. Absent: it is not a fault. `rings`: the process that publishes the metric has
   * stopped. `stays`: the metric is published once a day, and the alarm keeps its state until then.
   */
  readonly silence?: "rings" | "stays";
  /** The alarm starts below the threshold instead. */
  readonly isBelow?: true;
};

const MINUTES_15 = 15 * 60;

const createQueueAlarm =
  (stage: Monitored) =>
  ({ name, receivesMax, visibilitySeconds }: QueueSpec): AlarmSpec =>
    receivesMax === null
      ? {
          id: `Queue-${name}`,
          metric: measures.createDeadLetterMetric(stage, name),
          threshold: 1,
          periods: MINUTES_15 / 60,
          description: `${name} has messages that failed too often. docs/operating.md, "Dead letters".`,
        }
      : {
          id: `Queue-${name}`,
          metric: measures.createQueueMetric(stage, name, "ApproximateAgeOfOldestMessage"),
          // A message of a killed worker reaches this age before its next delivery.
          threshold: visibilitySeconds + MINUTES_15,
          periods: 3,
          description: `${name} has a backlog: too few workers, or one that fails. docs/operating.md, "Limits".`,
        };

/** Hours without an audit. The audit runs once a day, at the minute of the deployment. */
const AUDIT_HOURS = 30;

const createMoneyAlarms = (stage: Monitored): readonly AlarmSpec[] => [
  {
    id: "DueWork",
    metric: measures.createOwnMetric(stage, "mailproof_due_age_seconds"),
    threshold: 300,
    periods: 5,
    description: "Work that crashes left is not repaired: see the log of ScheduleReconcile.",
    silence: "rings",
  },
  {
    id: "MisplacedWork",
    metric: measures.createOwnMetric(stage, "mailproof_due_misplaced_items"),
    threshold: 1,
    // Eight runs repair one partition each.
    periods: 15,
    description:
      "Scheduled work is later than any deferral allows: a clock was wrong, and the reconciler does not repair it.",
    silence: "rings",
  },
  {
    id: "HeldCredits",
    metric: measures.createOwnMetric(stage, "mailproof_credits_held_over_an_hour"),
    threshold: 1,
    periods: 5,
    description: "Credits have been held for over an hour: a job or a check does not end.",
    silence: "rings",
  },
  {
    id: "ProviderInDoubt",
    metric: measures.createOwnMetric(stage, "mailproof_mail_providers_in_doubt"),
    threshold: 1,
    periods: 1,
    description:
      "A mail provider accepted a random recipient: its results are risky. Run admin providers (docs/design/verdicts.md).",
  },
  {
    id: "MailProviderBlocked",
    metric: measures.createOwnMetric(stage, "mailproof_mail_providers_blocked"),
    threshold: 1,
    periods: 1,
    description:
      "A mail provider refuses one of our IP addresses. The log has mail_provider_blocked with the reply; docs/egress.md says what to do.",
  },
  {
    id: "Audit",
    metric: measures.createAuditMetric(stage, "Maximum"),
    threshold: 1,
    periods: 1,
    description:
      "An invariant of the ledger is broken. Stop granting credits; the log of ScheduleAudit names account and invariant.",
    silence: "stays",
  },
  {
    id: "AuditMissing",
    metric: measures.createAuditMetric(stage, "SampleCount"),
    threshold: 1,
    periods: AUDIT_HOURS,
    description: `The ledger was not audited for ${AUDIT_HOURS} hours: see the log of ScheduleAudit.`,
    silence: "rings",
    isBelow: true,
  },
];

const API_FAILED_PERCENT = 5;
const CONFLICTS_PERCENT = 10;
const TABLE_ERRORS = 10;

const createApiAlarms = (stage: Monitored): readonly AlarmSpec[] => [
  {
    id: "Api5xx",
    metric: measures.createApiFailureShare(stage),
    threshold: API_FAILED_PERCENT,
    periods: 1,
    description: `${API_FAILED_PERCENT} % of all responses are 500 or 503. The alarms of the Lambdas show which.`,
  },
  {
    id: "ApiLatency",
    metric: measures.createApiLatency(stage),
    threshold: 28_000,
    periods: 1,
    description: "Requests run until their Lambda's time is up.",
  },
  {
    id: "TableThrottled",
    metric: measures.createThrottleMetric(stage),
    threshold: 100,
    periods: 3,
    description: 'DynamoDB throttles requests. docs/operating.md, "Limits".',
  },
  {
    id: "TableConflicts",
    metric: measures.createConflictShare(stage),
    threshold: CONFLICTS_PERCENT,
    periods: 3,
    description: `${CONFLICTS_PERCENT} % of transactions meet another one on the same item. docs/operating.md, "Limits".`,
  },
  {
    id: "TableErrors",
    metric: measures.createTableErrorMetric(stage),
    threshold: TABLE_ERRORS,
    periods: 1,
    description: "DynamoDB returns errors of its own. See AWS's own status.",
  },
];

const CLAIMED_PERCENT = 90;

const createConcurrencyAlarm = ({ quota }: Monitored): AlarmSpec => ({
  id: "Concurrency",
  metric: measures.claimedConcurrency,
  threshold: (quota * CLAIMED_PERCENT) / 100,
  periods: 1,
  description: `The account uses ${CLAIMED_PERCENT} % of its ${quota} concurrent Lambdas: requests will soon be refused. docs/operating.md, "Limits".`,
});

const createEgressAlarms = (stage: Monitored): readonly AlarmSpec[] => [
  {
    id: "SmtpEgress",
    metric: measures.createUnreachedShare(stage),
    threshold: 50,
    periods: 3,
    description:
      "Most mail servers cannot be reached: port 25 or our address is blocked. docs/egress.md.",
  },
  ...stage.gateways.map((zone) => ({
    id: `NatPorts${zone}`,
    metric: measures.createNatMetric(stage, zone, "ErrorPortAllocation"),
    threshold: 1,
    periods: 3,
    description:
      "A NAT gateway has no free port to one server: allow fewer sessions, or add addresses.",
  })),
];

/** All alarms of a stage of this size. */
export const createAlarms = (stage: Monitored): readonly AlarmSpec[] => [
  ...createApiAlarms(stage),
  createConcurrencyAlarm(stage),
  ...createMoneyAlarms(stage),
  ...createEgressAlarms(stage),
  ...queues.map(createQueueAlarm(stage)),
  ...createVitalLambdaAlarms(stage),
  ...(stage.size === "full" ? createLambdaAlarms(stage) : []),
];

const SILENCE = {
  rings: TreatMissingData.BREACHING,
  stays: TreatMissingData.IGNORE,
} as const;

export const getMissingDataTreatment = ({ silence }: AlarmSpec): TreatMissingData =>
  silence ? SILENCE[silence] : TreatMissingData.NOT_BREACHING;

export const getComparison = ({ isBelow }: AlarmSpec): ComparisonOperator =>
  isBelow
    ? ComparisonOperator.LESS_THAN_THRESHOLD
    : ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD;
