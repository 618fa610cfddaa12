import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { App, Stack, Validations } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { Topic } from "aws-cdk-lib/aws-sns";
import { AwsSolutionsChecks } from "cdk-nag";
import { expect, test } from "vitest";
import { createOperationsApp } from "../../infra/cdk/operations.ts";
import { lambdas, METRICS, publishedNames, queues } from "../../infra/topology.ts";

const outdir = () => mkdtempSync(join(tmpdir(), "mailproof-cdk-"));

const given = (callEmail?: string) => {
  const app = createOperationsApp({ app: "mailproof", stage: "production", callEmail }, outdir());
  return { app, template: Template.fromStack(app.node.findChild(NAME) as Stack) };
};
const NAME = "mailproof-production-operations";

const { template } = given();
const ALARM = "AWS::CloudWatch::Alarm";
type Alarm = { readonly Properties: Readonly<Record<string, unknown>> };
const alarms = Object.values(template.findResources(ALARM) as Record<string, Alarm>).map(
  ({ Properties }) => Properties,
);
const alarm = (id: string) =>
  alarms.find(({ AlarmName }) => AlarmName === `mailproof-production-${id}`);

test("breaks none of AWS's own rules, and would be stopped if it did", () => {
  expect(() => given().app.synth()).not.toThrow();

  const careless = new App({ outdir: outdir() });
  Validations.of(careless).addPlugins(new AwsSolutionsChecks(careless));
  new Topic(new Stack(careless, "Careless"), "Topic");
  expect(() => careless.synth()).toThrow(/does not require publishers to use SSL/);
});

const OF_THE_STAGE = [
  "Api5xx",
  "ApiLatency",
  "Audit",
  "DueWork",
  "HeldCredits",
  "MailProviderBlocked",
  "MisplacedWork",
  "NatPorts0",
  "NatPorts1",
  "ProviderInDoubt",
  "SmtpEgress",
  "TableThrottled",
];

test("every Lambda and every queue has an alarm, and the stage has those named here", () => {
  const names = alarms.map(({ AlarmName }) =>
    String(AlarmName).replace(/^mailproof-production-/, ""),
  );

  const others = names.filter((name) => !/^(Lambda|Queue-)/.test(name));
  expect(names.filter((name) => !others.includes(name)).toSorted()).toEqual(
    [
      ...lambdas.map(({ name }) => `Lambda${name}`),
      ...queues.map(({ name }) => `Queue-${name}`),
    ].toSorted(),
  );
  expect(others.toSorted()).toEqual(OF_THE_STAGE.toSorted());
});

test("an alarm says what to do, calls when it rings and when it is over", () => {
  for (const { AlarmDescription, AlarmActions, OKActions } of alarms) {
    expect(String(AlarmDescription).length).toBeGreaterThan(30);
    expect(AlarmActions).toEqual([{ Ref: expect.stringMatching(/^Calls/) }]);
    expect(OKActions).toEqual(AlarmActions);
  }
});

test("a dead letter is enough to ring; a queue that is worked on rings when it is not worked off", () => {
  expect(alarm("Queue-chunks-dead")).toMatchObject({
    Metrics: expect.arrayContaining([
      // A worker that fails with it hides it for most of the time.
      expect.objectContaining({ Expression: "FILL(visible, 0) + FILL(hidden, 0)" }),
    ]),
    Threshold: 1,
    TreatMissingData: "notBreaching",
  });
  expect(alarm("Queue-singles")).toMatchObject({
    MetricName: "ApproximateAgeOfOldestMessage",
    Threshold: 6 * 180 + 15 * 60,
  });
});

test("money that stands still rings, and so does silence about it", () => {
  expect(alarm("DueWork")).toMatchObject({
    Namespace: METRICS.namespace,
    MetricName: "due_age_seconds",
    Threshold: 300,
    TreatMissingData: "breaching",
  });
  expect(alarm("MisplacedWork")).toMatchObject({
    MetricName: "due_misplaced",
    Threshold: 1,
    TreatMissingData: "breaching",
  });
  expect(alarm("HeldCredits")).toMatchObject({
    MetricName: "held_over_an_hour",
    Threshold: 1,
    TreatMissingData: "breaching",
  });
  expect(alarm("ProviderInDoubt")).toMatchObject({
    MetricName: "providers_in_doubt",
    Threshold: 1,
  });
  expect(alarm("MailProviderBlocked")).toMatchObject({
    MetricName: "mail_providers_blocked",
    Threshold: 1,
  });
  expect(alarm("Audit")).toMatchObject({
    MetricName: "audit_violations",
    Threshold: 1,
    EvaluationPeriods: 1,
    Period: 86_400,
    TreatMissingData: "breaching",
  });
});

