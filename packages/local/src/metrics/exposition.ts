// Prometheus' text format, version 0.0.4 (https://prometheus.io/docs/instrumenting/exposition_formats/).

export const CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

type Labels = Readonly<Record<string, string>>;
type Sample = { readonly suffix?: string; readonly labels?: Labels; readonly value: number };

/** Base units and `_total` in the name, as Prometheus' conventions have it; `promtool check metrics` holds us to them. */
export type Metric = {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge" | "histogram";
  readonly read: () => readonly Sample[] | Promise<readonly Sample[]>;
};

type Definition<L extends string> = {
  readonly name: string;
  readonly help: string;
  readonly labels: readonly L[];
};

/** Separates label values in a key; no value has it. */
const SEPARATOR = "\u0000";

const toLabels = (names: readonly string[], key: string): Labels => {
  const values = key.split(SEPARATOR);
  return Object.fromEntries(names.map((name, position) => [name, values[position] ?? ""]));
};

/** Counting is one look-up in a map. Each combination of label values is kept for good, so they are few by design. */
export const createCounter = <L extends string>({ labels, ...about }: Definition<L>) => {
  const counts = new Map<string, number>();
  const metric: Metric = {
    ...about,
    type: "counter",
    read: () => [...counts].map(([key, value]) => ({ labels: toLabels(labels, key), value })),
  };
  return {
    metric,
    add: (values: readonly string[], by = 1): void => {
      const key = values.join(SEPARATOR);
      counts.set(key, (counts.get(key) ?? 0) + by);
    },
  };
};

type Distribution = { readonly counts: number[]; sum: number };

/** `bounds`: the upper bounds of the buckets, ascending; the last bucket, without a bound, is added. */
export const createHistogram = <L extends string>({
  labels,
  bounds,
  ...about
}: Definition<L> & { readonly bounds: readonly number[] }) => {
  const all = new Map<string, Distribution>();
  const metric: Metric = {
    ...about,
    type: "histogram",
    read: () =>
      [...all].flatMap(([key, { counts, sum }]) => {
        const own = toLabels(labels, key);
        let total = 0;
        const buckets = counts.map((count, position) => {
          total += count;
          const le = bounds[position]?.toString() ?? "+Inf";
          return { suffix: "_bucket", labels: { ...own, le }, value: total };
        });
        return [
          ...buckets,
          { suffix: "_sum", labels: own, value: sum },
          { suffix: "_count", labels: own, value: total },
        ];
      }),
  };
  return {
    metric,
    observe: (values: readonly string[], value: number): void => {
      const key = values.join(SEPARATOR);
      const found = all.get(key) ?? { counts: [...bounds.map(() => 0), 0], sum: 0 };
      const position = bounds.findIndex((bound) => value <= bound);
      const bucket = position === -1 ? bounds.length : position;
      found.counts[bucket] = (found.counts[bucket] ?? 0) + 1;
      found.sum += value;
      all.set(key, found);
    },
  };
};

/** A metric that cannot be read is left out, so that damage to one store hides nothing else. */
export const formatMetrics = async (
  metrics: readonly Metric[],
  onFailure: (metric: string, cause: unknown) => void,
): Promise<string> => {
  const families = await Promise.all(
    metrics.map(async (metric) => {
      try {
        return formatFamily(metric, await metric.read());
      } catch (cause) {
        onFailure(metric.name, cause);
        return "";
      }
    }),
  );
  return families.join("");
};

const formatFamily = ({ name, help, type }: Metric, samples: readonly Sample[]): string =>
  [
    `# HELP ${name} ${help.replaceAll("\\", "\\\\").replaceAll("\n", "\\n")}`,
    `# TYPE ${name} ${type}`,
    ...samples.map(
      ({ suffix = "", labels = {}, value }) => `${name}${suffix}${formatLabels(labels)} ${value}`,
    ),
    "",
  ].join("\n");

const formatLabels = (labels: Labels): string => {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeValue(value)}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
};

const escapeValue = (value: string): string =>
  value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
