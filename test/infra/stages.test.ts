import { existsSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { listGrants } from "../../infra/iam.ts";
import { readSettings } from "../../infra/settings.ts";
import { lambdas, listPublishedNames, workerSpecs } from "../../infra/topology.ts";
import { look, type Statement } from "./queries.ts";
import { type Synthesis, synthesise } from "./synthesise.ts";

describe("a personal stage", () => {
  // A stage that a developer has for himself: all of the product, nothing that holds on to it.

  let made: Synthesis;
  let it: ReturnType<typeof look>;

  beforeAll(async () => {
    made = await synthesise("ada");
    it = look(made);
  });

  test("a personal stage contains every Lambda", () => {
    expect(it.of("aws:lambda/function:Function")).toHaveLength(lambdas.length);
  });

  test("a personal stage limits uploads", () => {
    expect(it.inputsOf("aws:s3/bucketNotification:BucketNotification")).toMatchObject([
      { lambdaFunctions: [{ events: ["s3:ObjectCreated:*"], filterPrefix: "uploads/" }] },
    ]);
  });

  test("a personal stage can be removed without a trace", () => {
    expect(made.app).toMatchObject({ protect: false, removal: "remove" });
    expect(it.inputsOf("aws:dynamodb/table:Table")).toMatchObject([
      { deletionProtectionEnabled: false, pointInTimeRecovery: { enabled: false } },
    ]);
    expect(it.inputsOf("aws:s3/bucket:Bucket")).toMatchObject([{ forceDestroy: true }]);
  });

  test("a personal stage reserves no Lambdas of a young account", () => {
    for (const lambda of it.inputsOf("aws:lambda/function:Function"))
      expect(lambda["reservedConcurrentExecutions"]).toBeUndefined();
  });

  test("a personal stage uses proxies instead of the account's VPCs and addresses", () => {
    expect(it.all.filter(({ type }) => type.startsWith("aws:ec2/"))).toEqual([]);
    for (const lambda of it.inputsOf("aws:lambda/function:Function"))
      expect(lambda["vpcConfig"]).toBeUndefined();
  });

  test("a personal stage needs no CloudFront, which AWS refuses to unverified accounts", () => {
    expect(it.all.filter(({ type }) => type.startsWith("aws:cloudfront/"))).toEqual([]);
  });

  test("a personal stage publishes its resource names in SSM below its own prefix", () => {
    const names = it.inputsOf("aws:ssm/parameter:Parameter").map(({ name }) => String(name));

    expect(names.toSorted()).toEqual(
      listPublishedNames(readSettings("ada", { AWS_REGION: "eu-west-1" }))
        .map((key) => `/mailproof/ada/${key}`)
        .toSorted(),
    );
    expect(names.filter((name) => name.includes("/nat/"))).toEqual([]);
  });

  /** Ends in eight letters drawn at random. SQS refuses a name for a minute after its queue was deleted. */
  const DRAWN = /-[a-z]{8}$/;
  /** SSM gives a deleted name again at once; a name within an API, a VPC or a Lambda is gone with it. */
  const REUSABLE = [
    "aws:apigatewayv2/stage:Stage",
    "aws:lambda/alias:Alias",
    "aws:servicediscovery/privateDnsNamespace:PrivateDnsNamespace",
    "aws:ssm/parameter:Parameter",
  ];

  test("a personal stage reuses no name from before its removal", () => {
    const named = it.all.filter(
      ({ type, inputs }) => typeof inputs["name"] === "string" && !REUSABLE.includes(type),
    );

    expect(named.filter(({ type }) => type === "aws:sqs/queue:Queue")).not.toEqual([]);
    expect(
      named.filter(({ inputs }) => !DRAWN.test(String(inputs["name"]))).map(({ name }) => name),
    ).toEqual([]);
  });
});

describe("a lean stage", () => {
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
    expect(sources).toHaveLength(18);
    expect(Math.max(...workerSpecs.map(({ lambda }) => lambda.reserved ?? 0))).toBe(64);
    for (const { scalingConfig } of sources) expect(scalingConfig.maximumConcurrency).toBe(2);
  });
});

