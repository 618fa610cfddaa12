import { GRANTS, type ResourcePart, TRACING } from "../iam.ts";
import type { Right } from "./rights.ts";

// The most that a role of a stage may do, whatever its own policies say: what infra/iam.ts grants to some Lambda, on any stage
// of this app, and what Lambda and Scheduler do in a role's name.

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

/** What AWSLambdaBasicExecutionRole and AWSLambdaVPCAccessExecutionRole allow, and what a schedule does. */
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
  // Lambda refuses a role that may not do this while TRACES=on.
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
