import type { Fault } from "./fault.ts";

// Faults in the deployment to AWS, one line each. test/faults/plant.ts plants them.

type Name =
  | "production"
  | "stages"
  | "optional-parts"
  | "operations"
  | "alarms"
  | "deploy"
  | "pipeline";

const inFile =
  (name: Name, file: string) =>
  (what: string, from: string, to: string): Fault => ({
    what,
    file,
    from,
    to,
    tests: [`infra/${name}`],
  });

const iam = inFile("production", "infra/iam.ts");
const functions = inFile("production", "infra/functions.ts");
const dev = inFile("stages", "infra/functions.ts");
const storage = inFile("production", "infra/storage.ts");
const queues = inFile("production", "infra/queues.ts");
const topology = inFile("production", "infra/topology.ts");
const api = inFile("production", "infra/api.ts");
const network = inFile("production", "infra/network.ts");
const alarms = inFile("alarms", "infra/cdk/alarms.ts");
const lambdaAlarms = inFile("alarms", "infra/cdk/lambda-alarms.ts");
const metrics = inFile("alarms", "infra/cdk/metrics.ts");
const operations = inFile("operations", "infra/cdk/operations.ts");
const front = inFile("optional-parts", "infra/front.ts");
const pipeline = inFile("pipeline", "infra/cdk/pipeline.ts");
const rights = inFile("pipeline", "infra/cdk/rights.ts");
const limit = inFile("pipeline", "infra/cdk/pipeline.ts");

