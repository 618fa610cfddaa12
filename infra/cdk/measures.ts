import { Duration } from "aws-cdk-lib";
import { MathExpression, Metric } from "aws-cdk-lib/aws-cloudwatch";
import { METRICS, table } from "../topology.ts";

/** The name that AWS gave to a part of this stage, read when the stack is deployed. */
export type NameOf = (key: string) => string;

const MINUTE = Duration.minutes(1);

type Dimensions = Readonly<Record<string, string>>;

const metric =
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

export const lambdaSum = (nameOf: NameOf, lambda: string, what: string) =>
  metric("AWS/Lambda", "Sum")(what, { FunctionName: nameOf(`lambda/${lambda}`) }, lambda);

/** All of them together. One that is silent counts as 0: a sum with a gap in it would have no value at all. */
const sumOf = (label: string, usingMetrics: Readonly<Record<string, Metric>>) =>
  new MathExpression({
    expression: Object.keys(usingMetrics)
      .map((name) => `FILL(${name}, 0)`)
      .join(" + "),
    usingMetrics,
    period: MINUTE,
    label,
  });

/** A Lambda that was refused a place has done nothing, either. */
export const failuresOf = (nameOf: NameOf, lambda: string) =>
  sumOf(lambda, {
    errors: lambdaSum(nameOf, lambda, "Errors"),
    throttles: lambdaSum(nameOf, lambda, "Throttles"),
  });

export const inQueue = (nameOf: NameOf, queue: string, what: string) =>
  metric("AWS/SQS", "Maximum")(what, { QueueName: nameOf(`queue/${queue}`) });

/** What lies in a queue of dead letters, also while somebody tries it again. */
export const lyingIn = (nameOf: NameOf, queue: string) =>
  sumOf(queue, {
    visible: inQueue(nameOf, queue, "ApproximateNumberOfMessagesVisible"),
    hidden: inQueue(nameOf, queue, "ApproximateNumberOfMessagesNotVisible"),
  });

export const ofApi = (nameOf: NameOf, what: string, statistic: string) =>
  metric("AWS/ApiGateway", statistic)(what, { ApiId: nameOf("api") }, `${what} ${statistic}`);

export const ofTable = (nameOf: NameOf, what: string, index: Dimensions = {}) =>
  metric("AWS/DynamoDB", "Sum")(what, { TableName: nameOf("table"), ...index });

/**
 * What DynamoDB refused, of the table and of each of its indexes: it counts them apart. Its ThrottledRequests knows
 * no table, only an operation on one.
 */
export const throttledOf = (nameOf: NameOf) => {
  const places = [
    {},
    ...Object.keys(table.indexes).map((name) => ({ GlobalSecondaryIndexName: name })),
  ];
  const metrics = ["ReadThrottleEvents", "WriteThrottleEvents"].flatMap((what) =>
    places.map((place) => ofTable(nameOf, what, place)),
  );
  const named = metrics.map((one, at) => [`m${at}`, one]);
  return sumOf("Refused", Object.fromEntries(named));
};

export const ofNat = (nameOf: NameOf, zone: number, what: string) =>
  metric("AWS/NATGateway", "Sum")(what, { NatGatewayId: nameOf(`nat/${zone}`) });

const own = (statistic: string, period = MINUTE) => metric(METRICS.namespace, statistic, period);

const DAY = Duration.days(1);
export const dueAge = own("Maximum")(METRICS.dueAgeSeconds);
export const dueMisplaced = own("Maximum")(METRICS.dueMisplaced);
export const heldLong = own("Maximum")(METRICS.heldLong);
export const auditViolations = own("Maximum", DAY)(METRICS.auditViolations);

const FIVE_MINUTES = Duration.minutes(5);
const sessions = own("Sum", FIVE_MINUTES)(METRICS.sessions);
const unreached = own("Sum", FIVE_MINUTES)(METRICS.unreached);

/** Of few sessions nothing can be said: some servers are always away. */
const SESSIONS_TO_TELL = 20;

export const unreachedPercent = new MathExpression({
  expression: `IF(sessions >= ${SESSIONS_TO_TELL}, 100 * unreached / sessions, 0)`,
  usingMetrics: { sessions, unreached },
  period: FIVE_MINUTES,
  label: "% of sessions that reached nobody",
});

export const smtp = { sessions, unreached };
