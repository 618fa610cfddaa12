import { Metrics } from "@aws-lambda-powertools/metrics";
import { DIMENSIONS, FAILURES, METRIC_UNITS, type MetricName, NAMESPACE } from "./metric-names.ts";

/** Its one dimension is the service, POWERTOOLS_SERVICE_NAME: it keeps two stages of an account apart. */
const metrics = new Metrics({ namespace: NAMESPACE });

/** The chain publishes it when the invocation ends. */
export const putMetric = (name: MetricName, value: number): void => {
  metrics.addMetric(name, METRIC_UNITS[name], value);
};

/** Powertools warns about an invocation that measured nothing, which most do not. */
export const publishMetrics = (): void => {
  if (metrics.hasStoredMetrics()) metrics.publishStoredMetrics();
};

/** Without the Lambda's name: fifty metrics would cost more than what they tell. The log has the name. */
export const countColdStart = (): void => metrics.captureColdStartMetric();

export const countFailure = (functionName: string): void => {
  metrics
    .singleMetric()
    .addDimension(DIMENSIONS.lambda, functionName)
    .addMetric(FAILURES, "Count", 1);
};
