import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Stack } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { beforeAll, describe, expect, test } from "vitest";
import { createOperationsApp } from "../../infra/cdk/operations.ts";
import { RIGHTS } from "../../infra/cdk/rights.ts";
import { readSettings } from "../../infra/settings.ts";
import { isAllowed } from "./iam.ts";
import { parseStatements } from "./queries.ts";
import { type Made, synthesise } from "./synthesise.ts";
import { ACCOUNT, listOfType, listPolicies, synthesisePipeline } from "./synthesise-pipeline.ts";

// Who deploys from GitHub may make what SST's and CDK's output asks for, and no role without the limit.

const BOUNDARY = `arn:aws:iam::${ACCOUNT}:policy/mailproof-boundary`;
const template = synthesisePipeline();
const policies = listPolicies(template);
const limit = policies.get("mailproof-boundary") ?? [];
const deployer = [...policies.values()].filter((one) => one !== limit).flat();

const EVERYTHING = {
  DASHBOARD: "cloudfront",
  API_DOMAIN: "api.example.com",
  APP_DOMAIN: "app.example.com",
  CALL_EMAIL: "ops@example.com",
  MAIL_DOMAIN: "mail.example.com",
  VPC: "own",
  TRACES: "on",
  PERMISSIONS_BOUNDARY: BOUNDARY,
};
let made: readonly Made[];
beforeAll(async () => {
  const full = await synthesise("production", EVERYTHING);
  // Its way out is a machine with a role, and others without.
  const lean = await synthesise("pr-7", {
    VPC: "own",
    EXITS: "1",
    OWNER: "Ada Lovelace",
    SMTP_HELLO: "probe.example.com",
    PERMISSIONS_BOUNDARY: BOUNDARY,
  });
  made = [...full.made, ...lean.made];
});

test("every resource that can carry tags names its stage and its owner", () => {
  const tagged = made.filter(({ tags }) => tags !== null);
  const values = tagged.map(({ tags }) => `${tags?.["mailproof:stage"]} ${tags?.["owner"]}`);

  expect(new Set(tagged.map(({ type }) => type)).size).toBeGreaterThan(25);
  expect([...new Set(values)]).toEqual(["production ops@example.com", "pr-7 Ada Lovelace"]);
});

const rolesOf = () => made.filter(({ type }) => type === "aws:iam/role:Role");

/** What SST names with the app's name in front, or Pulumi by the name in the code: as AWS calls it, and how it is made. */
const NAMED: Readonly<Record<string, readonly [prefix: string, action: string]>> = {
  "aws:cloudwatch/logGroup:LogGroup": [
    `logs:eu-west-1:${ACCOUNT}:log-group:`,
    "logs:CreateLogGroup",
  ],
  "aws:dynamodb/table:Table": [`dynamodb:eu-west-1:${ACCOUNT}:table/`, "dynamodb:CreateTable"],
  "aws:iam/instanceProfile:InstanceProfile": [
    `iam::${ACCOUNT}:instance-profile/`,
    "iam:CreateInstanceProfile",
  ],
  "aws:iam/role:Role": [`iam::${ACCOUNT}:role/`, "iam:CreateRole"],
  "aws:lambda/function:Function": [
    `lambda:eu-west-1:${ACCOUNT}:function:`,
    "lambda:CreateFunction",
  ],
  "aws:s3/bucket:Bucket": ["s3:::", "s3:CreateBucket"],
  "aws:scheduler/schedule:Schedule": [
    `scheduler:eu-west-1:${ACCOUNT}:schedule/default/`,
    "scheduler:CreateSchedule",
  ],
  "aws:sns/topic:Topic": [`sns:eu-west-1:${ACCOUNT}:`, "sns:CreateTopic"],
  "aws:sqs/queue:Queue": [`sqs:eu-west-1:${ACCOUNT}:`, "sqs:CreateQueue"],
  "aws:ssm/parameter:Parameter": [`ssm:eu-west-1:${ACCOUNT}:parameter`, "ssm:PutParameter"],
};

const listNamed = () =>
  made.flatMap(({ type, name, inputs }) => {
    const [prefix, action] = NAMED[type] ?? [];
    const physical = inputs["name"] ?? inputs["bucket"] ?? `${name}-0a1b2c3`;
    return prefix === undefined || action === undefined
      ? []
      : [{ type, name, action, arn: `arn:aws:${prefix}${physical}` }];
  });

