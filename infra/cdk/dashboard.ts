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
import { lambdas, prober, queues, workerSpecs, ZONES } from "../topology.ts";
import * as measures from "./metrics.ts";
import { createLambdaMetric, createQueueMetric, type GetName } from "./metrics.ts";

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

const createApiWidgets = (nameOf: GetName): IWidget[] => {
  const api = (what: string, statistic: string) =>
    measures.createApiMetric(nameOf, what, statistic);
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

const createMoneyWidgets = (): IWidget[] => [
  createGraph("Delay of scheduled work, s", [measures.dueAge], 8, 300),
  createGraph("Credits held for over an hour", [measures.heldLong], 8, 1),
  createGraph("Broken invariants at the last audit", [measures.auditViolations], 8, 1),
];

const VISIBLE = "ApproximateNumberOfMessagesVisible";

const createListWidgets = (nameOf: GetName): IWidget[] => {
  const of = (areDead: boolean, what: string) =>
    queues
      .filter(({ receivesMax }) => (receivesMax === null) === areDead)
      .map(({ name }) => createQueueMetric(nameOf, name, what).with({ label: name }));
  return [
    createGraph("Waiting messages", of(false, VISIBLE), 8),
    createGraph("Age of the oldest, s", of(false, "ApproximateAgeOfOldestMessage"), 8),
    createGraph("Dead letters", of(true, VISIBLE), 8, 1),
  ];
};

const createMailServerWidgets = (nameOf: GetName): IWidget[] => {
  const ports = ZONES.map((zone) => measures.createNatMetric(nameOf, zone, "ErrorPortAllocation"));
  return [
    createGraph("Sessions in five minutes", [measures.smtp.sessions, measures.smtp.unreached], 8),
    createGraph("Sessions that reached no server, %", [measures.unreachedPercent], 8, 50),
    createGraph("NAT gateways without a free port", ports, 8),
  ];
};

const createSystemWidgets = (nameOf: GetName): IWidget[] => {
  const errors = lambdas.map(({ name }) => createLambdaMetric(nameOf, name, "Errors"));
  const working = [prober, ...workerSpecs.map(({ lambda }) => lambda)].map(({ name }) =>
    createLambdaMetric(nameOf, name, "ConcurrentExecutions").with({ statistic: "Maximum" }),
  );
  const used = ["ConsumedReadCapacityUnits", "ConsumedWriteCapacityUnits"];
  return [
    createGraph("Failures, by Lambda", errors, 8),
    createGraph("Concurrent workers", working, 8),
    createGraph(
      "Table: units used, requests refused",
      [
        ...used.map((what) => measures.createTableMetric(nameOf, what)),
        measures.createThrottleMetric(nameOf),
      ],
      8,
    ),
  ];
};

/** The operator's dashboard during an incident: whether something fails, for whom, how much, and where. */
const createRows = (nameOf: GetName, alarms: readonly Alarm[]): IWidget[][] => [
  [new AlarmStatusWidget({ title: "What rings", alarms: [...alarms], width: WIDTH, height: 5 })],
  [createTitle("## Callers")],
  createApiWidgets(nameOf),
  [createTitle("## Money")],
  createMoneyWidgets(),
  [createTitle("## Lists")],
  createListWidgets(nameOf),
  [createTitle("## Mail servers")],
  createMailServerWidgets(nameOf),
  [createTitle("## Machinery")],
  createSystemWidgets(nameOf),
];

export const createDashboard = (
  scope: Construct,
  name: string,
  nameOf: GetName,
  alarms: readonly Alarm[],
) =>
  new Dashboard(scope, "Dashboard", {
    dashboardName: name,
    defaultInterval: Duration.hours(3),
    widgets: createRows(nameOf, alarms),
  });
