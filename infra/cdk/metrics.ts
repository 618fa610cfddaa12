import { type CloudMetricName, METRICS_ON_AWS } from "@mailproof/core/background/metric-names";
import { NAMESPACE, SERVICE_DIMENSION } from "@mailproof/functions/metric-namespace";
import { Duration } from "aws-cdk-lib";
import { MathExpression, Metric } from "aws-cdk-lib/aws-cloudwatch";
import type { Size } from "../settings.ts";
import { table } from "../topology.ts";

/** The monitored stage. */
export type Monitored = {
  /** The name that AWS generated for a resource of this stage, read when the stack is deployed. */
  readonly nameOf: (key: string) => string;
  /** App and stage, the dimension of the figures that our Lambdas publish. */
  readonly service: string;
  readonly size: Size;
  /** The zones with a NAT gateway of the stage. */
  readonly gateways: readonly number[];
  /** The number of Lambdas that the account may run at once. */
  readonly quota: number;
};

const MINUTE = Duration.minutes(1);
const FIVE_MINUTES = Duration.minutes(5);
const QUARTER_HOUR = Duration.minutes(15);
const HOUR = Duration.hours(1);

type Dimensions = Readonly<Record<string, string>>;
type Metrics = Readonly<Record<string, Metric>>;

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

export const createLambdaMetric = (
  { nameOf }: Monitored,
  lambda: string,
  what: string,
  statistic = "Sum",
  period = MINUTE,
) =>
  createMetricFactory("AWS/Lambda", statistic, period)(
    what,
    { FunctionName: nameOf(`lambda/${lambda}`) },
    lambda,
  );

/** Failures that AWS does not count: 5xx responses and messages to deliver again. Without such failures the metric has no data. */
export const createOwnFailureMetric = (
  { nameOf, service }: Monitored,
  lambda: string,
  period = MINUTE,
) =>
  createMetricFactory(NAMESPACE, "Sum", period)(
    "mailproof_lambda_failures_total",
    { [SERVICE_DIMENSION]: service, function_name: nameOf(`lambda/${lambda}`) },
    lambda,
  );

/** The sum of all metrics. A metric without data counts as 0; otherwise the sum would have no value. */
const createSumMetric = (label: string, usingMetrics: Metrics, period = MINUTE) =>
  new MathExpression({
    expression: Object.keys(usingMetrics)
      .map((name) => `FILL(${name}, 0)`)
      .join(" + "),
    usingMetrics,
    period,
    label,
  });

/** The failures of a worker's Lambda and of single messages. */
export const createWorkerFailureMetric = (
  stage: Monitored,
  lambda: string,
  period: "five minutes" | "a quarter of an hour",
) => {
  const time = period === "five minutes" ? FIVE_MINUTES : QUARTER_HOUR;
  return createSumMetric(
    lambda,
    {
      errors: createLambdaMetric(stage, lambda, "Errors", "Sum", time),
      failures: createOwnFailureMetric(stage, lambda, time),
    },
    time,
  );
};

export const createErrorMetric = (stage: Monitored, lambda: string) =>
  createLambdaMetric(stage, lambda, "Errors", "Sum", FIVE_MINUTES);

/** With fewer calls than this, one failure would distort the share. */
export const CALLS_MIN = 10;

/**
 * The percentage of a Lambda's calls that failed in a quarter of an hour. AWS counts as many errors as calls, so where
 * there are calls there is an error count; our own failures are absent while there are none.
 */
export const createFailureShare = (stage: Monitored, lambda: string, answers: boolean) => {
  const failed = answers ? "(errors + FILL(failures, 0))" : "errors";
  return new MathExpression({
    expression: `IF(calls >= ${CALLS_MIN}, 100 * ${failed} / calls, 0)`,
    usingMetrics: {
      calls: createLambdaMetric(stage, lambda, "Invocations", "Sum", QUARTER_HOUR),
      errors: createLambdaMetric(stage, lambda, "Errors", "Sum", QUARTER_HOUR),
      ...(answers && { failures: createOwnFailureMetric(stage, lambda, QUARTER_HOUR) }),
    },
    period: QUARTER_HOUR,
    label: lambda,
  });
};

