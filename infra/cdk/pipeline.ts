import { App, CfnOutput, DefaultStackSynthesizer, Stack, Validations } from "aws-cdk-lib";
import {
  ManagedPolicy,
  OidcProviderNative,
  OpenIdConnectPrincipal,
  PolicyStatement,
  Role,
} from "aws-cdk-lib/aws-iam";
import { AwsSolutionsChecks } from "cdk-nag";
import { GRANTS, type ResourcePart, TRACING } from "../iam.ts";
import { toDeployerName } from "../parameters.ts";
import { RIGHTS, type Right } from "./rights.ts";

// The deployer from GitHub: a role that only one repository's environments may assume, its rights, and a limit that every
// role it makes has. A person with administrator rights deploys it once for an account (docs/operating.md, Deploy from GitHub).

export type PipelineOptions = {
  readonly app: string;
  /** The repository on GitHub, as OWNER/NAME. */
  readonly repository: string;
  /** The environments of the repository that deploy. */
  readonly environments: readonly string[];
  /** True when the account already has its one OIDC provider for GitHub. */
  readonly hasProvider: boolean;
};

const GITHUB = "https://token.actions.githubusercontent.com";
const AUDIENCE = "sts.amazonaws.com";

/** Replaces the names of the app and the account in every text of a right. */
const fillIn = (right: Right, app: string, account: string): Right =>
  JSON.parse(JSON.stringify(right).replaceAll("APP", app).replaceAll("ACCOUNT", account)) as Right;

const toArn = (pattern: string): string => (pattern === "*" ? "*" : `arn:aws:${pattern}`);

const createPolicy = (stack: Stack, app: string, name: string, rights: readonly Right[]) => {
  const filled = rights.map((right) => fillIn(right, app, stack.account));
  acknowledgeWildcards(
    stack,
    rights.map((right) => fillIn(right, app, "<AWS::AccountId>")),
  );
  return new ManagedPolicy(stack, name, {
    managedPolicyName: `${app}-${name}`,
    description: `${app}: what ${name} may do`,
    statements: filled.map(
      ({ actions, on, when }) =>
        new PolicyStatement({
          actions: [...actions],
          resources: on.map(toArn),
          ...(when && { conditions: when }),
        }),
    ),
  });
};

/** cdk-nag reports each wildcard as its own finding. */
const acknowledgeWildcards = (stack: Stack, rights: readonly Right[]): void => {
  const acknowledge = (finding: string, reason: string) =>
    Validations.of(stack).acknowledge({ id: `AwsSolutions-IAM5[${finding}]`, reason });
  for (const { actions, on } of rights) {
    for (const action of actions.filter((one) => one.includes("*")))
      acknowledge(`Action::${action}`, "It only reads, and what exactly differs between releases.");
    for (const pattern of on.filter((one) => one.includes("*")))
      acknowledge(
        `Resource::${toArn(pattern)}`,
        pattern === "*"
          ? "AWS gives these names, or the action is about no single resource."
          : "What SST and CDK make has the app's name in front and digits after it.",
      );
  }
};

const createPipelineStack = (scope: App, options: PipelineOptions): Stack => {
  const { app, repository, environments, hasProvider } = options;
  const stack = new Stack(scope, `${app}-pipeline`, {
    description: `Who deploys ${app} from GitHub`,
    synthesizer: new DefaultStackSynthesizer({ generateBootstrapVersionRule: false }),
  });
  const host = new URL(GITHUB).host;
  const provider = hasProvider
    ? OidcProviderNative.fromOidcProviderArn(
        stack,
        "GitHub",
        `arn:aws:iam::${stack.account}:oidc-provider/${host}`,
      )
    : new OidcProviderNative(stack, "GitHub", { url: GITHUB, clientIds: [AUDIENCE] });
  const boundary = createPolicy(stack, app, "boundary", listLimits());
  const role = new Role(stack, "Role", {
    roleName: toDeployerName(app),
    assumedBy: new OpenIdConnectPrincipal(provider, {
      StringEquals: {
        [`${host}:aud`]: AUDIENCE,
        [`${host}:sub`]: environments.map((name) => `repo:${repository}:environment:${name}`),
      },
    }),
    managedPolicies: Object.entries(RIGHTS).map(([name, rights]) =>
      createPolicy(stack, app, `deploy-${name}`, rights),
    ),
  });
  new CfnOutput(stack, "AWSROLE", { value: role.roleArn });
  new CfnOutput(stack, "PERMISSIONSBOUNDARY", { value: boundary.managedPolicyArn });
  return stack;
};

/** Fails the synthesis if the stack breaks one of cdk-nag's AWS Solutions rules. */
export const createPipelineApp = (options: PipelineOptions, outdir: string): App => {
  const app = new App({ outdir });
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  createPipelineStack(app, options);
  return app;
};

// The permission limit of every role of a stage: the grants of infra/iam.ts, on any stage of this app, and the actions of
// Lambda and Scheduler in a role's name. AWS refuses every other action, whatever the role's own policies say.

const QUEUES = ["sqs:*:ACCOUNT:APP-*"];
const OBJECTS = ["s3:::APP-*/*"];
const FUNCTIONS = ["lambda:*:ACCOUNT:function:APP-*"];

const PARTS: Readonly<Record<ResourcePart, readonly string[]>> = {
  table: ["dynamodb:*:ACCOUNT:table/APP-*"],
  "list index": ["dynamodb:*:ACCOUNT:table/APP-*/index/list"],
  "due index": ["dynamodb:*:ACCOUNT:table/APP-*/index/due"],
  queues: QUEUES,
  "dead letters": QUEUES,
  "own queue": QUEUES,
  bucket: ["s3:::APP-*"],
  objects: OBJECTS,
  uploads: OBJECTS,
  prober: FUNCTIONS,
};

/** The actions of AWSLambdaBasicExecutionRole and AWSLambdaVPCAccessExecutionRole, and a schedule's call of its Lambda. */
const RUNTIME: readonly Right[] = [
  {
    for: ["logs"],
    actions: ["logs:CreateLogGroup", "logs:CreateLogStream", "logs:PutLogEvents"],
    on: ["logs:*:ACCOUNT:log-group:/aws/lambda/APP-*"],
  },
  {
    for: ["Lambdas in a VPC"],
    actions: [
      "ec2:AssignPrivateIpAddresses",
      "ec2:CreateNetworkInterface",
      "ec2:DeleteNetworkInterface",
      "ec2:DescribeNetworkInterfaces",
      "ec2:DescribeSubnets",
      "ec2:UnassignPrivateIpAddresses",
    ],
    on: ["*"],
  },
  { for: ["schedules"], actions: ["lambda:InvokeFunction"], on: FUNCTIONS },
  // With TRACES=on, Lambda refuses a role without these actions.
  { for: ["traces"], actions: TRACING, on: ["*"] },
];

const listLimits = (): readonly Right[] => [
  ...[...new Set(Object.values(GRANTS).flat())].map(({ actions, on }) => ({
    for: ["infra/iam.ts"],
    actions,
    on: [...new Set(on.flatMap((part) => PARTS[part]))],
  })),
  ...RUNTIME,
];
