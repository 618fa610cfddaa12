// The rights of a deployer, as tables. test/infra/pipeline.test.ts compares them with the output of SST and CDK, and cfn-lint
// with AWS's list of actions and of what each can be limited to.

export type Right = {
  /** The types of resources in SST's and CDK's output that need the right, or another step of a deployment in words. */
  readonly for: readonly string[];
  readonly actions: readonly string[];
  /** ARNs after "arn:aws:". "*" replaces a name that AWS generates, or a resource that an action does not have. */
  readonly on: readonly string[];
  readonly when?: Readonly<Record<string, Readonly<Record<string, string | readonly string[]>>>>;
};

/** "lambda/alias" is aws:lambda/alias:Alias in SST's output. Other texts stay as they are. */
const expandType = (text: string): string =>
  text.replace(
    /^(\w+)\/(\w)(\w+)$/,
    (_, module: string, first: string, rest: string) =>
      `aws:${module}/${first}${rest}:${first.toUpperCase()}${rest}`,
  );

/** "lambda: GetAlias UpdateAlias" stands for lambda:GetAlias and lambda:UpdateAlias. */
const expandActions = (text: string): readonly string[] => {
  const [service, ...actions] = text.split(/:?\s+/);
  return actions.map((action) => `${service}:${action}`);
};

/** One right for each line: who needs it, and its actions. All are on the same resources, under the same condition. */
const allowOn = (
  on: readonly string[],
  lines: Readonly<Record<string, string>>,
  when?: Right["when"],
): readonly Right[] =>
  Object.entries(lines).map(([needers, actions]) => ({
    for: needers.split(", ").map(expandType),
    actions: expandActions(actions),
    on,
    ...(when && { when }),
  }));

const ANY = ["*"];
const ROLES = ["iam::ACCOUNT:role/APP-*"];
const FUNCTIONS = ["lambda:*:ACCOUNT:function:APP-*"];
const TABLES = ["dynamodb:*:ACCOUNT:table/APP-*"];

/** Roles, and the Lambdas that act as them: with these rights a deployer could extend its own rights. */
const COMPUTE = [
  ...allowOn(
    ROLES,
    {
      "iam/role": `iam: AttachRolePolicy CreateRole DeleteRolePolicy DetachRolePolicy
        PutRolePermissionsBoundary PutRolePolicy`,
    },
    { StringEquals: { "iam:PermissionsBoundary": "arn:aws:iam::ACCOUNT:policy/APP-boundary" } },
  ),
  ...allowOn(ROLES, {
    "iam/role": `iam: DeleteRole GetRole GetRolePolicy ListAttachedRolePolicies
      ListInstanceProfilesForRole ListRolePolicies TagRole UntagRole UpdateAssumeRolePolicy
      UpdateRole`,
  }),
  ...allowOn(
    ROLES,
    { "lambda/function, scheduler/schedule, ec2/instance": "iam: PassRole" },
    {
      StringEquals: {
        "iam:PassedToService": ["ec2", "lambda", "scheduler"].map(
          (name) => `${name}.amazonaws.com`,
        ),
      },
    },
  ),
  ...allowOn(["iam::ACCOUNT:instance-profile/EgressNatInstanceProfile-*"], {
    "iam/instanceProfile": `iam: AddRoleToInstanceProfile CreateInstanceProfile
      DeleteInstanceProfile GetInstanceProfile RemoveRoleFromInstanceProfile TagInstanceProfile
      UntagInstanceProfile`,
  }),
  ...allowOn(FUNCTIONS, {
    "lambda/alias": "lambda: CreateAlias DeleteAlias GetAlias UpdateAlias",
    // The smoke test invokes a new version before any caller gets it.
    "lambda/function": `lambda: CreateFunction DeleteFunction DeleteFunctionConcurrency GetFunction*
      GetRuntimeManagementConfig InvokeFunction ListTags ListVersionsByFunction PublishVersion
      PutFunctionConcurrency TagResource UntagResource UpdateFunctionCode
      UpdateFunctionConfiguration`,
    "lambda/permission": "lambda: AddPermission GetPolicy RemovePermission",
    "lambda/functionEventInvokeConfig": `lambda: DeleteFunctionEventInvokeConfig
      GetFunctionEventInvokeConfig PutFunctionEventInvokeConfig UpdateFunctionEventInvokeConfig`,
  }),
  ...allowOn(
    ANY,
    {
      "lambda/eventSourceMapping": `lambda: CreateEventSourceMapping DeleteEventSourceMapping
        UpdateEventSourceMapping`,
    },
    { ArnLike: { "lambda:FunctionArn": FUNCTIONS.map((name) => `arn:aws:${name}`) } },
  ),
  ...allowOn(["lambda:*:ACCOUNT:event-source-mapping:*"], {
    "lambda/eventSourceMapping": "lambda: GetEventSourceMapping ListTags TagResource UntagResource",
  }),
  ...allowOn(["scheduler:*:ACCOUNT:schedule/default/APP-*"], {
    "scheduler/schedule": "scheduler: CreateSchedule DeleteSchedule GetSchedule UpdateSchedule",
  }),
  ...allowOn(
    ["/aws/lambda/APP-*", "/aws/vendedlogs/apis/APP-*"].map(
      (name) => `logs:*:ACCOUNT:log-group:${name}`,
    ),
    {
      "cloudwatch/logGroup": `logs: CreateLogGroup DeleteLogGroup DeleteRetentionPolicy
        ListTagsForResource PutRetentionPolicy TagResource UntagResource`,
    },
  ),
  ...allowOn(ANY, { "cloudwatch/logGroup": "logs: DescribeLogGroups" }),
];