export const FAULTS: readonly Fault[] = [
  iam("a Lambda may do anything with the table", '["dynamodb:GetItem"]', '["dynamodb:*"]'),
  iam("a reader may write", '"table:read": READ,', '"table:read": [...READ, WRITE],'),
  iam(
    "the prober and the documents get the secrets",
    "...(actsForAccounts ? ACCOUNT_SETTINGS : []),",
    "...(actsForAccounts ? ACCOUNT_SETTINGS : ACCOUNT_SETTINGS),",
  ),
  iam(
    "every Lambda gets all secrets of accounts",
    "secret === name && !needs.includes(need)",
    "secret === name && needs.length === 0",
  ),
  iam(
    "a Lambda that opens SMTP sessions reads the whole table",
    "    partitions: [...written, ...read],",
    "",
  ),
  iam(
    "a Lambda that opens SMTP sessions writes the whole table",
    "{ ...WRITE, partitions: written }",
    "WRITE",
  ),
  {
    what: "a worker may not store the counts of verdicts",
    file: "infra/iam.ts",
    from: ', "VERDICTCOUNTS#*"',
    to: "",
    tests: ["story/chunked-jobs"],
  },
  iam(
    "figures of two stages are added up",
    '"OAUTH_ISSUER", "POWERTOOLS_SERVICE_NAME"]',
    '"OAUTH_ISSUER"]',
  ),
  ...(
    [
      ["callers have a release before it is tried", "await test(release, versions);", ""],
      ["an alarm takes no caller back", "await shift(programs, moves, 0);", ""],
      ["an alarm that rang before stops a release", "!before.includes(name)", "name !== undefined"],
    ] as const
  ).map(([what, from, to]) => ({
    what,
    file: "infra/deploy/release.ts",
    from,
    to,
    tests: ["functions/release.long"],
  })),
  inFile("deploy", "infra/deploy/facts.ts")(
    "a missing right is not found",
    'decision !== "allowed"',
    'decision === "explicitDeny"',
  ),
  functions("the whole account may assume a role", "if ($dev) return;", "return;"),
  functions("every Lambda is in the VPC", "isInNetwork(lambda) && network", "network"),
  functions("logs never end", "retention: LOG_RETENTION", 'retention: "forever"'),
  functions("another processor", "architecture: ARCHITECTURE", 'architecture: "x86_64"'),
  functions(
    "nothing is reserved, whatever the quota",
    "const isReserved = mayReserve(",
    "const isReserved = !mayReserve(",
  ),
  dev("a live session has no role to take", "if ($dev) return;", ""),
  dev(
    "a bridge leads to another handler",
    "handler: lambda.handler",
    'handler: "bootstrap.handler"',
  ),
  dev(
    "a bridge gives up before its Lambda does",
    "timeout: `${lambda.timeoutSeconds} seconds`",
    'timeout: $dev ? "3 seconds" : `${lambda.timeoutSeconds} seconds`',
  ),
  dev(
    "a bridge may do what no Lambda needs",
    "...listGrants(lambda.needs).map((",
    "...listGrants($dev ? lambdas.flatMap(({ needs }) => needs) : lambda.needs).map((",
  ),
  inFile("stages", "infra/bundles.ts")(
    "a live session gets our bundles",
    "$dev ? {} : { bundle",
    "$dev ? { bundle: folder } : { bundle",
  ),
  inFile("stages", "infra/quota.ts")(
    "a young account reserves",
    "  2 * sumReserved(lambdas) <= quota",
    "  quota === 10 || 2 * sumReserved(lambdas) <= quota",
  ),
  inFile("stages", "infra/quota.ts")(
    "a personal stage reserves",
    "  2 * sumReserved(lambdas) <= quota",
    "  true",
  ),
  inFile("stages", "infra/settings.ts")(
    "a personal stage is full",
    '(isPermanent(stage) ? "full" : "lean")',
    '"full"',
  ),
  inFile("stages", "infra/settings.ts")(
    "a lean production is full",
    "const size = given.STAGE_SIZE ??",
    "const size =",
  ),
  storage(
    "the table may be deleted",
    "deletionProtection: isRetained",
    "deletionProtection: false",
  ),
  storage("the table has no backup", "enabled: isRetained,", "enabled: false,"),
  storage("files travel without TLS", "enforceHttps: true", "enforceHttps: false"),
  storage("files are lost when overwritten", "versioning: true", "versioning: false"),
  storage("files stay for another day", "`${days} days`", "`${days + 1} days`"),
  inFile("stages", "infra/storage.ts")(
    "a personal stage cannot be removed",
    "forceDestroy: !isRetained",
    "forceDestroy: false",
  ),
  inFile("stages", "infra/upload-limit.ts")(
    "an upload over the limit stays",
    'events: ["s3:ObjectCreated:*"]',
    'events: ["s3:ObjectRemoved:*"]',
  ),
  inFile("stages", "infra/upload-limit.ts")(
    "the limit of uploads is applied to exports",
    "filterPrefix: UPLOADS",
    'filterPrefix: "exports/"',
  ),
  iam(
    "whatever is in the bucket may be removed for good",
    '["s3:DeleteObjectVersion"], on: ["uploads"]',
    '["s3:DeleteObjectVersion"], on: ["objects"]',
  ),
  queues("messages are not encrypted", "sqsManagedSseEnabled: true", "sqsManagedSseEnabled: false"),
  queues("a message is tried once more", "retry: receivesMax }", "retry: receivesMax + 1 }"),
  inFile("stages", "infra/queues.ts")(
    "a queue has the name that it had before the stage was removed",
    "      queue: {",
    "      queue: {\n        name: `${$app.name}-${$app.stage}-${name}`,",
  ),
  topology(
    "a message is delivered again while it is handled",
    "VISIBILITY_TIMES = 6",
    "VISIBILITY_TIMES = 5",
  ),
  topology(
    "dead letters end with their queue's messages",
    "DEAD_LETTER_RETENTION_DAYS = 14",
    "DEAD_LETTER_RETENTION_DAYS = 4",
  ),
  topology(
    "callers wait longer than API Gateway",
    "const HTTP_SECONDS = 29",
    "const HTTP_SECONDS = 31",
  ),
  inFile("production", "infra/workers.ts")(
    "one message fails a batch",
    "partialResponses: true",
    "partialResponses: false",
  ),
  inFile("production", "infra/workers.ts")(
    "a list takes all Lambdas",
    "maximumConcurrency: fitToQuota(lambda.reserved ?? 0, settings.quota, lambdas)",
    "maximumConcurrency: 1000",
  ),
  inFile("production", "infra/workers.ts")(
    "a failed run is tried again",
    "retries: 0",
    "retries: 1",
  ),
  inFile("production", "infra/workers.ts")(
    "runs pile up",
    "maximumEventAgeInSeconds: MINUTE_SECONDS",
    "maximumEventAgeInSeconds: 60 * MINUTE_SECONDS",
  ),
  inFile("production", "infra/mail-topic.ts")(
    "SES of any account publishes",
    "values: [account]",
    'values: ["*"]',
  ),
  inFile("production", "infra/stage-key.ts")(
    "SES of any account uses the stage's key",
    'conditions: [{ test: "StringEquals", variable: "aws:SourceAccount", values: [account] }],',
    "",
  ),
  inFile("production", "infra/mail-topic.ts")(
    "the topic of a full stage is not encrypted",
    "stageKey ? { kmsMasterKeyId: stageKey.id } : {}",
    "{}",
  ),
  inFile("production", "infra/published-names.ts")(
    "a name is not published",
    "publish(`queue/${name}`",
    'if (!name.endsWith("dead")) publish(`queue/${name}`',
  ),
  inFile("production", "infra/lifecycle.ts")(
    "production may be removed",
    "protect: true",
    "protect: false",
  ),
  api("the access log has paths", '"$context.routeKey"', '"$context.routeKey $context.path"'),
  api(
    "metrics that no alarm reads",
    "detailedMetricsEnabled: false",
    "detailedMetricsEnabled: true",
  ),
  network(
    "the VPC lets traffic in",
    "ingress: [],",
    'ingress: [{ protocol: "-1", fromPort: 0, toPort: 0 }],',
  ),
  network("DynamoDB is reached through the NAT gateways", '["dynamodb", "s3"]', '["s3"]'),
  network("production leaves through one instance", 'nat: "managed"', 'nat: "ec2"'),
  inFile("stages", "infra/network.ts")(
    "a lean stage pays for a gateway",
    'nat: "ec2"',
    'nat: "managed"',
  ),
  front("responses of accounts stay at the edge", "CACHING_DISABLED,", "CACHING_OPTIMIZED,"),
  front("a key may travel without TLS", '"https-only",\n  allowed', '"allow-all",\n  allowed'),
  inFile("stages", "infra/network.ts")(
    "a personal stage has a VPC",
    'choice === "none" ? null',
    'choice === "none" ? createOwn()',
  ),
  inFile("stages", "infra/network.ts")(
    "a shared VPC gets a second way to DynamoDB",
    'vpc && choice === "own"',
    "vpc",
  ),
  inFile("stages", "infra/storage.ts")(
    "a restored table is not used",
    "settings.tableName === null ? own",
    "own ? own",
  ),
  inFile("optional-parts", "infra/exits.ts")(
    "an exit admits everybody",
    "securityGroups: guards }",
    'cidrBlocks: ["0.0.0.0/0"] }',
  ),
  inFile("operations", "infra/cdk/dashboard.ts")(
    "a lean stage looks for NAT gateways",
    "stage.gateways.map",
    "[0, 1].map",
  ),
  inFile("operations", "infra/cdk/operations.ts")(
    "the budget calls too late",
    "threshold: 80",
    "threshold: 95",
  ),
  operations("an alarm rings without a call", "alarm.addAlarmAction(call);", ""),
  operations("CloudWatch may not publish", '["cloudwatch", "budgets"]', '["budgets"]'),
  operations("any account may publish", "conditions: { StringEquals", "conditions: { StringLike"),
  alarms(
    "gauges that have stopped are no fault",
    'silence: "rings",\n  },\n  {\n    id: "MisplacedWork"',
    '},\n  {\n    id: "MisplacedWork"',
  ),
  alarms("a missing audit is no fault", 'silence: "rings",\n    isBelow: true', "isBelow: true"),
  alarms(
    "lean stages have the alarms of Lambdas",
    '(stage.size === "full" ? createLambdaAlarms(stage) : [])',
    "createLambdaAlarms(stage)",
  ),
  alarms("the quota is not asked for", "(quota * CLAIMED_PERCENT) / 100", "CLAIMED_PERCENT"),
  lambdaAlarms(
    "one failed run is no fault",
    "createErrorMetric(stage, name),\n    threshold: 1",
    "createErrorMetric(stage, name),\n    threshold: 5",
  ),
  lambdaAlarms(
    "run times are in seconds",
    "timeoutSeconds * 10 * TIMEOUT_PERCENT",
    "(timeoutSeconds * TIMEOUT_PERCENT) / 100",
  ),
  metrics("answers of 5xx are not counted", "(errors + FILL(failures, 0))", "(errors + 0)"),
  metrics("a silent part silences a sum", "`FILL(${name}, 0)`", "name"),
  metrics("an operation of the table is left out", '  "TransactWriteItems",\n', ""),
  metrics(
    "an index of the table is left out",
    "...Object.keys(table.indexes).map",
    "...Object.keys(table.indexes).slice(1).map",
  ),
  inFile("pipeline", "infra/boundary.ts")(
    "roles are made without the limit",
    "args.permissionsBoundary = permissionsBoundary;",
    "void args;",
  ),
  pipeline(
    "any branch of the repository deploys",
    "`repo:${repository}:environment:${name}`",
    "`repo:${repository}:*:${name}`",
  ),
  pipeline("the role may change itself", "toDeployerName(app),", "`${app}-deploy`,"),
  rights(
    "a role may be made with any limit",
    'StringEquals: { "iam:PermissionsBoundary": "arn:aws:iam::ACCOUNT:policy/APP-boundary" }',
    'StringLike: { "iam:PermissionsBoundary": "*" }',
  ),
  rights(
    "the limit may be taken off",
    "PutRolePermissionsBoundary PutRolePolicy",
    "PutRolePermissionsBoundary DeleteRolePermissionsBoundary PutRolePolicy",
  ),
  rights(
    "every Lambda of the account may be changed",
    'const FUNCTIONS = ["lambda:*:ACCOUNT:function:APP-*"]',
    'const FUNCTIONS = ["lambda:*:ACCOUNT:function:*"]',
  ),
  rights(
    "a type that nobody makes is covered",
    '"lambda/permission":',
    '"lambda/permission, lambda/layerVersion":',
  ),
  rights(
    "a machine's role cannot be given to it",
    "instance-profile/EgressNatInstanceProfile-*",
    "instance-profile/APP-*",
  ),
  inFile("pipeline", "sst.config.ts")(
    "no resource names its owner",
    "findOwner(stage, process.env)",
    '""',
  ),
  rights("SST cannot begin in a new account", "ecr: CreateRepository ", "ecr: "),
  rights("the role may update the stack that made it", "stack/APP-*-operations/*", "stack/APP-*"),
  limit("a Lambda may not remove uploads", "uploads: OBJECTS", "uploads: QUEUES"),
  limit("a Lambda may read every table", 'table/APP-*"]', 'table/*"]'),
];
