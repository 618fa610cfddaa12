import type { Right } from "./right.ts";
import { EDGE, MONITORING, NETWORK } from "./rights-network.ts";

// The rights of a deployer, as data. test/infra/rights.test.ts compares them with the output of SST and CDK, and cfn-lint with
// AWS's list of actions and of what each can be limited to.

const ANY = ["*"];
const ROLES = ["iam::ACCOUNT:role/APP-*"];
const FUNCTIONS = ["lambda:*:ACCOUNT:function:APP-*"];
const BUCKETS = ["s3:::APP-*"];
/** SST sets no names for topics, so Pulumi generates them from the name in the code and some digits. */
const TOPICS = ["Feedback-*", "InboundMail-*", "APP-*"].map((name) => `sns:*:ACCOUNT:${name}`);
const TABLES = ["dynamodb:*:ACCOUNT:table/APP-*"];
/** Roles, and the Lambdas that act as them: with these rights a deployer could extend its own rights. */
const COMPUTE: readonly Right[] = [
  {
    for: ["aws:iam/role:Role"],
    actions: [
      "iam:AttachRolePolicy",
      "iam:CreateRole",
      "iam:DeleteRolePolicy",
      "iam:DetachRolePolicy",
      "iam:PutRolePermissionsBoundary",
      "iam:PutRolePolicy",
    ],
    on: ROLES,
    when: {
      StringEquals: { "iam:PermissionsBoundary": "arn:aws:iam::ACCOUNT:policy/APP-boundary" },
    },
  },
  {
    for: ["aws:iam/role:Role"],
    actions: [
      "iam:DeleteRole",
      "iam:GetRole",
      "iam:GetRolePolicy",
      "iam:ListAttachedRolePolicies",
      "iam:ListInstanceProfilesForRole",
      "iam:ListRolePolicies",
      "iam:TagRole",
      "iam:UntagRole",
      "iam:UpdateAssumeRolePolicy",
      "iam:UpdateRole",
    ],
    on: ROLES,
  },
  {
    for: [
      "aws:lambda/function:Function",
      "aws:scheduler/schedule:Schedule",
      "aws:ec2/instance:Instance",
    ],
    actions: ["iam:PassRole"],
    on: ROLES,
    when: {
      StringEquals: {
        "iam:PassedToService": [
          "ec2.amazonaws.com",
          "lambda.amazonaws.com",
          "scheduler.amazonaws.com",
        ],
      },
    },
  },
  {
    for: ["aws:iam/instanceProfile:InstanceProfile"],
    actions: [
      "iam:AddRoleToInstanceProfile",
      "iam:CreateInstanceProfile",
      "iam:DeleteInstanceProfile",
      "iam:GetInstanceProfile",
      "iam:RemoveRoleFromInstanceProfile",
      "iam:TagInstanceProfile",
      "iam:UntagInstanceProfile",
    ],
    on: ["iam::ACCOUNT:instance-profile/EgressNatInstanceProfile-*"],
  },
  {
    for: ["aws:lambda/alias:Alias", "aws:lambda/function:Function"],
    actions: [
      "lambda:CreateAlias",
      "lambda:CreateFunction",
      "lambda:DeleteAlias",
      "lambda:DeleteFunction",
      "lambda:DeleteFunctionConcurrency",
      "lambda:GetAlias",
      "lambda:GetFunction*",
      "lambda:GetRuntimeManagementConfig",
      // The smoke test invokes a new version before any caller gets it.
      "lambda:InvokeFunction",
      "lambda:ListTags",
      "lambda:ListVersionsByFunction",
      "lambda:PublishVersion",
      "lambda:PutFunctionConcurrency",
      "lambda:TagResource",
      "lambda:UntagResource",
      "lambda:UpdateAlias",
      "lambda:UpdateFunctionCode",
      "lambda:UpdateFunctionConfiguration",
    ],
    on: FUNCTIONS,
  },
  {
    for: ["aws:lambda/permission:Permission"],
    actions: ["lambda:AddPermission", "lambda:GetPolicy", "lambda:RemovePermission"],
    on: FUNCTIONS,
  },
  {
    for: ["aws:lambda/functionEventInvokeConfig:FunctionEventInvokeConfig"],
    actions: [
      "lambda:DeleteFunctionEventInvokeConfig",
      "lambda:GetFunctionEventInvokeConfig",
      "lambda:PutFunctionEventInvokeConfig",
      "lambda:UpdateFunctionEventInvokeConfig",
    ],
    on: FUNCTIONS,
  },
  {
    for: ["aws:lambda/eventSourceMapping:EventSourceMapping"],
    actions: [
      "lambda:CreateEventSourceMapping",
      "lambda:DeleteEventSourceMapping",
      "lambda:UpdateEventSourceMapping",
    ],
    on: ANY,
    when: { ArnLike: { "lambda:FunctionArn": "arn:aws:lambda:*:ACCOUNT:function:APP-*" } },
  },
  {
    for: ["aws:lambda/eventSourceMapping:EventSourceMapping"],
    actions: [
      "lambda:GetEventSourceMapping",
      "lambda:ListTags",
      "lambda:TagResource",
      "lambda:UntagResource",
    ],
    on: ["lambda:*:ACCOUNT:event-source-mapping:*"],
  },
  {
    for: ["aws:scheduler/schedule:Schedule"],
    actions: [
      "scheduler:CreateSchedule",
      "scheduler:DeleteSchedule",
      "scheduler:GetSchedule",
      "scheduler:UpdateSchedule",
    ],
    on: ["scheduler:*:ACCOUNT:schedule/default/APP-*"],
  },
  {
    for: ["aws:cloudwatch/logGroup:LogGroup"],
    actions: [
      "logs:CreateLogGroup",
      "logs:DeleteLogGroup",
      "logs:DeleteRetentionPolicy",
      "logs:ListTagsForResource",
      "logs:PutRetentionPolicy",
      "logs:TagResource",
      "logs:UntagResource",
    ],
    on: ["/aws/lambda/APP-*", "/aws/vendedlogs/apis/APP-*"].map(
      (name) => `logs:*:ACCOUNT:log-group:${name}`,
    ),
  },
  { for: ["aws:cloudwatch/logGroup:LogGroup"], actions: ["logs:DescribeLogGroups"], on: ANY },
];

