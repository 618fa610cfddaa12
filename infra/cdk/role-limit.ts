import { GRANTS, type ResourcePart, TRACING } from "../iam.ts";
import type { Right } from "./rights.ts";

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

export const listLimits = (): readonly Right[] => [
  ...[...new Set(Object.values(GRANTS).flat())].map(({ actions, on }) => ({
    for: ["infra/iam.ts"],
    actions,
    on: [...new Set(on.flatMap((part) => PARTS[part]))],
  })),
  ...RUNTIME,
];
