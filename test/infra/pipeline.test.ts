import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Stack } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { beforeAll, describe, expect, test } from "vitest";
import { createOperationsApp } from "../../infra/cdk/operations.ts";
import { createPipelineApp, DEPLOYED, listRuntimeActions } from "../../infra/cdk/pipeline.ts";
import { readSettings } from "../../infra/settings.ts";
import { look, parseStatements } from "./queries.ts";
import { type Synthesis, synthesise } from "./synthesise.ts";

// Who deploys from GitHub may make what SST's and CDK's output asks for, and no role without the limit.

const outdir = () => mkdtempSync(join(tmpdir(), "mailproof-pipeline-"));
const BOUNDARY = "arn:aws:iam::123456789012:policy/mailproof-boundary";

const createTemplate = () => {
  const options = {
    app: "mailproof",
    repository: "acme/mailproof",
    environments: ["production", "preview"],
  };
  const app = createPipelineApp(options, outdir());
  // It ends with an error where a rule of AWS Solutions is broken.
  app.synth();
  return Template.fromStack(app.node.findChild("mailproof-pipeline") as Stack);
};
const template = createTemplate();
const propertiesOf = (type: string) =>
  Object.values(template.findResources(type)).map((one) => one["Properties"]);

/** Everything that a stage can have. */
const SETTINGS = {
  DASHBOARD: "cloudfront",
  API_DOMAIN: "api.example.com",
  APP_DOMAIN: "app.example.com",
  MAIL_DOMAIN: "mail.example.com",
  VPC: "own",
  PERMISSIONS_BOUNDARY: BOUNDARY,
};
let made: Synthesis;
let it: ReturnType<typeof look>;
beforeAll(async () => {
  made = await synthesise("production", SETTINGS);
  it = look(made);
});

test("the role is assumed by these environments of this repository alone", () => {
  const [role] = propertiesOf("AWS::IAM::Role");

  expect(role.AssumeRolePolicyDocument.Statement).toMatchObject([
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

test("the services that it may use are those of SST's output and CDK's, and no others", () => {
  const settings = readSettings("production", { AWS_REGION: "eu-west-1" });
  const monitoring = createOperationsApp(
    { app: "mailproof", stage: "production", settings },
    outdir(),
  );
  const stack = monitoring.node.findChild("mailproof-production-operations") as Stack;
  const resources = Template.fromStack(stack).toJSON()["Resources"] as Record<
    string,
    { Type: string }
  >;
  const byCdk = Object.values(resources).map(({ Type: type }) =>
    type.split("::")[1]?.toLowerCase(),
  );
  const bySst = made.made
    .filter(({ type }) => type.startsWith("aws:"))
    .map(({ type }) => type.split(":")[1]?.split("/")[0]);

  const asked = new Set([...byCdk, ...bySst].filter((service) => service !== "iam"));
  expect([...asked].toSorted()).toEqual(Object.keys(DEPLOYED).toSorted());
});

describe("the limit", () => {
  test("is on every role of a stage", () => {
    const roles = it.inputsOf("aws:iam/role:Role");

    expect(roles.length).toBeGreaterThan(70);
    expect(roles.filter((role) => role["permissionsBoundary"] !== BOUNDARY)).toEqual([]);
  });

  test("allows what the roles of a stage are allowed, and nothing of IAM", () => {
    const asked = it
      .inputsOf("aws:iam/role:Role")
      .flatMap((role) => (role["inlinePolicies"] ?? []) as { policy: string }[])
      .flatMap(({ policy }) => parseStatements(policy))
      .flatMap(({ actions }) => actions);
    const allowed = listRuntimeActions();

    expect(asked).not.toEqual([]);
    expect([...new Set(asked)].filter((action) => !allowed.includes(action))).toEqual([]);
    expect(allowed.filter((action) => /^iam:|\*/.test(action))).toEqual([]);
    const [boundary] = propertiesOf("AWS::IAM::ManagedPolicy").filter(
      ({ ManagedPolicyName: name }) => name === "mailproof-boundary",
    );
    expect(boundary.PolicyDocument.Statement).toMatchObject([{ Action: allowed, Effect: "Allow" }]);
  });

  test("is the condition of making a role and of giving it rights, and cannot be changed or taken off", () => {
    const [deployer] = propertiesOf("AWS::IAM::ManagedPolicy").filter(
      ({ ManagedPolicyName: name }) => name === "mailproof-deployer",
    );
    const statements = deployer.PolicyDocument.Statement as readonly {
      readonly Action: readonly string[];
      readonly Condition?: object;
    }[];
    const withLimit = statements.filter(({ Condition: condition }) => condition !== undefined);
    const free = statements
      .filter(({ Condition: condition }) => condition === undefined)
      .flatMap(({ Action: actions }) => actions);

    expect(withLimit).toMatchObject([
      { Condition: { StringEquals: { "iam:PermissionsBoundary": { Ref: expect.any(String) } } } },
    ]);
    expect(withLimit[0]?.Action).toEqual(
      expect.arrayContaining(["iam:AttachRolePolicy", "iam:CreateRole", "iam:PutRolePolicy"]),
    );
    const widening =
      /^iam:(?:\*|Create(?!InstanceProfile)|Put|Attach|Set|DeleteRolePermissions|Update(?!Assume))/;
    expect(free.filter((action) => widening.test(action))).toEqual([]);
  });
});
