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

const createGraph = (title: string, left: IMetric[], width: number, line?: number) =>
  new GraphWidget({
    title,
    left,
    width,
    height: 6,
    leftYAxis: { min: 0 },
    ...(line !== undefined && { leftAnnotations: [{ value: line, color: "#d62728" }] }),
  });

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
    createGraph("Requests, and server errors", counts, 9),
    createGraph("Latency, ms", waits, 9),
  ];
};

/** Durations by class of status: API Gateway, in the first row, does not measure these. */
const createAnswerWidgets = (stage: Monitored): IWidget[] => [
  createGraph(
    "Responses in five minutes, by status",
    measures.createOwnMetrics(stage, "mailproof_http_requests_total", "Sum"),
    8,
  ),
  createGraph(
    "The slowest 1 %, by status, s",
    measures.createOwnMetrics(stage, "mailproof_http_request_duration_seconds", "p99"),
    8,
  ),
  createGraph(
    "Webhook calls in five minutes, by outcome",
    measures.createOwnMetrics(stage, "mailproof_webhook_calls_total", "Sum"),
    8,
  ),
];

const createMoneyWidgets = (stage: Monitored): IWidget[] => [
  createGraph(
    "Delay of scheduled work, s",
    [measures.createOwnMetric(stage, "mailproof_due_age_seconds")],
    6,
    300,
  ),
  createGraph(
    "Credits held for over an hour",
    [measures.createOwnMetric(stage, "mailproof_credits_held_over_an_hour")],
    6,
    1,
  ),
  createGraph(
    "Broken invariants at the last audit",
    [measures.createAuditMetric(stage, "Maximum")],
    6,
    1,
  ),
  createGraph(
    "Credits moved in five minutes, by kind",
    measures.createOwnMetrics(stage, "mailproof_credits_moved_total", "Sum"),
    6,
  ),
];

const VISIBLE = "ApproximateNumberOfMessagesVisible";

const createListWidgets = (stage: Monitored): IWidget[] => {
  const of = (areDead: boolean, what: string) =>
    queues
      .filter(({ receivesMax }) => (receivesMax === null) === areDead)
      .map(({ name }) => createQueueMetric(stage, name, what).with({ label: name }));
  return [
    createGraph("Waiting messages", of(false, VISIBLE), 6),
    createGraph("Age of the oldest, s", of(false, "ApproximateAgeOfOldestMessage"), 6),
    createGraph("Dead letters", of(true, VISIBLE), 6, 1),
    createGraph(
      "Verdicts in five minutes, by status",
      measures.createOwnMetrics(stage, "mailproof_verifications_total", "Sum"),
      6,
    ),
  ];
};

const createMailServerWidgets = (stage: Monitored): IWidget[] => {
  const sessions = measures.createOwnMetrics(stage, "mailproof_smtp_sessions_total", "Sum");
  const ports = stage.gateways.map((zone) =>
    measures.createNatMetric(stage, zone, "ErrorPortAllocation"),
  );
  return [
    createGraph("Sessions in five minutes", sessions, 6),
    createGraph(
      "Sessions that reached no server, %",
      [measures.createUnreachedShare(stage)],
      6,
      50,
    ),
    createGraph(
      "Wait for a slot, s",
      [measures.createWaitMetric(stage, "p50"), measures.createWaitMetric(stage, "p99")],
      6,
    ),
    ...(ports.length > 0 ? [createGraph("NAT gateways without a free port", ports, 6)] : []),
  ];
};

const createSystemWidgets = (stage: Monitored): IWidget[][] => {
  const errors = lambdas.map(({ name }) => createLambdaMetric(stage, name, "Errors"));
  const answering = [...routes, ...workerSpecs].map(({ lambda }) => lambda);
  const failures = answering.map(({ name }) => measures.createOwnFailureMetric(stage, name));
  const working = [prober, ...workerSpecs.map(({ lambda }) => lambda)].map(({ name }) =>
    createLambdaMetric(stage, name, "ConcurrentExecutions", "Maximum"),
  );
  const used = ["ConsumedReadCapacityUnits", "ConsumedWriteCapacityUnits"];
  return [
    [
      createGraph("Errors, by Lambda", errors, 8),
      createGraph("Answers of 5xx and failed messages, by Lambda", failures, 8),
      createGraph("Cold starts", [measures.createColdStartMetric(stage)], 8),
    ],
    [
      createGraph("Concurrent workers", working, 8),
      createGraph("Concurrency claimed in the account", [measures.claimedConcurrency], 8),
      createGraph(
        "Table: units used, requests refused",
        [
          ...used.map((what) => measures.createTableMetric(stage, what)),
          measures.createThrottleMetric(stage),
        ],
        8,
      ),
    ],
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