export const createLongestRunMetric = (stage: Monitored, lambda: string) =>
  createLambdaMetric(stage, lambda, "Duration", "Maximum", QUARTER_HOUR);

/** The concurrency that Lambdas of the account use or reserve; the rest is left for others. */
export const claimedConcurrency = createMetricFactory(
  "AWS/Lambda",
  "Maximum",
  FIVE_MINUTES,
)("ClaimedAccountConcurrency");

export const createQueueMetric = ({ nameOf }: Monitored, queue: string, what: string) =>
  createMetricFactory("AWS/SQS", "Maximum")(what, { QueueName: nameOf(`queue/${queue}`) });

/** The messages in a dead-letter queue, including messages that are being retried. */
export const createDeadLetterMetric = (stage: Monitored, queue: string) =>
  createSumMetric(queue, {
    visible: createQueueMetric(stage, queue, "ApproximateNumberOfMessagesVisible"),
    hidden: createQueueMetric(stage, queue, "ApproximateNumberOfMessagesNotVisible"),
  });

export const createApiMetric = (
  { nameOf }: Monitored,
  what: string,
  statistic: string,
  period = MINUTE,
) =>
  createMetricFactory("AWS/ApiGateway", statistic, period)(
    what,
    { ApiId: nameOf("api") },
    `${what} ${statistic}`,
  );

/** The percentage of all requests whose response is 500 or 503. */
export const createApiFailureShare = (stage: Monitored) =>
  new MathExpression({
    expression: `IF(calls >= ${CALLS_MIN}, 100 * FILL(failed, 0) / calls, 0)`,
    usingMetrics: {
      calls: createApiMetric(stage, "Count", "Sum", FIVE_MINUTES),
      failed: createApiMetric(stage, "5xx", "Sum", FIVE_MINUTES),
    },
    period: FIVE_MINUTES,
    label: "% 5xx",
  });

/** The slowest request of a quarter of an hour (ms). */
export const createApiLatency = (stage: Monitored) =>
  createApiMetric(stage, "Latency", "p99", QUARTER_HOUR);

export const createTableMetric = (
  { nameOf }: Monitored,
  what: string,
  dimensions: Dimensions = {},
  statistic = "Sum",
  period = MINUTE,
) =>
  createMetricFactory(
    "AWS/DynamoDB",
    statistic,
    period,
  )(what, {
    TableName: nameOf("table"),
    ...dimensions,
  });

const number = (metrics: readonly Metric[]): Metrics =>
  Object.fromEntries(metrics.map((one, at) => [`m${at}`, one]));

/**
 * Throttled requests of the table and of each index, which DynamoDB counts separately. Its metric ThrottledRequests has
 * no dimension for the table itself, only for an operation on it.
 */
export const createThrottleMetric = (stage: Monitored) => {
  const dimensionSets = [
    {},
    ...Object.keys(table.indexes).map((name) => ({ GlobalSecondaryIndexName: name })),
  ];
  const metrics = ["ReadThrottleEvents", "WriteThrottleEvents"].flatMap((what) =>
    dimensionSets.map((dimensions) => createTableMetric(stage, what, dimensions)),
  );
  return createSumMetric("Refused", number(metrics));
};

/** The operations of aws/dynamo-table.ts: DynamoDB counts its own errors by operation only. */
const OPERATIONS = [
  "DeleteItem",
  "GetItem",
  "PutItem",
  "Query",
  "TransactWriteItems",
  "UpdateItem",
] as const;

/** The responses of DynamoDB with status 500. */
export const createTableErrorMetric = (stage: Monitored) =>
  createSumMetric(
    "Errors of DynamoDB",
    number(
      OPERATIONS.map((Operation) =>
        createTableMetric(stage, "SystemErrors", { Operation }, "Sum", FIVE_MINUTES),
      ),
    ),
    FIVE_MINUTES,
  );