const DATA = [
  ...allowOn(TABLES, {
    "dynamodb/table": `dynamodb: CreateTable DeleteTable Describe* ListTagsOfResource TagResource
      UntagResource UpdateContinuousBackups UpdateTable UpdateTimeToLive`,
  }),
  ...allowOn([...TABLES, ...TABLES.map((table) => `${table}/index/*`)], {
    "the first account and the smoke test's key": `dynamodb: ConditionCheckItem DeleteItem GetItem
      PutItem Query UpdateItem`,
  }),
  ...allowOn(["s3:::APP-*"], {
    "s3/bucket": `s3: CreateBucket DeleteBucket GetAccelerateConfiguration GetBucket*
      GetReplicationConfiguration ListBucket ListBucketVersions ListTagsForResource
      PutBucketTagging TagResource UntagResource`,
    "s3/bucketCorsConfiguration": "s3: PutBucketCORS",
    "s3/bucketLifecycleConfiguration": "s3: GetLifecycleConfiguration PutLifecycleConfiguration",
    "s3/bucketNotification": "s3: PutBucketNotification",
    "s3/bucketPolicy": "s3: DeleteBucketPolicy PutBucketPolicy",
    "s3/bucketPublicAccessBlock": "s3: PutBucketPublicAccessBlock",
    "s3/bucketServerSideEncryptionConfiguration": `s3: GetEncryptionConfiguration
      PutEncryptionConfiguration`,
    "s3/bucketVersioning": "s3: PutBucketVersioning",
  }),
  ...allowOn(["s3:::APP-*/*"], {
    "removing a bucket with what is in it": "s3: DeleteObject DeleteObjectVersion",
  }),
  ...allowOn(["s3:::sst-asset-*", "s3:::sst-state-*"], {
    "s3/bucketObjectv2, the state of SST": `s3: CreateBucket DeleteObject GetObject* ListBucket
      PutBucketNotification PutBucketPolicy PutBucketVersioning PutObject PutObjectTagging`,
  }),
  ...allowOn(
    ["bootstrap", "passphrase/APP/*"].map((name) => `ssm:*:ACCOUNT:parameter/sst/${name}`),
    { "the state of SST": "ssm: GetParameter GetParameters PutParameter" },
  ),
  ...allowOn(["ecr:*:ACCOUNT:repository/sst-asset"], {
    "the state of SST": "ecr: CreateRepository DescribeRepositories",
  }),
  ...allowOn(["ssm:*:ACCOUNT:parameter/APP/*"], {
    "ssm/parameter": `ssm: AddTagsToResource DeleteParameter GetParameter GetParameters
      GetParametersByPath ListTagsForResource PutParameter RemoveTagsFromResource`,
  }),
  ...allowOn(ANY, { "ssm/parameter": "ssm: DescribeParameters" }),
  ...allowOn(["sqs:*:ACCOUNT:APP-*"], {
    "sqs/queue, sqs/queuePolicy": `sqs: CreateQueue DeleteQueue GetQueueAttributes GetQueueUrl
      ListQueueTags SetQueueAttributes TagQueue UntagQueue`,
  }),
  // SST sets no names for topics, so Pulumi generates them from the name in the code and some digits.
  ...allowOn(
    ["Feedback-*", "InboundMail-*", "APP-*"].map((name) => `sns:*:ACCOUNT:${name}`),
    {
      "sns/topic, sns/topicPolicy, AWS::SNS::Topic, AWS::SNS::TopicPolicy": `sns: CreateTopic
        DeleteTopic GetDataProtectionPolicy GetTopicAttributes ListTagsForResource
        SetTopicAttributes TagResource UntagResource`,
      "sns/topicSubscription, AWS::SNS::Subscription": `sns: GetSubscriptionAttributes
        ListSubscriptionsByTopic SetSubscriptionAttributes Subscribe Unsubscribe`,
    },
  ),
];

