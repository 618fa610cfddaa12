import { beforeAll, expect, test } from "vitest";
import { readSettings } from "../../infra/settings.ts";
import { lambdas, listPublishedNames } from "../../infra/topology.ts";
import { look } from "./queries.ts";
import { type Synthesis, synthesise } from "./synthesise.ts";

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
