import { type IMetric, TreatMissingData } from "aws-cdk-lib/aws-cloudwatch";
import { lambdas, type QueueSpec, queues, ZONES } from "../topology.ts";
import * as measures from "./metrics.ts";
import { createDeadLetterMetric, createQueueMetric, type GetName } from "./metrics.ts";

/** One thing that somebody is called for: when, and what to do about it. */
export type AlarmSpec = {
  readonly id: string;
  readonly metric: IMetric;
  /** It rings at this value, in so many of the latest periods one after the other. */
  readonly threshold: number;
  readonly periods: number;
  readonly description: string;
  /** Where silence is a fault itself: what should measure has stopped. */
  readonly silence?: "rings";
};

const MINUTES_15 = 15 * 60;

const createLambdaAlarms = (nameOf: GetName): readonly AlarmSpec[] =>
  lambdas.map(({ name }) => ({
    id: `Lambda${name}`,
    metric: measures.createFailureMetric(nameOf, name),
    threshold: 5,
    periods: 3,
    description: `${name} breaks or finds no place. Its log group tells why; docs/operating.md, "A Lambda fails".`,
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
          description: `Messages lie in ${name} that nobody could handle. docs/operating.md, "Dead letters".`,
        }
      : {
          id: `Queue-${name}`,
          metric: createQueueMetric(nameOf, name, "ApproximateAgeOfOldestMessage"),
          // A message that a worker was cut off with is this old when it is handed out again.
          threshold: visibilitySeconds + MINUTES_15,
          periods: 3,
          description: `${name} is not worked off: too few workers, or one that breaks. docs/operating.md, "Limits".`,
        };

const moneyAlarms: readonly AlarmSpec[] = [
  {
    id: "DueWork",
    metric: measures.dueAge,
    threshold: 300,
    periods: 5,
    description: "What crashes left is not repaired: look at the log of ScheduleReconcile.",
    silence: "rings",
  },
  {
    id: "MisplacedWork",
    metric: measures.dueMisplaced,
    threshold: 1,
    // Each of eight runs repairs one partition.
    periods: 15,
    description:
      "Due work stands later than it can have been put off to: a clock was wrong, and repairs do not mend it.",
    silence: "rings",
  },
  {
    id: "HeldCredits",
    metric: measures.heldLong,
    threshold: 1,
    periods: 5,
    description:
      "Credits have been held for over an hour: a job or a check does not come to its end.",
    silence: "rings",
  },
  {
    id: "Audit",
    metric: measures.auditViolations,
    threshold: 1,
    periods: 1,
    description:
      "A law of money is broken. Stop granting credits; the log of ScheduleAudit names account and law.",
    silence: "rings",
  },
];

const createApiAlarms = (nameOf: GetName): readonly AlarmSpec[] => [
  {
    id: "Api5xx",
    metric: measures.createApiMetric(nameOf, "5xx", "Sum"),
    threshold: 10,
    periods: 3,
    description: "Callers are answered 500 and 503. The alarms of the Lambdas tell which.",
  },
  {
    id: "ApiLatency",
    metric: measures.createApiMetric(nameOf, "Latency", "p99"),
    threshold: 28_000,
    periods: 5,
    description: "Callers wait until API Gateway gives up.",
  },
  {
    id: "TableThrottled",
    metric: measures.createThrottleMetric(nameOf),
    threshold: 100,
    periods: 3,
    description: 'DynamoDB refuses for lack of capacity. docs/operating.md, "Limits".',
  },
];

const createEgressAlarms = (nameOf: GetName): readonly AlarmSpec[] => [
  {
    id: "SmtpEgress",
    metric: measures.unreachedPercent,
    threshold: 50,
    periods: 3,
    description:
      "Most mail servers cannot be reached: port 25 is closed, or we are blocked. docs/egress.md.",
  },
  ...ZONES.map((zone) => ({
    id: `NatPorts${zone}`,
    metric: measures.createNatMetric(nameOf, zone, "ErrorPortAllocation"),
    threshold: 1,
    periods: 3,
    description:
      "A NAT gateway has no port left towards one server: fewer sessions at once, or more addresses.",
  })),
];

/** Everything that rings. */
export const createAlarms = (nameOf: GetName): readonly AlarmSpec[] => [
  ...createApiAlarms(nameOf),
  ...moneyAlarms,
  ...createEgressAlarms(nameOf),
  ...queues.map(createQueueAlarm(nameOf)),
  ...createLambdaAlarms(nameOf),
];

export const getMissingDataTreatment = ({ silence }: AlarmSpec): TreatMissingData =>
  silence === "rings" ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING;