describe("a stage in another stage's VPC", () => {
  // A stage in the VPC of another one, on a table that was restored.

  let it: ReturnType<typeof look>;

  beforeAll(async () => {
    it = look(
      await synthesise("production", { VPC: "vpc-0a1b2c", TABLE_NAME: "mailproof-restored" }),
    );
  });

  test("a stage with a shared VPC creates only its own security group in the network", () => {
    const made = it.all.filter(({ type }) => type.startsWith("aws:ec2/"));

    expect(made.map(({ type }) => type)).toEqual(["aws:ec2/securityGroup:SecurityGroup"]);
    expect(made[0]?.inputs).toMatchObject({ vpcId: "vpc-0a1b2c", ingress: [] });
  });

  test("a stage with TABLE_NAME uses the restored table, and keeps the stage's own table", () => {
    expect(it.settingsOf("HttpVerifyEmail")).toMatchObject({ TABLE_NAME: "mailproof-restored" });
    expect(it.inputsOf("aws:dynamodb/table:Table")).toMatchObject([
      { deletionProtectionEnabled: true },
    ]);
    const policies = it.allowedTo("HttpVerifyEmail").flatMap(({ resources }) => resources);
    expect(policies.filter((one) => one.includes("dynamodb"))).not.toEqual([]);
    expect(policies.filter((one) => one.endsWith(":TableTable"))).toEqual([]);
  });
});

describe("a live session", () => {
  // What `sst dev` makes of the same configuration: every Lambda is SST's bridge to the developer's machine.

  let made: Synthesis;
  let it: ReturnType<typeof look>;

  beforeAll(async () => {
    made = await synthesise("ada", {}, "dev");
    it = look(made);
  });

  test("a live session creates an SST bridge for every Lambda and builds no bundle of ours", () => {
    const functions = it.inputsOf("aws:lambda/function:Function");

    expect(functions).toHaveLength(lambdas.length);
    for (const { runtime, handler, architectures } of functions)
      expect([runtime, handler, architectures]).toEqual([
        "provided.al2023",
        "bootstrap",
        ["x86_64"],
      ]);
    expect(made.built).toEqual([]);
  });

  test("each bridge connects to the existing handler of its Lambda", () => {
    const targets = made.targets.map(({ functionID, handler, runtime }) => ({
      functionID,
      handler,
      runtime,
    }));

    expect(targets.toSorted((a, b) => a.functionID.localeCompare(b.functionID))).toEqual(
      lambdas
        .map(({ name, handler }) => ({ functionID: name, handler, runtime: "nodejs24.x" }))
        .toSorted((a, b) => a.functionID.localeCompare(b.functionID)),
    );
    const absent = targets.filter(
      ({ handler }) => !existsSync(handler.replace(/\.handler$/, ".ts")),
    );
    expect(absent).toEqual([]);
    for (const { bundle } of made.targets) expect(bundle).toBeUndefined();
  });

  test("a bridge passes its Lambda's time-out and settings to the answering process", () => {
    for (const { name, timeoutSeconds, actsForAccounts } of lambdas) {
      expect(it.lambda(name)["timeout"]).toBe(timeoutSeconds);
      const settings = it.settingsOf(name);
      expect(settings).toMatchObject({ SST_FUNCTION_ID: name });
      expect("KEY_PEPPER" in settings).toBe(actsForAccounts);
    }
  });

  test("a bridge may use its Lambda's permissions and SST's channel and bucket, and no others", () => {
    const isOfSst = ({ resources }: Statement) =>
      resources.every((one) => one === "*" || one.startsWith("arn:aws:s3:::sst-asset"));
    const ofSst = lambdas.map(({ name }) =>
      it
        .allowedTo(name)
        .filter(isOfSst)
        .flatMap(({ actions }) => actions),
    );

    for (const actions of ofSst) expect(actions).toEqual(["appsync:*", "s3:*"]);
    for (const { name, needs } of lambdas)
      expect(
        it
          .allowedTo(name)
          .filter((one) => !isOfSst(one))
          .flatMap(({ actions }) => actions),
      ).toEqual(listGrants(needs).flatMap(({ actions }) => actions));
  });

  test("the account itself may assume a Lambda's role only in a live session", () => {
    const lambdaRoles = it
      .of("aws:iam/role:Role")
      .filter(({ name }) => lambdas.some((one) => name === `${one.name}Role`));

    expect(lambdaRoles).toHaveLength(lambdas.length);
    for (const { inputs } of lambdaRoles)
      expect(JSON.stringify(inputs["assumeRolePolicy"])).toContain(
        "arn:aws:iam::123456789012:root",
      );
  });
});
