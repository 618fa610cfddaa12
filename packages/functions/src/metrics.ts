import { Metrics } from "@aws-lambda-powertools/metrics";
import type { CloudMetricName, CloudMetrics } from "@mailproof/core/background/metric-names";
import { NAMESPACE } from "./metric-namespace.ts";

// The Lambdas publish metrics under the names of core/background/metric-names.ts. This file imports only types from there, so
// no bundle contains its texts.

type NameOf<Type extends string> = {
  readonly [Name in CloudMetricName]: CloudMetrics[Name]["type"] extends Type ? Name : never;
}[CloudMetricName];

/** One of the listed values for each dimension. */
type DimensionsOf<Name extends CloudMetricName> = {
  readonly [Key in keyof CloudMetrics[Name]["dimensions"]]: CloudMetrics[Name]["dimensions"][Key] extends readonly (infer Value extends
    string)[]
    ? Value
    : string;
};

type FieldsOf<Name extends CloudMetricName> = {
  readonly [Field in CloudMetrics[Name]["fields"][number]]?: string;
};

type Labels = Readonly<Record<string, string>>;
type Fields = Readonly<Record<string, string | undefined>>;

/** One line of the log: the metrics that have these dimensions and fields. */
type Line = {
  readonly dimensions: Labels;
  readonly fields: Fields;
  readonly values: Map<CloudMetricName, number[]>;
};

/**
 * A worker runs for a quarter of an hour, and an alarm looks at five minutes, so nothing waits for longer than this. A
 * line for each session would cost more than the sessions.
 */
const PUBLISH_AFTER_MS = 60_000;

/** Powertools publishes a metric with a hundred values automatically, and forgets the dimensions of the other metrics. */
const VALUES_MAX = 99;

const toUnit = (name: CloudMetricName) => (name.endsWith("_seconds") ? "Seconds" : "Count");

const writeLine = ({ dimensions, fields, values }: Line): void => {
  const longest = Math.max(...[...values.values()].map((some) => some.length));
  for (let at = 0; at < longest; at += VALUES_MAX) {
    const metrics = new Metrics({ namespace: NAMESPACE });
    for (const [name, value] of Object.entries(dimensions)) metrics.addDimension(name, value);
    for (const [name, value] of Object.entries(fields))
      if (value !== undefined) metrics.addMetadata(name, value);
    for (const [name, all] of values)
      for (const value of all.slice(at, at + VALUES_MAX))
        metrics.addMetric(name, toUnit(name), value);
    metrics.publishStoredMetrics();
  }
};

/** Collects values, and publishes them at the end of an invocation or after a minute of it. */
export const createMetricLog = (now: () => number, write: (line: Line) => void = writeLine) => {
  let lines = new Map<string, Line>();
  let oldestAtMs = 0;

  const publish = (): void => {
    const ended = lines;
    lines = new Map();
    for (const line of ended.values()) write(line);
  };

  const getValues = (name: CloudMetricName, dimensions: Labels, fields: Fields): number[] => {
    if (lines.size > 0 && now() - oldestAtMs >= PUBLISH_AFTER_MS) publish();
    if (lines.size === 0) oldestAtMs = now();
    const key = JSON.stringify([dimensions, fields]);
    const line = lines.get(key) ?? { dimensions, fields, values: new Map() };
    lines.set(key, line);
    const values = line.values.get(name) ?? [];
    line.values.set(name, values);
    return values;
  };

  return {
    publish,
    count: <Name extends NameOf<"counter">>(
      name: Name,
      dimensions: DimensionsOf<Name>,
      fields: FieldsOf<Name> = {},
      by = 1,
    ): void => {
      const values = getValues(name, dimensions, fields);
      values[0] = (values[0] ?? 0) + by;
    },
    observe: <Name extends NameOf<"histogram">>(
      name: Name,
      dimensions: DimensionsOf<Name>,
      fields: FieldsOf<Name>,
      value: number,
    ): void => {
      getValues(name, dimensions, fields).push(value);
    },
    set: (name: NameOf<"gauge">, value: number): void => {
      getValues(name, {}, {})[0] = value;
    },
  };
};

/** The metrics of this process. */
export const metrics = createMetricLog(Date.now);

const starts = new Metrics({ namespace: NAMESPACE });

/** One metric for all Lambdas, since CloudWatch bills each further name. The log line names the Lambda. */
export const countColdStart = (): void => starts.captureColdStartMetric();