const NETWORK = [
  ...allowOn(ANY, {
    "ec2/vpc": "ec2: CreateVpc DeleteVpc Describe* ModifyVpcAttribute",
    "ec2/subnet": "ec2: CreateSubnet DeleteSubnet ModifySubnetAttribute",
    "ec2/routeTable": `ec2: CreateRoute CreateRouteTable DeleteRoute DeleteRouteTable ReplaceRoute`,
    "ec2/routeTableAssociation": `ec2: AssociateRouteTable DisassociateRouteTable
      ReplaceRouteTableAssociation`,
    "ec2/internetGateway": `ec2: AttachInternetGateway CreateInternetGateway DeleteInternetGateway
      DetachInternetGateway`,
    "ec2/natGateway": "ec2: CreateNatGateway DeleteNatGateway",
    "ec2/eip, ec2/eipAssociation": `ec2: AllocateAddress AssociateAddress DisassociateAddress
      ReleaseAddress`,
    // The interfaces of a removed Lambda stay in the subnets for a while.
    "ec2/defaultSecurityGroup, ec2/securityGroup": `ec2: AuthorizeSecurityGroupEgress
      AuthorizeSecurityGroupIngress CreateSecurityGroup DeleteNetworkInterface DeleteSecurityGroup
      DetachNetworkInterface RevokeSecurityGroupEgress RevokeSecurityGroupIngress`,
    "ec2/vpcEndpoint": "ec2: CreateVpcEndpoint DeleteVpcEndpoints ModifyVpcEndpoint",
    "ec2/instance": "ec2: RunInstances",
    "ec2/networkInterface": `ec2: AttachNetworkInterface CreateNetworkInterface
      DeleteNetworkInterface DetachNetworkInterface ModifyNetworkInterfaceAttribute`,
  }),
  // SST and Pulumi tag their resources. Without the condition a deployer could act as the role of any machine.
  ...allowOn(
    ANY,
    {
      "ec2/instance":
        "ec2: ModifyInstanceAttribute StartInstances StopInstances TerminateInstances",
    },
    { StringEquals: { "aws:ResourceTag/sst:app": "APP" } },
  ),
  ...allowOn(
    [
      "elastic-ip",
      "internet-gateway",
      "natgateway",
      "network-interface",
      "route-table",
      "security-group",
      "subnet",
      "vpc",
      "vpc-endpoint",
    ].map((kind) => `ec2:*:ACCOUNT:${kind}/*`),
    { "ec2/vpc, ec2/eip": "ec2: CreateTags DeleteTags" },
  ),
  // The right applies at the creation only, because the tag marks a machine as ours.
  ...allowOn(
    ["instance", "volume"].map((kind) => `ec2:*:ACCOUNT:${kind}/*`),
    { "ec2/instance": "ec2: CreateTags" },
    { StringEquals: { "ec2:CreateAction": "RunInstances" } },
  ),
  ...allowOn(ANY, {
    "servicediscovery/privateDnsNamespace": `servicediscovery: CreatePrivateDnsNamespace
      DeleteNamespace GetNamespace GetOperation ListNamespaces ListTagsForResource TagResource
      UntagResource`,
  }),
  ...allowOn(ANY, {
    "servicediscovery/privateDnsNamespace": `route53: AssociateVPCWithHostedZone CreateHostedZone
      DeleteHostedZone ListHostedZonesByName`,
  }),
];

