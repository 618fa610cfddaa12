import { Duration } from "aws-cdk-lib";
import { MathExpression, Metric } from "aws-cdk-lib/aws-cloudwatch";
import { METRICS } from "../topology.ts";

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

/** A Lambda that was refused a place has done nothing, either. */
export const failuresOf = (nameOf: NameOf, lambda: string) =>
  new MathExpression({
    expression: "errors + throttles",
    usingMetrics: {
      errors: lambdaSum(nameOf, lambda, "Errors"),
      throttles: lambdaSum(nameOf, lambda, "Throttles"),
    },
    period: MINUTE,
    label: lambda,
  });

export const inQueue = (nameOf: NameOf, queue: string, what: string) =>
  metric("AWS/SQS", "Maximum")(what, { QueueName: nameOf(`queue/${queue}`) });

export const ofApi = (nameOf: NameOf, what: string, statistic: string) =>
  metric("AWS/ApiGateway", statistic)(what, { ApiId: nameOf("api") }, `${what} ${statistic}`);

export const ofTable = (nameOf: NameOf, what: string, statistic = "Sum") =>
  metric("AWS/DynamoDB", statistic)(what, { TableName: nameOf("table") });

export const ofNat = (nameOf: NameOf, zone: number, what: string) =>
  metric("AWS/NATGateway", "Sum")(what, { NatGatewayId: nameOf(`nat/${zone}`) });

const own = (statistic: string, period = MINUTE) => metric(METRICS.namespace, statistic, period);

const DAY = Duration.days(1);
export const dueAge = own("Maximum")(METRICS.dueAgeSeconds);
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
