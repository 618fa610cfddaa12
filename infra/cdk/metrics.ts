import { Duration } from "aws-cdk-lib";
import { MathExpression, Metric } from "aws-cdk-lib/aws-cloudwatch";
import { METRICS, table } from "../topology.ts";

/** The name that AWS generated for a resource of this stage, read when the stack is deployed. */
export type GetName = (key: string) => string;

const MINUTE = Duration.minutes(1);

type Dimensions = Readonly<Record<string, string>>;

const createMetricFactory =
  (namespace: string, statistic: string, period = MINUTE) =>
  (metricName: string, dimensionsMap: Dimensions = {}, label?: string) =>
    new Metric({
      namespace,
      metricName,
      dimensionsMap,
      statistic,
      period,
      ...(label && { label }),
    });

export const createLambdaMetric = (nameOf: GetName, lambda: string, what: string) =>
  createMetricFactory("AWS/Lambda", "Sum")(
    what,
    { FunctionName: nameOf(`lambda/${lambda}`) },
    lambda,
  );

/** The sum of all metrics. A metric without data counts as 0; otherwise the sum would have no value. */
const createSumMetric = (label: string, usingMetrics: Readonly<Record<string, Metric>>) =>
  new MathExpression({
    expression: Object.keys(usingMetrics)
      .map((name) => `FILL(${name}, 0)`)
      .join(" + "),
    usingMetrics,
    period: MINUTE,
    label,
  });

/** A throttled Lambda has done nothing, either. */
export const createFailureMetric = (nameOf: GetName, lambda: string) =>
  createSumMetric(lambda, {
    errors: createLambdaMetric(nameOf, lambda, "Errors"),
    throttles: createLambdaMetric(nameOf, lambda, "Throttles"),
  });

export const createQueueMetric = (nameOf: GetName, queue: string, what: string) =>
  createMetricFactory("AWS/SQS", "Maximum")(what, { QueueName: nameOf(`queue/${queue}`) });

/** Messages in a dead-letter queue, also while they are retried. */
export const createDeadLetterMetric = (nameOf: GetName, queue: string) =>
  createSumMetric(queue, {
    visible: createQueueMetric(nameOf, queue, "ApproximateNumberOfMessagesVisible"),
    hidden: createQueueMetric(nameOf, queue, "ApproximateNumberOfMessagesNotVisible"),
  });

export const createApiMetric = (nameOf: GetName, what: string, statistic: string) =>
  createMetricFactory("AWS/ApiGateway", statistic)(
    what,
    { ApiId: nameOf("api") },
    `${what} ${statistic}`,
  );

export const createTableMetric = (nameOf: GetName, what: string, index: Dimensions = {}) =>
  createMetricFactory("AWS/DynamoDB", "Sum")(what, { TableName: nameOf("table"), ...index });

/**
 * Throttled requests of the table and of each index, which DynamoDB counts separately. Its metric ThrottledRequests has
 * no dimension for the table alone, only for an operation on it.
 */
export const createThrottleMetric = (nameOf: GetName) => {
  const dimensionSets = [
    {},
    ...Object.keys(table.indexes).map((name) => ({ GlobalSecondaryIndexName: name })),
  ];
  const metrics = ["ReadThrottleEvents", "WriteThrottleEvents"].flatMap((what) =>
    dimensionSets.map((dimensions) => createTableMetric(nameOf, what, dimensions)),
  );
  const named = metrics.map((one, at) => [`m${at}`, one]);
  return createSumMetric("Refused", Object.fromEntries(named));
};

export const createNatMetric = (nameOf: GetName, zone: number, what: string) =>
  createMetricFactory("AWS/NATGateway", "Sum")(what, { NatGatewayId: nameOf(`nat/${zone}`) });

const createOwnMetric = (statistic: string, period = MINUTE) =>
  createMetricFactory(METRICS.namespace, statistic, period);

const DAY = Duration.days(1);
export const dueAge = createOwnMetric("Maximum")(METRICS.dueAgeSeconds);
export const dueMisplaced = createOwnMetric("Maximum")(METRICS.dueMisplaced);
export const heldLong = createOwnMetric("Maximum")(METRICS.heldLong);
export const providersInDoubt = createOwnMetric("Maximum")(METRICS.providersInDoubt);
export const mailProvidersBlocked = createOwnMetric("Maximum")(METRICS.mailProvidersBlocked);
export const auditViolations = createOwnMetric("Maximum", DAY)(METRICS.auditViolations);

const FIVE_MINUTES = Duration.minutes(5);
const sessions = createOwnMetric("Sum", FIVE_MINUTES)(METRICS.sessions);
const unreached = createOwnMetric("Sum", FIVE_MINUTES)(METRICS.unreached);

/** A few sessions are no sample: some servers are always down. */
const SESSIONS_MIN = 20;

export const unreachedPercent = new MathExpression({
  expression: `IF(sessions >= ${SESSIONS_MIN}, 100 * unreached / sessions, 0)`,
  usingMetrics: { sessions, unreached },
  period: FIVE_MINUTES,
  label: "% of sessions that reached no server",
});

export const smtp = { sessions, unreached };
