import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type CloudMetricName, METRICS_ON_AWS } from "@mailproof/core/background/metric-names";
import { NAMESPACE } from "@mailproof/functions/metric-namespace";
import { App, Stack, Validations } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { Topic } from "aws-cdk-lib/aws-sns";
import { AwsSolutionsChecks } from "cdk-nag";
import { expect, test } from "vitest";
import { listDimensions } from "../../infra/cdk/metrics.ts";
import { createOperationsApp } from "../../infra/cdk/operations.ts";
import { ALARMS } from "../../infra/prices.ts";
import { readSettings } from "../../infra/settings.ts";
import { lambdas, listPublishedNames, queues } from "../../infra/topology.ts";
import { readAlarms } from "./read-alarms.ts";

const outdir = () => mkdtempSync(join(tmpdir(), "mailproof-cdk-"));

const given = (callEmail?: string) => {
  const settings = readSettings("production", { ...ENVIRONMENT, CALL_EMAIL: callEmail });
  const app = createOperationsApp({ ...PRODUCTION, settings }, outdir());
  return { app, template: Template.fromStack(app.node.findChild(NAME) as Stack) };
};
const PRODUCTION = { app: "mailproof", stage: "production", quota: 1_000 };
const ENVIRONMENT = { AWS_REGION: "eu-west-1", BUDGET_USD: "300" };
const ofSize = (size: string) => readSettings("production", { ...ENVIRONMENT, STAGE_SIZE: size });
const NAME = "mailproof-production-operations";

const { template } = given();
const ALARM = "AWS::CloudWatch::Alarm";
type Alarm = { readonly Properties: Readonly<Record<string, unknown>> };
const alarms = Object.values(template.findResources(ALARM) as Record<string, Alarm>).map(
  ({ Properties }) => Properties,
);
test("the operations stack follows AWS's own rules, which stop a careless one", () => {
  expect(() => given().app.synth()).not.toThrow();

  const careless = new App({ outdir: outdir() });
  Validations.of(careless).addPlugins(new AwsSolutionsChecks(careless));
  new Topic(new Stack(careless, "Careless"), "Topic");
  expect(() => careless.synth()).toThrow(/does not require publishers to use SSL/);
});

test("every resource of the stack that can carry tags names the stage and its owner", () => {
  const tags = { owner: "production", "mailproof:stage": "production" };
  const tagged = Object.values(template.toJSON()["Resources"] as Record<string, Resource>).flatMap(
    ({ Type: type, Properties: { Tags: some, ResourceTags: others = some } }) =>
      others ? [[type, Object.fromEntries(others.map(({ Key, Value }) => [Key, Value]))]] : [],
  );

  expect(new Set(tagged.map(([type]) => type))).toEqual(
    new Set([ALARM, "AWS::Budgets::Budget", "AWS::CloudWatch::Dashboard", "AWS::SNS::Topic"]),
  );
  for (const [, some] of tagged) expect(some).toEqual(tags);
});

type Tagged = readonly { readonly Key: string; readonly Value: string }[];
type Resource = {
  readonly Type: string;
  readonly Properties: { readonly Tags?: Tagged; readonly ResourceTags?: Tagged };
};

const OF_THE_STAGE = [
  "Api5xx",
  "ApiLatency",
  "Audit",
  "AuditMissing",
  "Concurrency",
  "DueWork",
  "HeldCredits",
  "MailProviderBlocked",
  "MisplacedWork",
  "NatPorts0",
  "NatPorts1",
  "ProviderInDoubt",
  "SmtpEgress",
  "TableConflicts",
  "TableErrors",
  "TableThrottled",
];

test("the stack contains an alarm for every Lambda, every queue and each listed part of the stage", () => {
  const names = alarms.map(({ AlarmName }) =>
    String(AlarmName).replace(/^mailproof-production-/, ""),
  );

  const others = names.filter((name) => !/^(Duration|Lambda|Queue-)/.test(name));
  expect(names.filter((name) => !others.includes(name)).toSorted()).toEqual(
    [
      ...lambdas.map(({ name }) => `Lambda${name}`),
      // Endpoints all have the same time-out, which ApiLatency watches.
      ...lambdas.flatMap(({ name }) => (name.startsWith("Http") ? [] : [`Duration${name}`])),
      ...queues.map(({ name }) => `Queue-${name}`),
    ].toSorted(),
  );
  expect(others.toSorted()).toEqual(OF_THE_STAGE.toSorted());
});

test("every alarm states the remedy and calls the operator at its start and end", () => {
  for (const { AlarmDescription, AlarmActions, OKActions } of alarms) {
    expect(String(AlarmDescription).length).toBeGreaterThan(30);
    expect(AlarmActions).toEqual([{ Ref: expect.stringMatching(/^Calls/) }]);
    expect(OKActions).toEqual(AlarmActions);
  }
});

const readDashboard = (): string => {
  const [dashboard] = Object.values(template.findResources("AWS::CloudWatch::Dashboard"));
  const parts = dashboard?.["Properties"]["DashboardBody"]["Fn::Join"][1] as (string | object)[];
  return parts.map((part) => (typeof part === "string" ? part : "<name>")).join("");
};

