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
import { lambdas, prober, queues, workersOn, ZONES } from "../topology.ts";
import * as measures from "./measures.ts";
import { inQueue, lambdaSum, type NameOf } from "./measures.ts";

const WIDTH = 24;

const title = (markdown: string) => new TextWidget({ markdown, width: WIDTH, height: 1 });

const graph = (title: string, left: IMetric[], width: number, line?: number) =>
  new GraphWidget({
    title,
    left,
    width,
    height: 6,
    leftYAxis: { min: 0 },
    ...(line !== undefined && { leftAnnotations: [{ value: line, color: "#d62728" }] }),
  });

const callers = (nameOf: NameOf): IWidget[] => {
  const api = (what: string, statistic: string) => measures.ofApi(nameOf, what, statistic);
  const counts = ["Count", "4xx", "5xx"].map((what) => api(what, "Sum"));
  const waits = ["p50", "p90", "p99"].map((share) => api("Latency", share));
  return [
    new SingleValueWidget({
      title: "Last minute",
      metrics: [api("Count", "Sum"), api("5xx", "Sum"), api("Latency", "p99")],
      width: 6,
      height: 6,
    }),
    graph("Requests, and those we failed", counts, 9),
    graph("How long they wait, ms", waits, 9),
  ];
};

const money = (): IWidget[] => [
  graph("How late the latest due work is, s", [measures.dueAge], 8, 300),
  graph("Credits held for over an hour", [measures.heldLong], 8, 1),
  graph("Broken laws at the last audit", [measures.auditViolations], 8, 1),
];

const VISIBLE = "ApproximateNumberOfMessagesVisible";

const lists = (nameOf: NameOf): IWidget[] => {
  const of = (areDead: boolean, what: string) =>
    queues
      .filter(({ receivesMax }) => (receivesMax === null) === areDead)
      .map(({ name }) => inQueue(nameOf, name, what).with({ label: name }));
  return [
    graph("Messages that wait", of(false, VISIBLE), 8),
    graph("How old the oldest is, s", of(false, "ApproximateAgeOfOldestMessage"), 8),
    graph("Dead letters", of(true, VISIBLE), 8, 1),
  ];
};

const mailServers = (nameOf: NameOf): IWidget[] => {
  const ports = ZONES.map((zone) => measures.ofNat(nameOf, zone, "ErrorPortAllocation"));
  return [
    graph("Sessions in five minutes", [measures.smtp.sessions, measures.smtp.unreached], 8),
    graph("Sessions that reached nobody, %", [measures.unreachedPercent], 8, 50),
    graph("NAT gateways without a free port", ports, 8),
  ];
};

const machinery = (nameOf: NameOf): IWidget[] => {
  const errors = lambdas.map(({ name }) => lambdaSum(nameOf, name, "Errors"));
  const working = [prober, ...workersOn.map(({ lambda }) => lambda)].map(({ name }) =>
    lambdaSum(nameOf, name, "ConcurrentExecutions").with({ statistic: "Maximum" }),
  );
  const used = ["ConsumedReadCapacityUnits", "ConsumedWriteCapacityUnits"];
  return [
    graph("Failures, by Lambda", errors, 8),
    graph("Workers at work", working, 8),
    graph(
      "Table: units used, requests refused",
      [...used.map((what) => measures.ofTable(nameOf, what)), measures.throttledOf(nameOf)],
      8,
    ),
  ];
};

/** What an operator who was just woken looks at, from above to below: whether, whom, how much, where. */
const rows = (nameOf: NameOf, alarms: readonly Alarm[]): IWidget[][] => [
  [new AlarmStatusWidget({ title: "What rings", alarms: [...alarms], width: WIDTH, height: 5 })],
  [title("## Callers")],
  callers(nameOf),
  [title("## Money")],
  money(),
  [title("## Lists")],
  lists(nameOf),
  [title("## Mail servers")],
  mailServers(nameOf),
  [title("## Machinery")],
  machinery(nameOf),
];

export const dashboard = (
  scope: Construct,
  name: string,
  nameOf: NameOf,
  alarms: readonly Alarm[],
) =>
  new Dashboard(scope, "Dashboard", {
    dashboardName: name,
    defaultInterval: Duration.hours(3),
    widgets: rows(nameOf, alarms),
  });
