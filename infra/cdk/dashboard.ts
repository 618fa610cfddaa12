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
import { lambdas, queues, workersOn, ZONES } from "../topology.ts";
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

/** What an operator who was just woken looks at, from above to below: whether, whom, how much, where. */
const rows = (nameOf: NameOf, alarms: readonly Alarm[]): IWidget[][] => {
  const work = queues.filter(({ receivesMax }) => receivesMax !== null).map(({ name }) => name);
  const dead = queues.filter(({ receivesMax }) => receivesMax === null).map(({ name }) => name);
  const api = (what: string, statistic: string) => measures.ofApi(nameOf, what, statistic);
  return [
    [new AlarmStatusWidget({ title: "What rings", alarms: [...alarms], width: WIDTH, height: 5 })],

    [title("## Callers")],
    [
      new SingleValueWidget({
        title: "Last minute",
        metrics: [api("Count", "Sum"), api("5xx", "Sum"), api("Latency", "p99")],
        width: 6,
        height: 6,
      }),
      graph(
        "Requests, and those we failed",
        [api("Count", "Sum"), api("4xx", "Sum"), api("5xx", "Sum")],
        9,
      ),
      graph(
        "How long they wait, ms",
        [api("Latency", "p50"), api("Latency", "p90"), api("Latency", "p99")],
        9,
      ),
    ],

    [title("## Money")],
    [
      graph("How late the latest due work is, s", [measures.dueAge], 8, 300),
      graph("Credits held for over an hour", [measures.heldLong], 8, 1),
      graph("Broken laws at the last audit", [measures.auditViolations], 8, 1),
    ],

    [title("## Lists")],
    [
      graph(
        "Messages that wait",
        work.map((name) =>
          inQueue(nameOf, name, "ApproximateNumberOfMessagesVisible").with({ label: name }),
        ),
        8,
      ),
      graph(
        "How old the oldest is, s",
        work.map((name) =>
          inQueue(nameOf, name, "ApproximateAgeOfOldestMessage").with({ label: name }),
        ),
        8,
      ),
      graph(
        "Dead letters",
        dead.map((name) =>
          inQueue(nameOf, name, "ApproximateNumberOfMessagesVisible").with({ label: name }),
        ),
        8,
        1,
      ),
    ],

    [title("## Mail servers")],
    [
      graph("Sessions in five minutes", [measures.smtp.sessions, measures.smtp.unreached], 8),
      graph("Sessions that reached nobody, %", [measures.unreachedPercent], 8, 50),
      graph(
        "NAT gateways without a free port",
        ZONES.map((zone) => measures.ofNat(nameOf, zone, "ErrorPortAllocation")),
        8,
      ),
    ],

    [title("## Machinery")],
    [
      graph(
        "Failures, by Lambda",
        lambdas.map(({ name }) => lambdaSum(nameOf, name, "Errors")),
        8,
      ),
      graph(
        "Workers at work",
        ["Prober", ...workersOn.map(({ lambda }) => lambda.name)].map((name) =>
          lambdaSum(nameOf, name, "ConcurrentExecutions").with({ statistic: "Maximum" }),
        ),
        8,
      ),
      graph(
        "Table: units used, requests refused",
        ["ConsumedReadCapacityUnits", "ConsumedWriteCapacityUnits", "ThrottledRequests"].map(
          (what) => measures.ofTable(nameOf, what),
        ),
        8,
      ),
    ],
  ];
};

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