const TRANSACTIONS_MIN = 100;

/** The percentage of transactions that another transaction on the same item refused. */
export const createConflictShare = (stage: Monitored) => {
  const all = "(FILL(done, 0) + FILL(conflicts, 0))";
  const done = { Operation: "TransactWriteItems" };
  return new MathExpression({
    expression: `IF(${all} >= ${TRANSACTIONS_MIN}, 100 * FILL(conflicts, 0) / ${all}, 0)`,
    usingMetrics: {
      // DynamoDB does not count successful requests, but the samples of their latency are as many.
      done: createTableMetric(stage, "SuccessfulRequestLatency", done, "SampleCount", FIVE_MINUTES),
      conflicts: createTableMetric(stage, "TransactionConflict", {}, "Sum", FIVE_MINUTES),
    },
    period: FIVE_MINUTES,
    label: "% of transactions in conflict",
  });
};

export const createNatMetric = ({ nameOf }: Monitored, zone: number, what: string) =>
  createMetricFactory("AWS/NATGateway", "Sum")(what, { NatGatewayId: nameOf(`nat/${zone}`) });

/** A metric that our Lambdas publish. `dimensions`: all its dimensions. */
export const createOwnMetric = (
  { service }: Monitored,
  name: CloudMetricName,
  statistic = "Maximum",
  period = MINUTE,
  dimensions: Dimensions = {},
) =>
  createMetricFactory(NAMESPACE, statistic, period)(
    name,
    { [SERVICE_DIMENSION]: service, ...dimensions },
    Object.values(dimensions).join(" ") || undefined,
  );

/** One metric for each combination of the values of its dimensions. */
export const createOwnMetrics = (stage: Monitored, name: CloudMetricName, statistic: string) =>
  listDimensions(name).map((dimensions) =>
    createOwnMetric(stage, name, statistic, FIVE_MINUTES, dimensions),
  );

/** The metrics that CloudWatch bills for a name: one for each combination of dimension values. */
export const listDimensions = (name: CloudMetricName): readonly Dimensions[] => {
  const { dimensions }: { dimensions: Readonly<Record<string, readonly string[] | string>> } =
    METRICS_ON_AWS[name];
  return Object.entries(dimensions).reduce<readonly Dimensions[]>(
    (all, [dimension, values]) =>
      typeof values === "string"
        ? []
        : all.flatMap((some) => values.map((value) => ({ ...some, [dimension]: value }))),
    [{}],
  );
};

export const createAuditMetric = (stage: Monitored, statistic: "Maximum" | "SampleCount") =>
  createOwnMetric(stage, "mailproof_audit_violations", statistic, HOUR);

export const createColdStartMetric = (stage: Monitored) =>
  createOwnMetric(stage, "ColdStart", "Sum", FIVE_MINUTES);

export const createWaitMetric = (stage: Monitored, percentile: "p50" | "p99") =>
  createOwnMetric(stage, "mailproof_slot_wait_seconds", percentile, FIVE_MINUTES).with({
    label: percentile,
  });

const createSessionMetric = (stage: Monitored, outcome: "connected" | "unreached") =>
  createOwnMetric(stage, "mailproof_smtp_sessions_total", "Sum", FIVE_MINUTES, { outcome });

/** Fewer sessions are no sample, since some servers are always down. */
const SESSIONS_MIN = 20;

/** The percentage of sessions that reached no server. Without sessions neither count has data. */
export const createUnreachedShare = (stage: Monitored) => {
  const all = "(FILL(connected, 0) + FILL(unreached, 0))";
  return new MathExpression({
    expression: `IF(${all} >= ${SESSIONS_MIN}, 100 * FILL(unreached, 0) / ${all}, 0)`,
    usingMetrics: {
      connected: createSessionMetric(stage, "connected"),
      unreached: createSessionMetric(stage, "unreached"),
    },
    period: FIVE_MINUTES,
    label: "% of sessions that reached no server",
  });
};
