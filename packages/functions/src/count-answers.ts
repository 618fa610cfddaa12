import { Metrics, MetricUnit } from "@aws-lambda-powertools/metrics";

const metrics = new Metrics({ namespace: "Mailproof", serviceName: "api" });

/** One count per response, by route and class of status, for alarms and the dashboard. */
export const countAnswer = (route: string, status: number): void => {
  metrics.addDimension("route", route);
  metrics.addMetric(`answers_${Math.floor(status / 100)}xx`, MetricUnit.Count, 1);
  metrics.publishStoredMetrics();
};
