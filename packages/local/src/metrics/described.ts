import {
  type MachineMetricName,
  METRICS_ON_MACHINE,
  type MetricType,
} from "@mailproof/core/background/metric-names";
import type { Metric } from "./exposition.ts";

type Described = Pick<Metric, "name" | "help" | "type"> & { readonly labels: readonly string[] };

/** A metric as the list of all metrics has it. */
export const describeMetric = (name: MachineMetricName): Described => {
  const { help, type, labels }: Omit<Described, "name"> & { readonly type: MetricType } =
    METRICS_ON_MACHINE[name];
  return { name, help, type, labels };
};

/** Read at each scrape. */
export const createReading = (name: MachineMetricName, read: Metric["read"]): Metric => {
  const { help, type } = describeMetric(name);
  return { name, help, type, read };
};