const EDGE = [
  ...allowOn(ANY, {
    "acm/certificate, acm/certificateValidation": `acm: AddTagsToCertificate DeleteCertificate
      DescribeCertificate ListTagsForCertificate RemoveTagsFromCertificate RequestCertificate`,
    "route53/record, sst.aws.HostedZoneLookup": `route53: ChangeResourceRecordSets GetChange
      GetHostedZone ListHostedZones ListResourceRecordSets ListTagsForResource`,
    "cloudfront/distribution, sst.aws.DistributionDeploymentWaiter": `cloudfront: CreateDistribution
      DeleteDistribution GetDistribution GetDistributionConfig ListDistributions
      ListTagsForResource TagResource UntagResource UpdateDistribution`,
    "cloudfront/function": `cloudfront: CreateFunction DeleteFunction DescribeFunction GetFunction
      PublishFunction UpdateFunction`,
    "ses/receiptRule, ses/receiptRuleSet": `ses: CreateReceiptRule CreateReceiptRuleSet
      DeleteReceiptRule DeleteReceiptRuleSet DescribeReceiptRule DescribeReceiptRuleSet
      SetReceiptRulePosition UpdateReceiptRule`,
    "kms/key": `kms: CreateKey DescribeKey EnableKeyRotation GetKeyPolicy GetKeyRotationStatus
      ListResourceTags PutKeyPolicy ScheduleKeyDeletion TagResource UntagResource
      UpdateKeyDescription`,
    // CloudWatch delivers an access log with the rights of the caller that requests it.
    "apigatewayv2/stage": `logs: CreateLogDelivery DeleteLogDelivery DescribeResourcePolicies
      GetLogDelivery ListLogDeliveries PutResourcePolicy UpdateLogDelivery`,
  }),
  ...allowOn(
    ["apis", "apis/*", "domainnames", "domainnames/*", "tags/*"].map(
      (path) => `apigateway:*::/${path}`,
    ),
    {
      [["api", "apiMapping", "domainName", "integration", "route", "stage"]
        .map((type) => `apigatewayv2/${type}`)
        .join(", ")]: "apigateway: DELETE GET PATCH POST PUT",
    },
  ),
  ...allowOn(["iam::ACCOUNT:role/aws-service-role/ops.apigateway.amazonaws.com/*"], {
    "apigatewayv2/domainName": "iam: CreateServiceLinkedRole",
  }),
  ...allowOn(["wafv2:us-east-1:ACCOUNT:global/webacl/*"], {
    "cloudfront/distribution": "wafv2: GetWebACL",
  }),
  // Only the services that encrypt with the key may use it.
  ...allowOn(
    ["kms:*:ACCOUNT:key/*"],
    { "kms/key, dynamodb/table": "kms: CreateGrant Decrypt Encrypt GenerateDataKey" },
    { StringLike: { "kms:ViaService": ["dynamodb.*.amazonaws.com", "lambda.*.amazonaws.com"] } },
  ),
];

const MONITORING = [
  ...allowOn(["cloudformation:*:ACCOUNT:stack/APP-*-operations/*"], {
    "the stack of the monitoring": `cloudformation: CreateChangeSet DeleteChangeSet DeleteStack
      DescribeChangeSet DescribeStackEvents DescribeStacks ExecuteChangeSet GetTemplateSummary`,
  }),
  ...allowOn(["cloudwatch:*:ACCOUNT:alarm:APP-*"], {
    "AWS::CloudWatch::Alarm": `cloudwatch: DeleteAlarms DescribeAlarms ListTagsForResource
      PutMetricAlarm TagResource UntagResource`,
  }),
  ...allowOn(["cloudwatch::ACCOUNT:dashboard/APP-*"], {
    "AWS::CloudWatch::Dashboard": `cloudwatch: DeleteDashboards GetDashboard
      ListTagsForResource PutDashboard TagResource UntagResource`,
  }),
  ...allowOn(["budgets::ACCOUNT:budget/APP-*"], {
    "AWS::Budgets::Budget": `budgets: ListTagsForResource ModifyBudget TagResource UntagResource
      ViewBudget`,
  }),
  ...allowOn(ANY, { "the preflight": "iam: SimulatePrincipalPolicy" }),
  ...allowOn(ANY, { "the preflight": "lambda: GetAccountSettings" }),
  ...allowOn(ANY, {
    "the preflight": "servicequotas: GetAWSDefaultServiceQuota GetServiceQuota",
  }),
];

/** Each group is a policy, since AWS allows 6,144 characters in one. */
export const RIGHTS: Readonly<Record<string, readonly Right[]>> = {
  compute: COMPUTE,
  data: DATA,
  network: NETWORK,
  edge: EDGE,
  monitoring: MONITORING,
};