test("only the given environments of this repository may assume the deployer's role", () => {
  const [role] = listOfType(template, "AWS::IAM::Role");

  expect(role?.["AssumeRolePolicyDocument"].Statement).toMatchObject([
    {
      Action: "sts:AssumeRoleWithWebIdentity",
      Condition: {
        StringEquals: {
          "token.actions.githubusercontent.com:aud": "sts.amazonaws.com",
          "token.actions.githubusercontent.com:sub": [
            "repo:acme/mailproof:environment:production",
            "repo:acme/mailproof:environment:preview",
          ],
        },
      },
    },
  ]);
});

test("an account keeps its existing GitHub provider, and the deployer's role trusts it", () => {
  const other = synthesisePipeline(true);

  expect(listOfType(template, "AWS::IAM::OIDCProvider")).toHaveLength(1);
  expect(listOfType(other, "AWS::IAM::OIDCProvider")).toEqual([]);
  const [role] = listOfType(other, "AWS::IAM::Role");
  expect(role?.["AssumeRolePolicyDocument"].Statement[0].Principal).toEqual({
    Federated: `arn:aws:iam::${ACCOUNT}:oidc-provider/token.actions.githubusercontent.com`,
  });
});

test("every policy of the deployer's role fits AWS's length limit and is attached", () => {
  const [role] = listOfType(template, "AWS::IAM::Role");
  const lengths = [...policies.values()].map(
    (statements) => JSON.stringify(statements).length + 40,
  );

  expect(Math.max(...lengths)).toBeLessThan(6_144);
  expect(role?.["ManagedPolicyArns"]).toHaveLength(policies.size - 1);
});

/** What a deployment does besides, which no type of the output asks for. */
const BESIDES = [
  "removing a bucket with what is in it",
  "the first account and the smoke test's key",
  "the preflight",
  "the stack of the monitoring",
  "the state of SST",
];

const listCdkTypes = (): readonly string[] => {
  const settings = readSettings("production", {
    AWS_REGION: "eu-west-1",
    CALL_EMAIL: "ops@example.com",
  });
  const app = createOperationsApp(
    { app: "mailproof", stage: "production", settings, quota: 1_000 },
    mkdtempSync(join(tmpdir(), "mailproof-operations-")),
  );
  const stack = app.node.findChild("mailproof-production-operations") as Stack;
  const resources: Record<string, { Type: string }> =
    Template.fromStack(stack).toJSON()["Resources"];
  return Object.values(resources).map(({ Type: type }) => type);
};

test("the deployer's role includes rights for each type in SST's and CDK's output, and for no other", () => {
  // What SST asks of AWS itself is a dynamic resource, with its kind in its name.
  const ofSst = made.flatMap(({ type, name }) =>
    type.startsWith("aws:") ? [type] : type.includes("dynamic") ? [name.replace(/^\w+\./, "")] : [],
  );
  const covered = Object.values(RIGHTS)
    .flat()
    .flatMap((right) => right.for);

  expect([...new Set(covered)].toSorted()).toEqual(
    [...new Set([...ofSst, ...listCdkTypes(), ...BESIDES])].toSorted(),
  );
});

test("the deployer's role may create each named resource only under its own name", () => {
  const known = { "iam:PermissionsBoundary": BOUNDARY };
  const refused = listNamed().filter(
    ({ action, arn }) => !isAllowed(deployer, { action, on: arn, known }),
  );

  expect(new Set(listNamed().map(({ type }) => type)).size).toBe(Object.keys(NAMED).length);
  expect(refused).toEqual([]);
});

const arn = (service: string, name: string) => `arn:aws:${service}:eu-west-1:${ACCOUNT}:${name}`;
const role = (name: string) => `arn:aws:iam::${ACCOUNT}:role/${name}`;
const OURS = role("mailproof-production-HttpListJobsRole-abc");
const ADMIN = role("Admin");
const deploys = String(listOfType(template, "AWS::IAM::Role")[0]?.["RoleName"]);
const FOREIGN_LAMBDA = arn("lambda", "function:admin");
const limitedBy = (policy: string) => ({ "iam:PermissionsBoundary": policy });
const passedTo = (service: string) => ({ "iam:PassedToService": `${service}.amazonaws.com` });
const calls = (lambda: string) => ({ "lambda:FunctionArn": lambda });
const stackNamed = (name: string) => arn("cloudformation", `stack/mailproof-${name}/1`);
const ofSst = (name: string) => arn("ssm", `parameter/sst/${name}`);

type Known = Readonly<Record<string, string>>;

test.each<[what: string, action: string, on: string, known?: Known]>([
  ["create a role with the permission limit", "iam:CreateRole", OURS, limitedBy(BOUNDARY)],
  ["pass a role to Lambda", "iam:PassRole", OURS, passedTo("lambda")],
  ["update the monitoring", "cloudformation:CreateChangeSet", stackNamed("pr-7-operations")],
  ["bring up SST in a new account", "ecr:CreateRepository", arn("ecr", "repository/sst-asset")],
  ["read the passphrase of SST", "ssm:GetParameter", ofSst("passphrase/mailproof/pr-7")],
])("the deployer's role may %s", (_what, action, on, known = {}) => {
  expect(isAllowed(deployer, { action, on, known })).toBe(true);
});