test("egress rings when most servers cannot be reached, or a NAT gateway has no port left", () => {
  expect(alarm("SmtpEgress")).toMatchObject({
    Threshold: 50,
    Metrics: expect.arrayContaining([
      expect.objectContaining({ Expression: "IF(sessions >= 20, 100 * unreached / sessions, 0)" }),
    ]),
  });
  expect(alarm("NatPorts0")).toMatchObject({ MetricName: "ErrorPortAllocation", Threshold: 1 });
  expect(alarm("NatPorts1")).toMatchObject({ MetricName: "ErrorPortAllocation", Threshold: 1 });
});

test("a table that refuses rings by what DynamoDB counts, of the table and of each index apart", () => {
  const parts = alarm("TableThrottled")?.["Metrics"] as {
    Expression?: string;
    MetricStat?: { Metric: { MetricName: string; Dimensions: { Name: string; Value: unknown }[] } };
  }[];
  const counted = parts.flatMap(({ MetricStat }) =>
    MetricStat
      ? [
          `${MetricStat.Metric.MetricName} ${MetricStat.Metric.Dimensions.map(({ Name, Value }) =>
            Name === "TableName" ? Name : `${Name}=${Value as string}`,
          )
            .toSorted()
            .join(" ")}`,
        ]
      : [],
  );

  expect(counted.toSorted()).toEqual([
    "ReadThrottleEvents GlobalSecondaryIndexName=due TableName",
    "ReadThrottleEvents GlobalSecondaryIndexName=list TableName",
    "ReadThrottleEvents TableName",
    "WriteThrottleEvents GlobalSecondaryIndexName=due TableName",
    "WriteThrottleEvents GlobalSecondaryIndexName=list TableName",
    "WriteThrottleEvents TableName",
  ]);
});

test("a sum rings although one of its parts is silent", () => {
  const sums = alarms
    .flatMap(({ Metrics = [] }) => Metrics as { Expression?: string }[])
    .flatMap(({ Expression }) => (Expression?.includes(" + ") ? [Expression] : []));

  const dead = queues.filter(({ receivesMax }) => receivesMax === null);
  expect(sums).toHaveLength(lambdas.length + dead.length + 1);
  for (const sum of sums) expect(sum).toMatch(/^FILL\(\w+, 0\)( \+ FILL\(\w+, 0\))+$/);
});

test("the dashboard shows what rings first, then callers, money, lists, mail servers and machinery", () => {
  const [dashboard] = Object.values(template.findResources("AWS::CloudWatch::Dashboard"));
  const parts = dashboard?.["Properties"]["DashboardBody"]["Fn::Join"][1] as (string | object)[];
  const body = parts.map((part) => (typeof part === "string" ? part : "<name>")).join("");
  const { widgets } = JSON.parse(body) as {
    widgets: {
      type: string;
      properties: { title?: string; markdown?: string; alarms?: unknown[] };
    }[];
  };

  expect(widgets[0]).toMatchObject({ type: "alarm" });
  expect(widgets[0]?.properties.alarms).toHaveLength(alarms.length);
  expect(widgets.flatMap(({ properties }) => properties.markdown ?? [])).toEqual([
    "## Callers",
    "## Money",
    "## Lists",
    "## Mail servers",
    "## Machinery",
  ]);
});

test("looks for no name that a stage does not write down", () => {
  const parameters = template.toJSON()["Parameters"] as Record<string, { Default: string }>;
  const written = publishedNames.map((key) => `/mailproof/production/${key}`);

  expect(Object.values(parameters).map(({ Default }) => Default)).toEqual(
    expect.arrayContaining(lambdas.map(({ name }) => `/mailproof/production/lambda/${name}`)),
  );
  expect(Object.values(parameters).filter(({ Default }) => !written.includes(Default))).toEqual([]);
});

test("fits what CloudFormation and CloudWatch take", () => {
  const size = JSON.stringify(template.toJSON()).length;

  // More than 51,200 bytes go through a bucket, so that is what an operator is told to do.
  expect(size).toBeGreaterThan(51_200);
  expect(size).toBeLessThan(1_000_000);
  expect(readFileSync("docs/operating.md", "utf8")).toContain("--s3-bucket");
  expect(Object.keys(template.toJSON()["Parameters"]).length).toBeLessThanOrEqual(200);
  expect(alarms.length).toBeLessThanOrEqual(100);
});

test("calls whom the deployer named, over nothing that is not encrypted", () => {
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