test("the CloudWatch dashboard shows alarms first, then callers, money, lists, mail servers and machinery", () => {
  const { widgets } = JSON.parse(readDashboard()) as {
    widgets: {
      type: string;
      properties: { title?: string; markdown?: string; alarms?: unknown[] };
    }[];
  };

  expect(widgets[0]).toMatchObject({ type: "alarm" });
  const shown = widgets.filter(({ type }) => type === "alarm").map((one) => one.properties.alarms);
  expect(shown.flat()).toHaveLength(alarms.length);
  // The most that CloudWatch accepts in one widget.
  for (const some of shown) expect(some?.length).toBeLessThanOrEqual(100);
  expect(widgets.flatMap(({ properties }) => properties.markdown ?? [])).toEqual([
    "## Callers",
    "## Money",
    "## Lists",
    "## Mail servers",
    "## Machinery",
  ]);
});

test.each([
  ["production", "full"],
  ["production", "lean"],
  ["ada", "lean"],
] as const)(
  "the operations stack of stage %s in size %s reads only names that the stage publishes",
  (stage, size) => {
    const settings = ofSize(size);
    const app = createOperationsApp({ ...PRODUCTION, stage, settings }, outdir());
    expect(() => app.synth()).not.toThrow();
    const stack = Template.fromStack(app.node.findChild(`mailproof-${stage}-operations`) as Stack);
    const parameters = stack.toJSON()["Parameters"] as Record<string, { Default: string }>;
    const read = Object.values(parameters).map(({ Default }) => Default);
    const published = listPublishedNames(settings).map((key) => `/mailproof/${stage}/${key}`);

    expect(read).toContain(`/mailproof/${stage}/lambda/ScheduleAudit`);
    expect(read.filter((name) => !published.includes(name))).toEqual([]);
  },
);

/** A metric as the dashboard names it: namespace, name, and dimensions in pairs. What follows is how it looks. */
type Drawn = readonly unknown[];

const readOwnMetrics = (): readonly string[] => {
  const { widgets } = JSON.parse(readDashboard()) as {
    widgets: { properties: { metrics?: readonly Drawn[] } }[];
  };
  const inDashboard = widgets
    .flatMap(({ properties }) => properties.metrics ?? [])
    .map((drawn) => drawn.filter((part) => typeof part === "string"))
    .filter(([namespace]) => namespace === NAMESPACE)
    .map(([, name, ...pairs]) => {
      const at = pairs.flatMap((value, index) => (index % 2 === 0 ? [index] : []));
      return [name, ...at.map((index) => `${pairs[index]}=${pairs[index + 1]}`).toSorted()];
    });
  const inAlarms = readAlarms(template).flatMap(({ queries }) =>
    queries.flatMap((one) =>
      "metric" in one && one.metric.startsWith(`${NAMESPACE} `)
        ? [one.metric.split(" ").slice(1)]
        : [],
    ),
  );
  return [...inDashboard, ...inAlarms].map((parts) =>
    parts.join(" ").replace(/function_name=\S+/, "function_name=each"),
  );
};

/** What CloudWatch bills: a name with one combination of the values of its dimensions. */
const listBilled = (name: CloudMetricName): readonly string[] => {
  const service = "service=mailproof-production";
  if ("function_name" in METRICS_ON_AWS[name].dimensions)
    return [`${name} function_name=each ${service}`];
  return listDimensions(name).map((dimensions) =>
    [
      name,
      ...[...Object.entries(dimensions).map((pair) => pair.join("=")), service].toSorted(),
    ].join(" "),
  );
};

const NAMES = Object.keys(METRICS_ON_AWS) as readonly CloudMetricName[];

test("an alarm or the CloudWatch dashboard reads every published metric and dimension value, and no other", () => {
  const published = NAMES.flatMap(listBilled);

  expect(published.length).toBeGreaterThan(30);
  expect([...new Set(readOwnMetrics())].toSorted()).toEqual(published.toSorted());
});

test("docs/costs.md counts the metrics of ours that CloudWatch bills", () => {
  const isGauge = (name: CloudMetricName) => METRICS_ON_AWS[name].type === "gauge";
  const always = NAMES.filter((name) => isGauge(name) || name === "ColdStart").flatMap(listBilled);
  const used = NAMES.filter((name) => !isGauge(name) && name !== "ColdStart")
    .filter((name) => name !== "mailproof_lambda_failures_total")
    .flatMap(listBilled);
  const text = readFileSync("docs/costs.md", "utf8");
  const dollars = (metrics: readonly string[]) => (metrics.length * 0.3).toFixed(2);

  expect(text).toMatch(
    new RegExp(
      `our own metrics +\\| ${always.length} gauges and cold starts[^|]*\\| +${dollars(always)} `,
    ),
  );
  expect(text).toContain(`up to ${used.length} metrics, $${dollars(used)} a month`);
});