test.each<[what: string, action: string, on: string, known?: Known]>([
  ["create a role without the permission limit", "iam:CreateRole", OURS],
  [
    "create a role with another permission limit",
    "iam:CreateRole",
    OURS,
    limitedBy("arn:aws:iam::aws:policy/X"),
  ],
  ["give rights to a role without the permission limit", "iam:PutRolePolicy", OURS],
  ["attach a policy to a role without the permission limit", "iam:AttachRolePolicy", OURS],
  ["remove the permission limit", "iam:DeleteRolePermissionsBoundary", OURS, limitedBy(BOUNDARY)],
  ["change the permission limit", "iam:CreatePolicyVersion", BOUNDARY],
  ["change itself", "iam:PutRolePolicy", role(deploys), limitedBy(BOUNDARY)],
  ["change the trust of another role", "iam:UpdateAssumeRolePolicy", ADMIN],
  ["tag another role", "iam:TagRole", ADMIN],
  ["create a user", "iam:CreateUser", `arn:aws:iam::${ACCOUNT}:user/eve`],
  ["assume a role", "sts:AssumeRole", OURS],
  ["pass a role to another service", "iam:PassRole", OURS, passedTo("glue")],
  ["pass another role", "iam:PassRole", ADMIN, passedTo("lambda")],
  ["change another's Lambda", "lambda:UpdateFunctionCode", FOREIGN_LAMBDA],
  [
    "connect a queue to another's Lambda",
    "lambda:CreateEventSourceMapping",
    "*",
    calls(FOREIGN_LAMBDA),
  ],
  ["change another's machine", "ec2:ModifyInstanceAttribute", "*"],
  ["tag another's machine as ours", "ec2:CreateTags", arn("ec2", "instance/i-1")],
  ["update its own stack", "cloudformation:CreateChangeSet", stackNamed("pipeline")],
  ["read another's table", "dynamodb:GetItem", arn("dynamodb", "table/payroll")],
  ["read secrets of another app", "ssm:GetParameter", ofSst("passphrase/shop/production")],
])("the deployer's role may not %s", (_what, action, on, known = {}) => {
  expect(isAllowed(deployer, { action, on, known })).toBe(false);
});

describe("the permission limit", () => {
  test("every role of a stage carries the permission limit", () => {
    expect(rolesOf().length).toBeGreaterThan(140);
    expect(rolesOf().filter(({ inputs }) => inputs["permissionsBoundary"] !== BOUNDARY)).toEqual(
      [],
    );
  });

  test("the permission limit allows each role's actions on its resources", () => {
    const arns = new Map(
      listNamed().map(({ type, name, arn }) => {
        const service = type.split(":")[1]?.split("/")[0];
        return [`arn:aws:${service}:eu-west-1:${ACCOUNT}:${name}`, arn];
      }),
    );
    const asked = rolesOf()
      .flatMap(({ inputs }) => (inputs["inlinePolicies"] ?? []) as { policy: string }[])
      .flatMap(({ policy }) => parseStatements(policy))
      .flatMap(({ actions, resources }) =>
        actions.flatMap((action) => resources.map((resource) => ({ action, resource }))),
      )
      .map(({ action, resource }) => {
        const [mock = "", ...path] = resource.split("/");
        if (mock === "*") return { action, on: mock };
        return { action, on: [arns.get(mock) ?? `no name of ${mock}`, ...path].join("/") };
      });

    expect(asked.length).toBeGreaterThan(500);
    expect(asked.filter((request) => !isAllowed(limit, request))).toEqual([]);
  });

  test.each<[what: string, action: string, on: string, known?: Known]>([
    ["another's table", "dynamodb:GetItem", arn("dynamodb", "table/payroll")],
    ["the state of SST", "s3:GetObject", "arn:aws:s3:::sst-state-abc/app/mailproof/pr-7.json"],
    ["creating a role", "iam:CreateRole", OURS, limitedBy(BOUNDARY)],
    ["another's Lambda", "lambda:InvokeFunction", FOREIGN_LAMBDA],
    ["a Lambda's code", "lambda:UpdateFunctionCode", arn("lambda", "function:mailproof-pr-7-A")],
  ])("the permission limit prevents a role from using %s", (_what, action, on, known = {}) => {
    expect(isAllowed(limit, { action, on, known })).toBe(false);
  });
});
