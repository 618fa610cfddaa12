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

test("is whole", () => {
  expect(it.of("aws:lambda/function:Function")).toHaveLength(lambdas.length);
});

test("limits uploads, too", () => {
  expect(it.inputsOf("aws:s3/bucketNotification:BucketNotification")).toMatchObject([
    { lambdaFunctions: [{ events: ["s3:ObjectCreated:*"], filterPrefix: "uploads/" }] },
  ]);
});

test("can be removed without a trace", () => {
  expect(made.app).toMatchObject({ protect: false, removal: "remove" });
  expect(it.inputsOf("aws:dynamodb/table:Table")).toMatchObject([
    { deletionProtectionEnabled: false, pointInTimeRecovery: { enabled: false } },
  ]);
  expect(it.inputsOf("aws:s3/bucket:Bucket")).toMatchObject([{ forceDestroy: true }]);
});

test("reserves nothing of a young account", () => {
  for (const lambda of it.inputsOf("aws:lambda/function:Function"))
    expect(lambda["reservedConcurrentExecutions"]).toBeUndefined();
});

test("takes none of the five VPCs and addresses of an account: its Lambdas use proxies", () => {
  expect(it.all.filter(({ type }) => type.startsWith("aws:ec2/"))).toEqual([]);
  for (const lambda of it.inputsOf("aws:lambda/function:Function"))
    expect(lambda["vpcConfig"]).toBeUndefined();
});

test("needs no CloudFront, which AWS refuses to an account that it has not verified", () => {
  expect(it.all.filter(({ type }) => type.startsWith("aws:cloudfront/"))).toEqual([]);
});

test("writes its names down under its own", () => {
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
/** SSM gives a deleted name again at once; a name within an API or a VPC is gone with it. */
const REUSABLE = [
  "aws:apigatewayv2/stage:Stage",
  "aws:servicediscovery/privateDnsNamespace:PrivateDnsNamespace",
  "aws:ssm/parameter:Parameter",
];

test("has no name that the same stage had before it was removed", () => {
  const named = it.all.filter(
    ({ type, inputs }) => typeof inputs["name"] === "string" && !REUSABLE.includes(type),
  );

  expect(named.filter(({ type }) => type === "aws:sqs/queue:Queue")).not.toEqual([]);
  expect(
    named.filter(({ inputs }) => !DRAWN.test(String(inputs["name"]))).map(({ name }) => name),
  ).toEqual([]);
});
