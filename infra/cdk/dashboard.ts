import type { CloudMetricName } from "@mailproof/core/background/metric-names";
import { Duration } from "aws-cdk-lib";
import {
  type Alarm,
  AlarmStatusWidget,
  Dashboard,
  GraphWidget,
  type IMetric,
  type IWidget,
  SingleValueWidget,
  TextWidget,
} from "aws-cdk-lib/aws-cloudwatch";
import type { Construct } from "constructs";
import { lambdas, prober, queues, routes, workerSpecs } from "../topology.ts";
import * as measures from "./metrics.ts";
import { createLambdaMetric, createQueueMetric, type Monitored } from "./metrics.ts";

const WIDTH = 24;

const createTitle = (markdown: string) => new TextWidget({ markdown, width: WIDTH, height: 1 });

/** A graph, and the value at which an alarm goes off. */
type Graph = readonly [title: string, metrics: IMetric[], line?: number];

/** A row of graphs, side by side. */
const createRow = (graphs: readonly Graph[], width = WIDTH / graphs.length): IWidget[] =>
  graphs.map(
    ([title, left, line]) =>
      new GraphWidget({
        title,
        left,
        width,
        height: 6,
        leftYAxis: { min: 0 },
        ...(line !== undefined && { leftAnnotations: [{ value: line, color: "#d62728" }] }),
      }),
  );

const createApiWidgets = (stage: Monitored): IWidget[] => {
  const api = (what: string, statistic: string) => measures.createApiMetric(stage, what, statistic);
  const counts = ["Count", "4xx", "5xx"].map((what) => api(what, "Sum"));
  const waits = ["p50", "p90", "p99"].map((share) => api("Latency", share));
  return [
    new SingleValueWidget({
      title: "Last minute",
      metrics: [api("Count", "Sum"), api("5xx", "Sum"), api("Latency", "p99")],
      width: 6,
      height: 6,
    }),
    ...createRow(
      [
        ["Requests, and server errors", counts],
        ["Latency, ms", waits],
      ],
      9,
    ),
  ];
};

/** API Gateway, in the first row, does not measure durations by class of status. */
const createAnswerWidgets = (stage: Monitored): IWidget[] => {
  const own = (name: CloudMetricName, statistic = "Sum") =>
    measures.createOwnMetrics(stage, name, statistic);
  return createRow([
    ["Responses in five minutes, by status", own("mailproof_http_requests_total")],
    ["The slowest 1 %, by status, s", own("mailproof_http_request_duration_seconds", "p99")],
    ["Webhook calls in five minutes, by outcome", own("mailproof_webhook_calls_total")],
  ]);
};

const createMoneyWidgets = (stage: Monitored): IWidget[] => {
  const own = (name: CloudMetricName) => [measures.createOwnMetric(stage, name)];
  const moved = measures.createOwnMetrics(stage, "mailproof_credits_moved_total", "Sum");
  return createRow([
    ["Delay of scheduled work, s", own("mailproof_due_age_seconds"), 300],
    ["Credits held for over an hour", own("mailproof_credits_held_over_an_hour"), 1],
    ["Broken invariants at the last audit", [measures.createAuditMetric(stage, "Maximum")], 1],
    ["Credits moved in five minutes, by kind", moved],
  ]);
};

const VISIBLE = "ApproximateNumberOfMessagesVisible";

const createListWidgets = (stage: Monitored): IWidget[] => {
  const of = (areDead: boolean, what: string) =>
    queues
      .filter(({ receivesMax }) => (receivesMax === null) === areDead)
      .map(({ name }) => createQueueMetric(stage, name, what).with({ label: name }));
  const verdicts = measures.createOwnMetrics(stage, "mailproof_verifications_total", "Sum");
  return createRow([
    ["Waiting messages", of(false, VISIBLE)],
    ["Age of the oldest, s", of(false, "ApproximateAgeOfOldestMessage")],
    ["Dead letters", of(true, VISIBLE), 1],
    ["Verdicts in five minutes, by status", verdicts],
  ]);
};

const createMailServerWidgets = (stage: Monitored): IWidget[] => {
  const sessions = measures.createOwnMetrics(stage, "mailproof_smtp_sessions_total", "Sum");
  const waits = (["p50", "p99"] as const).map((share) => measures.createWaitMetric(stage, share));
  const ports = stage.gateways.map((zone) =>
    measures.createNatMetric(stage, zone, "ErrorPortAllocation"),
  );
  const graphs: readonly Graph[] = [
    ["Sessions in five minutes", sessions],
    ["Sessions that reached no server, %", [measures.createUnreachedShare(stage)], 50],
    ["Wait for a slot, s", waits],
    ["NAT gateways without a free port", ports],
  ];
  return createRow(graphs.filter(([, metrics]) => metrics.length > 0));
};

const createSystemWidgets = (stage: Monitored): IWidget[][] => {
  const errors = lambdas.map(({ name }) => createLambdaMetric(stage, name, "Errors"));
  const answering = [...routes, ...workerSpecs].map(({ lambda }) => lambda);
  const failures = answering.map(({ name }) => measures.createOwnFailureMetric(stage, name));
  const working = [prober, ...workerSpecs.map(({ lambda }) => lambda)].map(({ name }) =>
    createLambdaMetric(stage, name, "ConcurrentExecutions", "Maximum"),
  );
  const used = ["ConsumedReadCapacityUnits", "ConsumedWriteCapacityUnits"].map((what) =>
    measures.createTableMetric(stage, what),
  );
  return [
    createRow([
      ["Errors, by Lambda", errors],
      ["Answers of 5xx and failed messages, by Lambda", failures],
      ["Cold starts", [measures.createColdStartMetric(stage)]],
    ]),
    createRow([
      ["Concurrent workers", working],
      ["Concurrency claimed in the account", [measures.claimedConcurrency]],
      ["Table: units used, requests refused", [...used, measures.createThrottleMetric(stage)]],
    ]),
  ];
};

/** The most that CloudWatch accepts in one widget. */
const ALARMS_PER_WIDGET = 100;

const createAlarmWidgets = (alarms: readonly Alarm[]): IWidget[] =>
  Array.from({ length: Math.ceil(alarms.length / ALARMS_PER_WIDGET) }, (_, at) => {
    const some = alarms.slice(at * ALARMS_PER_WIDGET, (at + 1) * ALARMS_PER_WIDGET);
    return new AlarmStatusWidget({ title: "What rings", alarms: some, width: WIDTH, height: 5 });
  });

/** The operator's dashboard for an incident: it shows which part fails, for whom and how often. */
const createRows = (stage: Monitored, alarms: readonly Alarm[]): IWidget[][] => [
  createAlarmWidgets(alarms),
  [createTitle("## Callers")],
  createApiWidgets(stage),
  createAnswerWidgets(stage),
  [createTitle("## Money")],
  createMoneyWidgets(stage),
  [createTitle("## Lists")],
  createListWidgets(stage),
  [createTitle("## Mail servers")],
  createMailServerWidgets(stage),
  [createTitle("## Machinery")],
  ...createSystemWidgets(stage),
];

export const createDashboard = (
  scope: Construct,
  name: string,
  stage: Monitored,
  alarms: readonly Alarm[],
) =>
  new Dashboard(scope, "Dashboard", {
    dashboardName: name,
    defaultInterval: Duration.hours(3),
    widgets: createRows(stage, alarms),
  });
