import { type IMetric, TreatMissingData } from "aws-cdk-lib/aws-cloudwatch";
import { lambdas, type QueueSpec, queues, ZONES } from "../topology.ts";
import * as measures from "./metrics.ts";
import { createDeadLetterMetric, createQueueMetric, type GetName } from "./metrics.ts";

/** One alarm: when it rings, and what to do about it. */
export type AlarmSpec = {
  readonly id: string;
  readonly metric: IMetric;
  /** The alarm goes off when this value is reached in each of the latest `periods`. */
  readonly threshold: number;
  readonly periods: number;
  readonly description: string;
  /** Set where missing data is a fault itself: the process that publishes the metric has stopped. */
  readonly silence?: "rings";
};

const MINUTES_15 = 15 * 60;

const createLambdaAlarms = (nameOf: GetName): readonly AlarmSpec[] =>
  lambdas.map(({ name }) => ({
    id: `Lambda${name}`,
    metric: measures.createFailureMetric(nameOf, name),
    threshold: 5,
    periods: 3,
    description: `${name} fails or is throttled. See its log group; docs/operating.md, "A Lambda fails".`,
  }));

const createQueueAlarm =
  (nameOf: GetName) =>
  ({ name, receivesMax, visibilitySeconds }: QueueSpec): AlarmSpec =>
    receivesMax === null
      ? {
          id: `Queue-${name}`,
          metric: createDeadLetterMetric(nameOf, name),
          threshold: 1,
          periods: MINUTES_15 / 60,
          description: `${name} has messages that failed too often. docs/operating.md, "Dead letters".`,
        }
      : {
          id: `Queue-${name}`,
          metric: createQueueMetric(nameOf, name, "ApproximateAgeOfOldestMessage"),
          // A message whose worker was killed is this old when it is received again.
          threshold: visibilitySeconds + MINUTES_15,
          periods: 3,
          description: `${name} has a backlog: too few workers, or one that fails. docs/operating.md, "Limits".`,
        };

const moneyAlarms: readonly AlarmSpec[] = [
  {
    id: "DueWork",
    metric: measures.dueAge,
    threshold: 300,
    periods: 5,
    description: "Work that crashes left is not repaired: see the log of ScheduleReconcile.",
    silence: "rings",
  },
  {
    id: "MisplacedWork",
    metric: measures.dueMisplaced,
    threshold: 1,
    // Each of eight runs repairs one partition.
    periods: 15,
    description:
      "Scheduled work is later than any deferral allows: a clock was wrong, and the reconciler does not repair it.",
    silence: "rings",
  },
  {
    id: "HeldCredits",
    metric: measures.heldLong,
    threshold: 1,
    periods: 5,
    description: "Credits have been held for over an hour: a job or a check does not end.",
    silence: "rings",
  },
  {
    id: "ProviderInDoubt",
    metric: measures.providersInDoubt,
    threshold: 1,
    periods: 1,
    description:
      "A mail provider accepted a random recipient: its results are risky. Run admin providers; decision 61.",
  },
  {
    id: "MailProviderBlocked",
    metric: measures.mailProvidersBlocked,
    threshold: 1,
    periods: 1,
    description:
      "A mail provider refuses one of our IP addresses. The log has mail_provider_blocked with the reply; docs/egress.md says what to do.",
  },
  {
    id: "Audit",
    metric: measures.auditViolations,
    threshold: 1,
    periods: 1,
    description:
      "An invariant of the ledger is broken. Stop granting credits; the log of ScheduleAudit names account and invariant.",
    silence: "rings",
  },
];

const createApiAlarms = (nameOf: GetName): readonly AlarmSpec[] => [
  {
    id: "Api5xx",
    metric: measures.createApiMetric(nameOf, "5xx", "Sum"),
    threshold: 10,
    periods: 3,
    description: "Responses are 500 or 503. The alarms of the Lambdas show which.",
  },
  {
    id: "ApiLatency",
    metric: measures.createApiMetric(nameOf, "Latency", "p99"),
    threshold: 28_000,
    periods: 5,
    description: "Requests run until API Gateway times out.",
  },
  {
    id: "TableThrottled",
    metric: measures.createThrottleMetric(nameOf),
    threshold: 100,
    periods: 3,
    description: 'DynamoDB throttles requests. docs/operating.md, "Limits".',
  },
];

const createEgressAlarms = (nameOf: GetName): readonly AlarmSpec[] => [
  {
    id: "SmtpEgress",
    metric: measures.unreachedPercent,
    threshold: 50,
    periods: 3,
    description:
      "Most mail servers cannot be reached: port 25 or our address is blocked. docs/egress.md.",
  },
  ...ZONES.map((zone) => ({
    id: `NatPorts${zone}`,
    metric: measures.createNatMetric(nameOf, zone, "ErrorPortAllocation"),
    threshold: 1,
    periods: 3,
    description:
      "A NAT gateway has no free port to one server: allow fewer sessions, or add addresses.",
  })),
];

/** All alarms. */
export const createAlarms = (nameOf: GetName): readonly AlarmSpec[] => [
  ...createApiAlarms(nameOf),
  ...moneyAlarms,
  ...createEgressAlarms(nameOf),
  ...queues.map(createQueueAlarm(nameOf)),
  ...createLambdaAlarms(nameOf),
];

export const getMissingDataTreatment = ({ silence }: AlarmSpec): TreatMissingData =>
  silence === "rings" ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING;
