import type { Alarm, Query } from "./cloudwatch.ts";

// Each alarm, broken in each way in which one is broken by mistake.

export type Mutant = { readonly fault: string; readonly alarm: Alarm };

const STRICTER: Readonly<Record<string, string>> = {
  GreaterThanOrEqualToThreshold: "GreaterThanThreshold",
  LessThanThreshold: "LessThanOrEqualToThreshold",
};

const OTHER_STATISTICS: Readonly<Record<string, readonly string[]>> = {
  Sum: ["Average", "Maximum"],
  Maximum: ["Average", "Sum"],
  SampleCount: ["Sum"],
  p99: ["Average", "Maximum"],
};

const isOfDynamo = ({ queries }: Alarm): boolean =>
  queries.some((one) => "metric" in one && one.metric.startsWith("AWS/DynamoDB"));

/** Whether every metric of it counts as 0 where it is absent: then its value is never missing. */
const isNeverMissing = ({ queries }: Alarm): boolean =>
  queries.every(
    (one) => "metric" in one || !/[a-z]/.test(one.expression.replaceAll(/FILL\(\w+, 0\)/g, "")),
  ) && queries.some((one) => "expression" in one);

/** One is reached by a sum of counts where it is reached by the greatest of them. Our failures are never 0. */
const listOtherStatistics = (metric: string, statistic: string, { threshold, queries }: Alarm) => {
  const all = OTHER_STATISTICS[statistic] ?? [];
  if (threshold !== 1 || statistic === "SampleCount") return all;
  if (queries.some((one) => "expression" in one && one.expression.includes("IF("))) return all;
  return metric.startsWith("Mailproof mailproof_lambda_failures_total")
    ? []
    : all.filter((one) => one === "Average");
};

/** Whether one sample is enough to ring: then it rings with periods of any length. */
const isOnePointEnough = ({ evaluationPeriods, threshold, queries }: Alarm): boolean =>
  evaluationPeriods === 1 &&
  (threshold === 1 ||
    queries.every((one) => !("metric" in one) || /^(?:Maximum|p99)$/.test(one.statistic)));

const changeQuery = (alarm: Alarm, at: number, change: (query: Query) => Query): Alarm => ({
  ...alarm,
  queries: alarm.queries.map((query, index) => (index === at ? change(query) : query)),
});

const breakQuery = (alarm: Alarm, query: Query, at: number): readonly Mutant[] => {
  if ("metric" in query)
    return [
      {
        fault: `${query.id} is a metric that is not published`,
        alarm: changeQuery(alarm, at, (one) => ({ ...one, metric: `${query.metric}s` })),
      },
      ...listOtherStatistics(query.metric, query.statistic, alarm).map((statistic) => ({
        fault: `${query.id} is a ${statistic}`,
        alarm: changeQuery(alarm, at, (one) => ({ ...one, statistic })),
      })),
    ];
  // The least number of calls, sessions or transactions.
  return [...query.expression.matchAll(/>= (\d+)/g)].flatMap(([found, least]) =>
    [-1, 1].map((by) => ({
      fault: `the least number is ${Number(least) + by}`,
      alarm: changeQuery(alarm, at, () => ({
        id: query.id,
        expression: query.expression.replace(found, `>= ${Number(least) + by}`),
      })),
    })),
  );
};

const breakTimes = (alarm: Alarm): readonly Mutant[] => {
  const { evaluationPeriods, periodSeconds } = alarm;
  const more = evaluationPeriods + 1;
  const fewer = evaluationPeriods - 1;
  return [
    {
      fault: "one period more",
      alarm: { ...alarm, evaluationPeriods: more, datapointsToAlarm: more },
    },
    ...(fewer > 0
      ? [
          {
            fault: "one period less",
            alarm: { ...alarm, evaluationPeriods: fewer, datapointsToAlarm: fewer },
          },
        ]
      : []),
    ...(isOnePointEnough(alarm)
      ? []
      : [
          { fault: "twice the period", alarm: { ...alarm, periodSeconds: 2 * periodSeconds } },
          ...(periodSeconds > 60
            ? [
                {
                  fault: "a third of the period",
                  alarm: { ...alarm, periodSeconds: periodSeconds / 3 },
                },
              ]
            : []),
        ]),
  ];
};

const TREATMENTS = ["breaching", "notBreaching", "ignore"] as const;

/** What DynamoDB's alarms say of missing data has no effect. */
const breakSilence = (alarm: Alarm): readonly Mutant[] =>
  isOfDynamo(alarm) || isNeverMissing(alarm)
    ? []
    : TREATMENTS.filter((one) => one !== alarm.missing).map((missing) => ({
        fault: `missing data is ${missing}`,
        alarm: { ...alarm, missing },
      }));

export const listMutants = (alarm: Alarm): readonly Mutant[] => {
  const { threshold, comparison } = alarm;
  const isAbove = comparison.startsWith("Greater");
  return [
    { fault: "a higher threshold", alarm: { ...alarm, threshold: threshold + 1 } },
    // Below a count there is nothing: it is absent then, and not 0.
    ...(isAbove
      ? [{ fault: "a lower threshold", alarm: { ...alarm, threshold: threshold - 1 } }]
      : []),
    {
      fault: "a stricter comparison",
      alarm: { ...alarm, comparison: STRICTER[comparison] ?? "" },
    },
    ...breakTimes(alarm),
    ...breakSilence(alarm),
    ...alarm.queries.flatMap((query, at) => breakQuery(alarm, query, at)),
  ];
};
