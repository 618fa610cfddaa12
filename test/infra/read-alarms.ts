import type { Template } from "aws-cdk-lib/assertions";
import type { Alarm, Query } from "./cloudwatch.ts";

// The alarms of a CloudFormation template, as cloudwatch.ts plays them.

type MetricJson = {
  readonly Namespace: string;
  readonly MetricName: string;
  readonly Dimensions?: readonly { readonly Name: string; readonly Value: unknown }[];
};
type QueryJson = {
  readonly Id: string;
  readonly ReturnData?: boolean;
  readonly Expression?: string;
  readonly Period?: number;
  readonly MetricStat?: {
    readonly Metric: MetricJson;
    readonly Stat: string;
    readonly Period: number;
  };
};
type AlarmJson = Partial<MetricJson> & {
  readonly AlarmName: string;
  readonly Metrics?: readonly QueryJson[];
  readonly Statistic?: string;
  readonly ExtendedStatistic?: string;
  readonly Period?: number;
  readonly EvaluationPeriods: number;
  readonly DatapointsToAlarm?: number;
  readonly Threshold: number;
  readonly ComparisonOperator: string;
  readonly TreatMissingData?: string;
};

/** A name that AWS generated is read from SSM: here it stands as the parameter's own, without app and stage. */
const createMetricNamer = (template: Template) => {
  const parameters = template.toJSON()["Parameters"] as Readonly<
    Record<string, { readonly Default: string }>
  >;
  const toName = (value: unknown): string => {
    if (typeof value === "string") return value;
    const { Ref: parameter = "" } = value as { readonly Ref?: string };
    return (parameters[parameter]?.Default ?? "").replace(/^\/[^/]+\/[^/]+\//, "");
  };
  return ({ Namespace, MetricName, Dimensions = [] }: MetricJson): string =>
    [
      Namespace,
      MetricName,
      ...Dimensions.map(({ Name, Value }) => `${Name}=${toName(Value)}`).toSorted(),
    ].join(" ");
};

export const readAlarms = (template: Template): readonly Alarm[] => {
  const nameMetric = createMetricNamer(template);
  const toQuery = ({ Id, Expression, MetricStat }: QueryJson): Query => {
    if (Expression !== undefined) return { id: Id, expression: Expression };
    if (!MetricStat) throw new Error(`${Id} is neither an expression nor a metric`);
    return { id: Id, metric: nameMetric(MetricStat.Metric), statistic: MetricStat.Stat };
  };
  const found = template.findResources("AWS::CloudWatch::Alarm") as Record<
    string,
    { readonly Properties: AlarmJson }
  >;
  return Object.values(found).map(({ Properties: json }) => {
    const { Metrics, Namespace, MetricName, Dimensions } = json;
    const single = {
      id: "single",
      metric: nameMetric({
        Namespace: Namespace ?? "",
        MetricName: MetricName ?? "",
        ...(Dimensions && { Dimensions }),
      }),
      statistic: json.Statistic ?? json.ExtendedStatistic ?? "",
    };
    const periods = Metrics?.flatMap(({ MetricStat }) => MetricStat?.Period ?? []) ?? [json.Period];
    if (new Set(periods).size !== 1) throw new Error(`${json.AlarmName} mixes periods`);
    return {
      name: json.AlarmName,
      queries: Metrics?.map(toQuery) ?? [single],
      returned: Metrics ? (Metrics.find((one) => one.ReturnData !== false)?.Id ?? "") : "single",
      periodSeconds: periods[0] ?? 0,
      evaluationPeriods: json.EvaluationPeriods,
      datapointsToAlarm: json.DatapointsToAlarm ?? json.EvaluationPeriods,
      threshold: json.Threshold,
      comparison: json.ComparisonOperator,
      missing: json.TreatMissingData ?? "missing",
    };
  });
};
