import { App, CfnOutput, DefaultStackSynthesizer, Stack, Validations } from "aws-cdk-lib";
import {
  ManagedPolicy,
  OidcProviderNative,
  OpenIdConnectPrincipal,
  PolicyStatement,
  Role,
} from "aws-cdk-lib/aws-iam";
import { AwsSolutionsChecks } from "cdk-nag";
import { GRANTS } from "../iam.ts";

// Who deploys from GitHub: a role that only one repository's environments may assume, what it may do, and a limit that every
// role it makes has. A person with administrator rights deploys it once for an account (docs/operating.md, Deploy from GitHub).

export type PipelineOptions = {
  readonly app: string;
  /** OWNER/NAME on GitHub. */
  readonly repository: string;
  /** The environments of the repository that deploy. */
  readonly environments: readonly string[];
};

const GITHUB = "https://token.actions.githubusercontent.com";

/**
 * The services that SST's and CDK's output make something of, each with what is asked of it. A service whose names do not have
 * the app's in front is not narrowed by name.
 */
export const DEPLOYED: Readonly<Record<string, readonly string[]>> = {
  acm: ["acm:*"],
  apigatewayv2: ["apigateway:*"],
  budgets: ["budgets:ViewBudget", "budgets:ModifyBudget"],
  cloudfront: ["cloudfront:*"],
  cloudwatch: ["cloudwatch:*", "logs:*"],
  dynamodb: ["dynamodb:*"],
  ec2: ["ec2:*"],
  kms: ["kms:*"],
  lambda: ["lambda:*"],
  route53: ["route53:*"],
  s3: ["s3:*"],
  scheduler: ["scheduler:*"],
  servicediscovery: ["servicediscovery:*"],
  ses: ["ses:*ReceiptRule*"],
  sns: ["sns:*"],
  sqs: ["sqs:*"],
  ssm: ["ssm:*Parameter*", "ssm:*Tags*"],
};

/** What the preflight reads, and CloudFormation. */
const ASKED = [
  "cloudformation:*",
  "servicequotas:Get*",
  "servicequotas:List*",
  "sts:GetCallerIdentity",
];

/** To look at roles is free; to make one takes the limit. */
const ROLES_READ = ["iam:Get*", "iam:List*", "iam:TagRole", "iam:UntagRole"];
const ROLES_MADE = [
  "iam:AttachRolePolicy",
  "iam:CreateRole",
  "iam:DeleteRolePolicy",
  "iam:DetachRolePolicy",
  "iam:PutRolePermissionsBoundary",
  "iam:PutRolePolicy",
];
const ROLES_USED = [
  "iam:AddRoleToInstanceProfile",
  "iam:CreateInstanceProfile",
  "iam:DeleteInstanceProfile",
  "iam:DeleteRole",
  "iam:PassRole",
  "iam:RemoveRoleFromInstanceProfile",
  "iam:UpdateAssumeRolePolicy",
];

/** What Lambda and Scheduler do in the name of a role, besides what its needs name. */
const RUNTIME = [
  "ec2:AssignPrivateIpAddresses",
  "ec2:CreateNetworkInterface",
  "ec2:DeleteNetworkInterface",
  "ec2:DescribeNetworkInterfaces",
  "ec2:DescribeSubnets",
  "ec2:UnassignPrivateIpAddresses",
  "kms:Decrypt",
  "lambda:InvokeFunction",
  "logs:CreateLogGroup",
  "logs:CreateLogStream",
  "logs:PutLogEvents",
];

/** The most that a role of a stage may do, whatever its own policy says. */
export const listRuntimeActions = (): readonly string[] =>
  [
    ...new Set([
      ...Object.values(GRANTS).flatMap((grants) => grants.flatMap(({ actions }) => actions)),
      ...RUNTIME,
    ]),
  ].toSorted();

const allow = (actions: readonly string[], resources: readonly string[] = ["*"]) =>
  new PolicyStatement({ actions: [...actions], resources: [...resources] });

const createBoundary = (stack: Stack, app: string): ManagedPolicy =>
  new ManagedPolicy(stack, "Boundary", {
    managedPolicyName: `${app}-boundary`,
    description: `The most that a role of ${app} may do`,
    statements: [allow(listRuntimeActions())],
  });

/** It may neither make a role without the limit, nor take the limit off, nor change the limit or its own role. */
const createDeployerPolicy = (stack: Stack, app: string, boundary: ManagedPolicy) => {
  const roles = [`arn:aws:iam::${stack.account}:role/${app}-*`];
  const profiles = [`arn:aws:iam::${stack.account}:instance-profile/${app}-*`];
  return new ManagedPolicy(stack, "Deployer", {
    managedPolicyName: `${app}-deployer`,
    description: `What a deployment of ${app} needs`,
    statements: [
      allow([...Object.values(DEPLOYED).flat(), ...ASKED, ...ROLES_READ]),
      allow(ROLES_USED, [...roles, ...profiles]),
      new PolicyStatement({
        actions: ROLES_MADE,
        resources: roles,
        conditions: {
          StringEquals: { "iam:PermissionsBoundary": boundary.managedPolicyArn },
        },
      }),
    ],
  });
};

/** Wildcards stand where a deployment makes and removes whatever its service has; roles are limited one by one. */
const WHY_WILDCARDS =
  "SST's provider reads, tags and changes what it made by calls that differ from version to version; roles are limited by the boundary.";

/** Each is a finding of its own. */
const acknowledgeWildcards = (stack: Stack, app: string): void => {
  const actions = [...Object.values(DEPLOYED).flat(), ...ASKED, ...ROLES_READ];
  const wild = actions.filter((action) => action.includes("*")).map((one) => `Action::${one}`);
  const named = ["role", "instance-profile"].map(
    (kind) => `Resource::arn:aws:iam::<AWS::AccountId>:${kind}/${app}-*`,
  );
  for (const finding of [...wild, ...named, "Resource::*"])
    Validations.of(stack).acknowledge({
      id: `AwsSolutions-IAM5[${finding}]`,
      reason: WHY_WILDCARDS,
    });
};

const createPipelineStack = (scope: App, options: PipelineOptions): Stack => {
  const { app, repository, environments } = options;
  const stack = new Stack(scope, `${app}-pipeline`, {
    description: `Who deploys ${app} from GitHub`,
    synthesizer: new DefaultStackSynthesizer({ generateBootstrapVersionRule: false }),
  });
  const provider = new OidcProviderNative(stack, "GitHub", {
    url: GITHUB,
    clientIds: ["sts.amazonaws.com"],
  });
  const host = new URL(GITHUB).host;
  const boundary = createBoundary(stack, app);
  const role = new Role(stack, "Role", {
    roleName: `deploy-${app}`,
    assumedBy: new OpenIdConnectPrincipal(provider, {
      StringEquals: {
        [`${host}:aud`]: "sts.amazonaws.com",
        [`${host}:sub`]: environments.map((name) => `repo:${repository}:environment:${name}`),
      },
    }),
    managedPolicies: [createDeployerPolicy(stack, app, boundary)],
  });
  new CfnOutput(stack, "AWSROLE", { value: role.roleArn });
  new CfnOutput(stack, "PERMISSIONSBOUNDARY", { value: boundary.managedPolicyArn });
  acknowledgeWildcards(stack, app);
  return stack;
};

/** Fails the synthesis if the stack breaks one of cdk-nag's AWS Solutions rules. */
export const createPipelineApp = (options: PipelineOptions, outdir: string): App => {
  const app = new App({ outdir });
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  createPipelineStack(app, options);
  return app;
};