const DATA: readonly Right[] = [
  {
    for: ["aws:dynamodb/table:Table"],
    actions: [
      "dynamodb:CreateTable",
      "dynamodb:DeleteTable",
      "dynamodb:Describe*",
      "dynamodb:ListTagsOfResource",
      "dynamodb:TagResource",
      "dynamodb:UntagResource",
      "dynamodb:UpdateContinuousBackups",
      "dynamodb:UpdateTable",
      "dynamodb:UpdateTimeToLive",
    ],
    on: TABLES,
  },
  {
    for: ["the first account, and the key of the smoke test"],
    actions: [
      "dynamodb:ConditionCheckItem",
      "dynamodb:DeleteItem",
      "dynamodb:GetItem",
      "dynamodb:PutItem",
      "dynamodb:Query",
      "dynamodb:UpdateItem",
    ],
    on: [...TABLES, ...TABLES.map((table) => `${table}/index/*`)],
  },
  {
    for: ["aws:s3/bucket:Bucket"],
    actions: [
      "s3:CreateBucket",
      "s3:DeleteBucket",
      "s3:GetAccelerateConfiguration",
      "s3:GetBucket*",
      "s3:GetReplicationConfiguration",
      "s3:ListBucket",
      "s3:ListBucketVersions",
      "s3:ListTagsForResource",
      "s3:PutBucketTagging",
      "s3:TagResource",
      "s3:UntagResource",
    ],
    on: BUCKETS,
  },
  {
    for: ["removing a bucket with what is in it"],
    actions: ["s3:DeleteObject", "s3:DeleteObjectVersion"],
    on: ["s3:::APP-*/*"],
  },
  {
    for: [
      "aws:s3/bucketCorsConfiguration:BucketCorsConfiguration",
      "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration",
      "aws:s3/bucketNotification:BucketNotification",
      "aws:s3/bucketPolicy:BucketPolicy",
      "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock",
      "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration",
      "aws:s3/bucketVersioning:BucketVersioning",
    ],
    actions: [
      "s3:DeleteBucketPolicy",
      "s3:GetEncryptionConfiguration",
      "s3:GetLifecycleConfiguration",
      "s3:PutBucketCORS",
      "s3:PutBucketNotification",
      "s3:PutBucketPolicy",
      "s3:PutBucketPublicAccessBlock",
      "s3:PutBucketVersioning",
      "s3:PutEncryptionConfiguration",
      "s3:PutLifecycleConfiguration",
    ],
    on: BUCKETS,
  },
  {
    for: ["aws:s3/bucketObjectv2:BucketObjectv2", "the state of SST"],
    actions: [
      "s3:CreateBucket",
      "s3:DeleteObject",
      "s3:GetObject*",
      "s3:ListBucket",
      "s3:PutBucketNotification",
      "s3:PutBucketPolicy",
      "s3:PutBucketVersioning",
      "s3:PutObject",
      "s3:PutObjectTagging",
    ],
    on: ["s3:::sst-asset-*", "s3:::sst-state-*"],
  },
  {
    for: ["the state of SST"],
    actions: ["ssm:GetParameter", "ssm:GetParameters", "ssm:PutParameter"],
    on: ["bootstrap", "passphrase/APP/*"].map((name) => `ssm:*:ACCOUNT:parameter/sst/${name}`),
  },
  {
    for: ["the state of SST"],
    actions: ["ecr:CreateRepository", "ecr:DescribeRepositories"],
    on: ["ecr:*:ACCOUNT:repository/sst-asset"],
  },
  {
    for: ["aws:ssm/parameter:Parameter"],
    actions: [
      "ssm:AddTagsToResource",
      "ssm:DeleteParameter",
      "ssm:GetParameter",
      "ssm:GetParameters",
      "ssm:GetParametersByPath",
      "ssm:ListTagsForResource",
      "ssm:PutParameter",
      "ssm:RemoveTagsFromResource",
    ],
    on: ["ssm:*:ACCOUNT:parameter/APP/*"],
  },
  { for: ["aws:ssm/parameter:Parameter"], actions: ["ssm:DescribeParameters"], on: ANY },
  {
    for: ["aws:sqs/queue:Queue", "aws:sqs/queuePolicy:QueuePolicy"],
    actions: [
      "sqs:CreateQueue",
      "sqs:DeleteQueue",
      "sqs:GetQueueAttributes",
      "sqs:GetQueueUrl",
      "sqs:ListQueueTags",
      "sqs:SetQueueAttributes",
      "sqs:TagQueue",
      "sqs:UntagQueue",
    ],
    on: ["sqs:*:ACCOUNT:APP-*"],
  },
  {
    for: [
      "aws:sns/topic:Topic",
      "aws:sns/topicPolicy:TopicPolicy",
      "AWS::SNS::Topic",
      "AWS::SNS::TopicPolicy",
    ],
    actions: [
      "sns:CreateTopic",
      "sns:DeleteTopic",
      "sns:GetDataProtectionPolicy",
      "sns:GetTopicAttributes",
      "sns:ListTagsForResource",
      "sns:SetTopicAttributes",
      "sns:TagResource",
      "sns:UntagResource",
    ],
    on: TOPICS,
  },
  {
    for: ["aws:sns/topicSubscription:TopicSubscription", "AWS::SNS::Subscription"],
    actions: [
      "sns:GetSubscriptionAttributes",
      "sns:ListSubscriptionsByTopic",
      "sns:SetSubscriptionAttributes",
      "sns:Subscribe",
      "sns:Unsubscribe",
    ],
    on: TOPICS,
  },
];

/** Each group is a policy, since AWS allows 6,144 characters in one. */
export const RIGHTS: Readonly<Record<string, readonly Right[]>> = {
  compute: COMPUTE,
  data: DATA,
  network: NETWORK,
  edge: EDGE,
  monitoring: MONITORING,
};