test("the budget calls the operator at most of its amount, and when AWS expects more than all", () => {
  const [{ Properties: budget } = { Properties: {} }] = Object.values(
    template.findResources("AWS::Budgets::Budget"),
  );
  const { Budget, NotificationsWithSubscribers } = budget as {
    Budget: { BudgetLimit: { Amount: number; Unit: string }; TimeUnit: string };
    NotificationsWithSubscribers: {
      Notification: { NotificationType: string; ComparisonOperator: string; Threshold: number };
      Subscribers: unknown[];
    }[];
  };
  const { Amount, Unit } = Budget.BudgetLimit;
  /** What AWS compares: the month's costs until now, and those that it expects until the end. */
  const listCalls = (spent: number, expected: number) =>
    NotificationsWithSubscribers.filter(({ Notification: one }) => {
      const dollars = one.NotificationType === "ACTUAL" ? spent : expected;
      return one.ComparisonOperator === "GREATER_THAN" && (100 * dollars) / Amount > one.Threshold;
    }).map(({ Notification: one }) => one.NotificationType);

  expect([Amount, Unit, Budget.TimeUnit]).toEqual([300, "USD", "MONTHLY"]);
  expect(listCalls(240, 300)).toEqual([]);
  expect(listCalls(241, 300)).toEqual(["ACTUAL"]);
  expect(listCalls(100, 301)).toEqual(["FORECASTED"]);
  for (const { Subscribers } of NotificationsWithSubscribers)
    expect(Subscribers).toEqual([
      { SubscriptionType: "SNS", Address: { Ref: expect.stringMatching(/^Calls/) } },
    ]);
});

test("writing the stack alone sizes the alarms by the deployment's stored quota", () => {
  const folder = outdir();
  const aws = join(folder, "aws");
  const quota = JSON.stringify({ Parameter: { Value: "10" } });
  writeFileSync(aws, `#!/bin/sh\n[ "$4" = /mailproof/production/quota ] && echo '${quota}'\n`, {
    mode: 0o755,
  });
  const env = { ...process.env, ...ENVIRONMENT, PATH: `${folder}:${process.env["PATH"]}` };
  execFileSync("node", [resolve("infra/cdk/app.ts"), "production"], { cwd: folder, env });

  const written = readFileSync(join(folder, "cdk.out", `${NAME}.template.json`), "utf8");
  expect(written).toContain("90 % of its 10 concurrent Lambdas");
});

test("the default budget covers twice the price of a stage without requests", () => {
  const amountOf = (size: "full" | "lean") => {
    const settings = { ...ofSize(size), budgetUsd: null };
    const app = createOperationsApp({ ...PRODUCTION, settings }, outdir());
    const [one] = Object.values(
      Template.fromStack(app.node.findChild(NAME) as Stack).findResources("AWS::Budgets::Budget"),
    );
    return one?.["Properties"].Budget.BudgetLimit.Amount as number;
  };

  expect([amountOf("full"), amountOf("lean")]).toEqual([200, 50]);
});

test.each(["full", "lean"] as const)("infra/prices.ts counts the alarms of a %s stage", (size) => {
  const app = createOperationsApp({ ...PRODUCTION, settings: ofSize(size) }, outdir());
  const found = readAlarms(Template.fromStack(app.node.findChild(NAME) as Stack));
  const metrics = found.flatMap(({ queries }) => queries.filter((one) => "metric" in one)).length;

  expect({ alarms: found.length, metrics }).toEqual(ALARMS[size]);
});

test("the topic's own policy allows CloudWatch and AWS Budgets to publish", () => {
  const [policy] = Object.values(template.findResources("AWS::SNS::TopicPolicy"));
  const statements = policy?.["Properties"].PolicyDocument.Statement as { Effect: string }[];

  expect(statements.filter(({ Effect }) => Effect === "Allow")).toMatchObject([
    {
      Action: "sns:Publish",
      Principal: { Service: ["cloudwatch.amazonaws.com", "budgets.amazonaws.com"] },
      Condition: { StringEquals: { "aws:SourceAccount": { Ref: "AWS::AccountId" } } },
    },
  ]);
});

test("the operations stack fits the limits of CloudFormation and CloudWatch", () => {
  const size = JSON.stringify(template.toJSON()).length;

  // More than 51,200 bytes go through a bucket, so the deployment of it does (infra/deploy/steps.ts).
  expect(size).toBeGreaterThan(51_200);
  expect(size).toBeLessThan(1_000_000);
  expect(Object.keys(template.toJSON()["Parameters"]).length).toBeLessThanOrEqual(200);
});

test("the operations stack calls the deployer's address over encrypted channels only", () => {
  const { template: calling } = given("ops@example.com");

  const properties = (type: string) =>
    Object.values(calling.findResources(type)).map((one) => one["Properties"]);

  expect(properties("AWS::SNS::Subscription")).toMatchObject([
    { Protocol: "email", Endpoint: "ops@example.com" },
  ]);
  expect(properties("AWS::SNS::TopicPolicy")).toMatchObject([
    {
      PolicyDocument: {
        Statement: expect.arrayContaining([
          expect.objectContaining({
            Effect: "Deny",
            Condition: { Bool: { "aws:SecureTransport": "false" } },
          }),
        ]),
      },
    },
  ]);
});
