import {
  type MachineMetricName,
  METRICS_ON_MACHINE,
} from "@mailproof/core/background/metric-names";
import { Counter, Gauge, type Registry } from "prom-client";

/** Describes a metric by the list of all metrics. The registry never drops a combination of label values, so they are few by design. */
export const describeMetric = <N extends MachineMetricName>(registry: Registry, name: N) => {
  const { help, labels }: { readonly help: string; readonly labels: readonly LabelOf<N>[] } =
    METRICS_ON_MACHINE[name];
  return { name, help, labelNames: labels, registers: [registry] };
};

type LabelOf<N extends MachineMetricName> = (typeof METRICS_ON_MACHINE)[N]["labels"][number];
type Sample<N extends MachineMetricName> = {
  readonly labels?: Readonly<Record<LabelOf<N>, string>>;
  readonly value: number;
};

export const addReading = <N extends MachineMetricName>(
  registry: Registry,
  name: N,
  read: () => readonly Sample<N>[] | Promise<readonly Sample<N>[]>,
): void => {
  const Kind = METRICS_ON_MACHINE[name].type === "counter" ? Counter : Gauge;
  const metric: Counter<LabelOf<N>> | Gauge<LabelOf<N>> = new Kind({
    ...describeMetric(registry, name),
    collect: async () => {
      const samples = await read();
      metric.reset();
      for (const { labels = {}, value } of samples) metric.inc(labels, value);
    },
  });
};

/** Omits a metric that cannot be read, so that damage to one store hides nothing else. */
export const formatMetrics = async (
  registry: Registry,
  onFailure: (metric: string, cause: unknown) => void,
): Promise<string> => {
  const families = registry.getMetricsAsArray().map(async ({ name }) => {
    try {
      return `${await registry.getSingleMetricAsString(name)}\n`;
    } catch (cause) {
      onFailure(name, cause);
      return "";
    }
  });
  return (await Promise.all(families)).join("");
};
