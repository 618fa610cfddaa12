import { beforeAll, expect, test } from "vitest";
import { readSettings } from "../../infra/settings.ts";
import { lambdas, listPublishedNames, workerSpecs } from "../../infra/topology.ts";
import { look } from "./queries.ts";
import { type Synthesis, synthesise } from "./synthesise.ts";

// A small production: it outlasts mistakes as a large one does, in an account that AWS opened yesterday.

const CERTIFICATE = "arn:aws:acm:eu-west-1:123456789012:certificate/1a2b-3c4d";
const SETTINGS = {
  AWS_REGION: "eu-west-1",
  STAGE_SIZE: "lean",
  CONCURRENCY_QUOTA: "10",
  VPC: "own",
  API_DOMAIN: "api.example.com",
  API_CERTIFICATE: CERTIFICATE,
  DASHBOARD: "none",
  TRACES: "on",
};

let made: Synthesis;
let it: ReturnType<typeof look>;

beforeAll(async () => {
  made = await synthesise("production", SETTINGS);
  it = look(made);
});

test("a lean stage keeps its state", () => {
  expect(made.app).toMatchObject({ protect: true, removal: "retain" });
  expect(it.inputsOf("aws:dynamodb/table:Table")).toMatchObject([
    { deletionProtectionEnabled: true, pointInTimeRecovery: { enabled: true } },
  ]);
});

test("a lean stage connects to mail servers through one instance, whose address outlives it", () => {
  expect(it.of("aws:ec2/natGateway:NatGateway")).toEqual([]);
  expect(it.inputsOf("aws:ec2/instance:Instance")).toMatchObject([{ instanceType: "t4g.nano" }]);
  expect(it.of("aws:ec2/eip:Eip")).toHaveLength(1);
  expect(it.inputsOf("aws:ssm/parameter:Parameter").map(({ name }) => String(name))).toHaveLength(
    listPublishedNames(readSettings("production", SETTINGS)).length,
  );
});

test("a lean stage uses the host name of its owner's certificate and creates no record or certificate", () => {
  expect(it.inputsOf("aws:apigatewayv2/domainName:DomainName")).toMatchObject([
    {
      domainName: "api.example.com",
      domainNameConfiguration: { certificateArn: CERTIFICATE },
    },
  ]);
  expect(it.all.filter(({ type }) => /aws:(?:route53|acm)\//.test(type))).toEqual([]);
});

test("a lean stage pays for no key, so its topic is not encrypted", () => {
  expect(it.of("aws:kms/key:Key")).toEqual([]);
  expect(it.inputsOf("aws:sns/topic:Topic")).toEqual([{}]);
});

test("with TRACES=on each Lambda sends its traces to X-Ray", () => {
  for (const { name } of lambdas) {
    expect(it.lambda(name)).toMatchObject({ tracingConfig: { mode: "Active" } });
    expect(it.allowedTo(name)).toContainEqual(
      expect.objectContaining({ actions: ["xray:PutTelemetryRecords", "xray:PutTraceSegments"] }),
    );
  }
});

test("a lean stage serves no dashboard when its owner disables it", () => {
  expect(it.settingsOf("HttpDefault")).toMatchObject({ DASHBOARD: "none" });
  expect(it.of("aws:cloudfront/distribution:Distribution")).toEqual([]);
});

test("a stage with a quota of ten reserves no Lambda, and each queue runs two workers instead of up to 64", () => {
  const functions = it.inputsOf("aws:lambda/function:Function");
  const sources = it.inputsOf("aws:lambda/eventSourceMapping:EventSourceMapping");

  expect(functions).toHaveLength(lambdas.length);
  for (const { reservedConcurrentExecutions: some } of functions) expect(some).toBeUndefined();
  expect(sources).toHaveLength(16);
  expect(Math.max(...workerSpecs.map(({ lambda }) => lambda.reserved ?? 0))).toBe(64);
  for (const { scalingConfig } of sources) expect(scalingConfig.maximumConcurrency).toBe(2);
});
