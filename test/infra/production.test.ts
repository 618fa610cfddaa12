import { endpoints } from "@mailproof/api/endpoints";
import { CORS } from "@mailproof/api/http/cors";
import { schedules, workers } from "@mailproof/core/background/workers";
import { BLOB_RETENTION_DAYS } from "@mailproof/core/ports/blobs";
import { isDeadLetterQueue, toDeadLetterQueue } from "@mailproof/core/ports/queue";
import type { Settings } from "@mailproof/core/ports/settings";
import { createLambdaWorld } from "@mailproof/functions/lambda-world";
import { beforeAll, describe, expect, test } from "vitest";
import { readSettings } from "../../infra/settings.ts";
import { type Lambda, lambdas, listPublishedNames, scheduleSpecs } from "../../infra/topology.ts";
import { isSecret, look, parseStatements } from "./queries.ts";
import { type Synthesis, synthesise } from "./synthesise.ts";

let made: Synthesis;
let it: ReturnType<typeof look>;

beforeAll(async () => {
  made = await synthesise("production", { CONCURRENCY_QUOTA: "1000" });
  it = look(made);
});

const ARN = "arn:aws:";
const getArn = (service: string, name: string) => `${ARN}${service}:eu-west-1:123456789012:${name}`;
const TABLE = getArn("dynamodb", "TableTable");
const OBJECTS = `${getArn("s3", "BlobsBucket")}/*`;
const UPLOADS = `${getArn("s3", "BlobsBucket")}/uploads/*`;
const PROBER = getArn("lambda", "ProberFunction");

/** The Lambdas that talk to mail servers. One that is added here needs a reason. */
const IN_NETWORK = ["Prober", "WorkerChunks", "WorkerSingles"];
const VPC_ACCESS = "AWSLambdaVPCAccessExecutionRole";

const inLetters = (name: string) =>
  `-${name}`.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase());
const queueArn = (name: string) => getArn("sqs", `Queue${inLetters(name)}Queue`);

const QUEUES = workers.map(({ queue }) => queue).filter(({ name }) => !isDeadLetterQueue(name));

test("a stage with an unknown quota is refused with a reference to npm run deploy", async () => {
  await expect(synthesise("production", { CONCURRENCY_QUOTA: "" })).rejects.toThrow(
    "Run npm run deploy -- --stage production",
  );
});

test("a stage without CONCURRENCY_QUOTA equals the stage of npm run deploy with its stored quota", async () => {
  const stored = it
    .inputsOf("aws:ssm/parameter:Parameter")
    .find(({ name }) => name === "/mailproof/production/quota")?.["value"].value;
  const again = await synthesise("production", { CONCURRENCY_QUOTA: "", STORED_QUOTA: stored });

  expect(stored).toBe("1000");
  expect(listTexts(again)).toEqual(listTexts(made));
});

/** Each stage draws eight letters for its names, and an empty archive has the time in it. */
const listTexts = ({ made: all }: Synthesis) =>
  all
    .map((one) => JSON.stringify(one).replaceAll(/-(?:[a-z]{8}|code-[0-9a-f]{64}\.zip)(?=")/g, ""))
    .toSorted();

test("a production stage creates every described resource once", () => {
  const names = it.of("aws:lambda/function:Function").map(({ name }) => name);

  expect(names.toSorted()).toEqual(lambdas.map(({ name }) => `${name}Function`).toSorted());
  expect(made.built.toSorted()).toEqual(lambdas.map(({ handler }) => handler).toSorted());
  expect(it.of("aws:dynamodb/table:Table")).toHaveLength(1);
  expect(it.of("aws:s3/bucket:Bucket").map(({ name }) => name)).toEqual(["BlobsBucket"]);
  expect(it.of("aws:sqs/queue:Queue")).toHaveLength(2 * QUEUES.length);
  expect(it.of("aws:lambda/eventSourceMapping:EventSourceMapping")).toHaveLength(workers.length);
  expect(it.of("aws:iam/role:Role")).toHaveLength(
    lambdas.length + it.of("aws:scheduler/schedule:Schedule").length,
  );
});

test("a Lambda's logs and metrics contain app and stage, which separates two stages of an account", () => {
  for (const { name } of lambdas)
    expect(it.settingsOf(name)["POWERTOOLS_SERVICE_NAME"]).toBe("mailproof-production");
});

test("AWS protects a production stage from removal", () => {
  expect(made.app).toMatchObject({ protect: true, removal: "retain" });
});

describe("the API of a production stage", () => {
  const ROUTE = "aws:apigatewayv2/route:Route";

  test("the API contains a route per endpoint, HEAD beside GET, and routes for tools and unknown paths", () => {
    const routes = it.inputsOf(ROUTE).map(({ routeKey }) => String(routeKey));

    expect(routes.toSorted()).toEqual(
      [
        ...endpoints.map(({ route }) => route),
        ...endpoints
          .filter(({ route }) => route.startsWith("GET "))
          .map(({ route }) => route.replace("GET", "HEAD")),
        "ANY /mcp",
        "ANY /compat/{vendor}/{path+}",
        "$default",
      ].toSorted(),
    );
  });

  test("each API route calls the Lambda of its endpoint", () => {
    const integrations = it.of("aws:apigatewayv2/integration:Integration");
    const handlers = it.inputsOf(ROUTE).map(({ routeKey, target }) => {
      const integration = integrations.find(({ name }) => target === `integrations/${name}-id`);
      const uri = String(integration?.inputs["integrationUri"]);
      const lambda = it.lambda(uri.split(":").at(-2)?.replace(/Live$/, "") ?? "");
      return [routeKey, lambda["handler"]];
    });

    expect(Object.fromEntries(handlers)).toMatchObject({
      "POST /v1/verify": "packages/functions/generated/http/verify-email.handler",
      "GET /v1/jobs/{id}": "packages/functions/generated/http/get-job.handler",
      "ANY /mcp": "packages/functions/src/http/mcp.handler",
      "ANY /compat/{vendor}/{path+}": "packages/functions/src/http/compat.handler",
      $default: "packages/functions/src/http/$default.handler",
    });
    expect(new Set(handlers.map(([, handler]) => handler)).size).toBe(endpoints.length + 3);
  });

  test("the API accepts calls from any page, as the local server does", () => {
    const [api] = it.inputsOf("aws:apigatewayv2/api:Api");

    expect(api?.["corsConfiguration"]).toEqual({
      allowOrigins: CORS.allowOrigins,
      allowMethods: CORS.allowMethods,
      allowHeaders: CORS.allowHeaders,
      exposeHeaders: CORS.exposeHeaders,
      maxAge: CORS.maxAgeSeconds,
    });
  });

  test("the API throttles requests and logs no IP address and no email address", () => {
    const [stage] = it.inputsOf("aws:apigatewayv2/stage:Stage");

    expect(stage?.["defaultRouteSettings"]).toMatchObject({
      throttlingRateLimit: 2_000,
      throttlingBurstLimit: 4_000,
      // Ninety routes with four metrics each, at $0.30, that no alarm reads.
      detailedMetricsEnabled: false,
    });
    const format = String(stage?.["accessLogSettings"]?.format);
    expect(format).toContain("$context.routeKey");
    expect(format).not.toMatch(/sourceIp|userAgent|context\.path|\bip\b/i);
  });
});

test("callers and queues use each Lambda's alias, which a deployment creates and never moves", () => {
  const aliases = it.inputsOf("aws:lambda/alias:Alias");
  const published = lambdas
    .filter(({ name }) => it.lambda(name)["publish"])
    .map(({ name }) => name);
  const versions = it
    .inputsOf("aws:ssm/parameter:Parameter")
    .find(({ name }) => name === "/mailproof/production/versions")?.["value"].value;

  expect(published).toEqual(
    lambdas.map(({ name }) => name).filter((name) => /^(?:Http|Worker)/.test(name)),
  );
  expect(JSON.parse(versions)).toEqual(Object.fromEntries(published.map((name) => [name, "1"])));
  expect(aliases).toHaveLength(published.length);
  for (const alias of aliases) expect(alias).toMatchObject({ name: "live", functionVersion: "1" });
});

describe("permissions in a production stage", () => {
  const READ_AND_WRITE = [
    `dynamodb:ConditionCheckItem ${TABLE}`,
    `dynamodb:DeleteItem ${TABLE}`,
    `dynamodb:GetItem ${TABLE}`,
    `dynamodb:PutItem ${TABLE}`,
    `dynamodb:Query ${TABLE} ${TABLE}/index/list ${TABLE}/index/due`,
    `dynamodb:UpdateItem ${TABLE}`,
  ];
  /** Written out by hand, and not read from infra/iam.ts: a change that widens that has to widen this. */
  const MAY: Readonly<Record<string, readonly string[]>> = {
    "table:read": READ_AND_WRITE.filter((one) => /GetItem|Query/.test(one)),
    "table:readwrite": READ_AND_WRITE,
    "table:rows": [
      ...READ_AND_WRITE.filter((one) => !one.includes("Query")),
      `dynamodb:Query ${TABLE}`,
    ],
    "table:passkeys": [
      ...READ_AND_WRITE.filter((one) => !one.includes("Query")),
      `dynamodb:Query ${TABLE}`,
    ],
    "table:mail-hosts": [
      ...READ_AND_WRITE.filter((one) => !one.includes("Query")),
      `dynamodb:Query ${TABLE}`,
      `dynamodb:Query ${TABLE}/index/list`,
    ],
    "queue:depth": [
      `sqs:GetQueueAttributes ${QUEUES.map((queue) => queueArn(toDeadLetterQueue(queue).name)).join(" ")}`,
    ],
    "queue:send": [`sqs:SendMessage ${QUEUES.map(({ name }) => queueArn(name)).join(" ")}`],
    "blobs:read": [`s3:GetObject ${OBJECTS}`, `s3:ListBucket ${getArn("s3", "BlobsBucket")}`],
    "blobs:write": [
      `s3:AbortMultipartUpload ${OBJECTS}`,
      `s3:DeleteObject ${OBJECTS}`,
      `s3:PutObject ${OBJECTS}`,
    ],
    "uploads:remove": [`s3:DeleteObjectVersion ${UPLOADS}`],
    mail: [`lambda:InvokeFunction ${PROBER}`],
    smtp: [],
    dns: [],
  };
  const receiving = (queue: string) =>
    [
      "sqs:ChangeMessageVisibility",
      "sqs:DeleteMessage",
      "sqs:GetQueueAttributes",
      "sqs:ReceiveMessage",
    ].map((action) => `${action} ${queueArn(queue)}`);

  const allowed = (lambda: string) =>
    it
      .allowedTo(lambda)
      .flatMap(({ actions, resources }) => actions.map((one) => `${one} ${resources.join(" ")}`))
      .toSorted();

  test("a production stage's permissions contain no action and no resource with a star", () => {
    const statements = lambdas.flatMap(({ name }) => it.allowedTo(name));

    expect(statements.flatMap(({ actions }) => actions).filter((one) => one.includes("*"))).toEqual(
      [],
    );
    // Within our own table and our own bucket, and nowhere else.
    expect(
      statements
        .flatMap(({ resources }) => resources)
        .filter((one) => one.includes("*"))
        .filter((one) => ![OBJECTS, UPLOADS].includes(one)),
    ).toEqual([]);
  });

  test("the permissions of every Lambda equal its needs", () => {
    const needed = lambdas.map(({ name, needs }) => {
      const queue = workers.find((one) => `Worker${inLetters(one.queue.name)}` === name)?.queue;
      const may = needs.flatMap((need) =>
        need === "queue:receive" ? receiving(queue?.name ?? "") : (MAY[need] ?? []),
      );
      return [name, [...new Set(may)].toSorted()];
    });

    expect(lambdas.map(({ name }) => [name, allowed(name)])).toEqual(needed);
  });

  test("a Lambda that parses strangers' bytes may reach only some items, and every other Lambda all", () => {
    const READS = ["dynamodb:GetItem", "dynamodb:Query"];
    const WRITES = ["ConditionCheck", "Delete", "Put", "Update"].map(
      (one) => `dynamodb:${one}Item`,
    );
    const OF_HOSTS = ["ASKED#*", "CANARIES", "DOMAIN#*", "EXIT#*", "HEALTH", "PROVIDER#*"];
    const OF_JOBS = ["ADDRESSES", "CHUNKS", "DEFERRED", "INDEX", "JOB", "RESULTS"];
    const OF_MONEY = ["BALANCE", "CLAIM", "EVENT", "LEDGER", "SPENT", "USAGE"];
    const OF_PASSKEYS = ["CHALLENGE", "PASSKEY", "PERSON", "SESSION"].map((one) => `${one}#*`);
    const OF_VERDICTS = ["CACHED", "VERDICT", "VERDICTCOUNTS"];
    const OF_ROWS = [
      ...OF_HOSTS,
      ...[...OF_JOBS, ...OF_MONEY, ...OF_VERDICTS].map((one) => `${one}#*`),
    ];
    const limited = lambdas.flatMap(({ name }) =>
      it
        .allowedTo(name)
        .flatMap(({ actions, conditions }) =>
          (conditions ?? []).map((condition) => ({ name, actions, ...condition })),
        ),
    );

    const limit = (name: string, actions: readonly string[], values: readonly string[]) => ({
      name,
      actions,
      test: "ForAllValues:StringLike",
      variable: "dynamodb:LeadingKeys",
      values,
    });
    const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1);
    expect(limited.toSorted(byName)).toEqual([
      limit("HttpSignInWithPasskey", READS, OF_PASSKEYS),
      limit("HttpSignInWithPasskey", WRITES, OF_PASSKEYS),
      limit("Prober", READS, OF_HOSTS),
      limit("Prober", WRITES, OF_HOSTS),
      limit("Prober", ["dynamodb:Query"], ["CIRCUITS"]),
      ...["WorkerChunks", "WorkerSingles"].flatMap((name) => [
        limit(name, READS, [...OF_ROWS, "ACCOUNT#*", "SENTTO#*"]),
        limit(name, WRITES, OF_ROWS),
      ]),
    ]);
  });

  test("the permissions of an endpoint equal its declared needs", () => {
    const declared = endpoints.find(({ route }) => route === "GET /v1/account")?.needs ?? [];

    expect(allowed("HttpGetAccount")).toEqual(
      declared.flatMap((need) => MAY[need] ?? []).toSorted(),
    );
    expect(allowed("HttpGetCatalog")).toEqual([]);
    expect(allowed("HttpDefault")).toEqual([]);
  });

  test("a schedule may call its own Lambda and nothing else", () => {
    const schedules = it
      .of("aws:iam/role:Role")
      .filter(({ name }) => !lambdas.some((lambda) => name === `${lambda.name}Role`));
    const allowedTo = schedules.flatMap(({ name, inputs }) =>
      (inputs["inlinePolicies"] as { policy: string }[])
        .flatMap(({ policy }) => parseStatements(policy))
        .map(({ actions, resources }) => `${name}: ${actions.join(" ")} ${resources.join(" ")}`),
    );

    expect(allowedTo.toSorted()).toEqual(
      scheduleSpecs
        .map(({ lambda: { name } }) => {
          const arn = getArn("lambda", `${name}Function`);
          return `Every${name}Role: lambda:InvokeFunction ${arn}`;
        })
        .toSorted(),
    );
    for (const { inputs } of schedules) expect(inputs["managedPolicyArns"] ?? []).toEqual([]);
  });

  test("the managed policies of a production stage allow only log writing and the VPC", () => {
    const managed = it
      .of("aws:iam/role:Role")
      .flatMap(({ name, inputs }) =>
        ((inputs["managedPolicyArns"] ?? []) as string[]).map((arn) => `${name} ${arn}`),
      )
      .filter((one) => !one.endsWith("service-role/AWSLambdaBasicExecutionRole"));

    expect(managed.toSorted()).toEqual(
      IN_NETWORK.map((name) => `${name}Role ${ARN}iam::aws:policy/service-role/${VPC_ACCESS}`),
    );
  });

  test("only Lambda and the scheduler may assume the roles of a production stage", () => {
    const trusted = it.inputsOf("aws:iam/role:Role").map(({ assumeRolePolicy }) => {
      const text = JSON.stringify(assumeRolePolicy);
      return [...text.matchAll(/[\w.]+\.amazonaws\.com|arn:aws:iam[^"\\]*/g)].map(([one]) => one);
    });

    expect(new Set(trusted.flat())).toEqual(
      new Set(["lambda.amazonaws.com", "scheduler.amazonaws.com"]),
    );
  });
});

describe("queues in a production stage", () => {
  const queueNamed = (name: string) =>
    it.of("aws:sqs/queue:Queue").find((one) => one.name === `Queue${inLetters(name)}Queue`)?.inputs;

  test.each(QUEUES)(
    "the queue $name delivers a message as often as the core states and then buries it",
    (queue) => {
      const redrive = JSON.parse(String(queueNamed(queue.name)?.["redrivePolicy"])) as object;

      expect(redrive).toEqual({
        deadLetterTargetArn: queueArn(toDeadLetterQueue(queue).name),
        maxReceiveCount: queue.receivesMax,
      });
      expect(queueNamed(toDeadLetterQueue(queue).name)?.["redrivePolicy"]).toBeUndefined();
    },
  );

  test.each(QUEUES)("the queue $name keeps dead letters for longer than messages", (queue) => {
    const retentionSeconds = Number(queueNamed(queue.name)?.["messageRetentionSeconds"]);
    const dead = Number(queueNamed(toDeadLetterQueue(queue).name)?.["messageRetentionSeconds"]);

    expect(retentionSeconds).toBeGreaterThanOrEqual(4 * 86_400);
    expect(dead).toBeGreaterThan(retentionSeconds);
  });

  test.each(workers.map(({ queue }) => queue))(
    "the queue $name hides a message for six times its worker's time limit",
    ({ name, visibilitySeconds }) => {
      const { timeout } = it.lambda(`Worker${inLetters(name)}`);

      expect(timeout).toBe(Math.min(visibilitySeconds, 900));
      expect(queueNamed(name)?.["visibilityTimeoutSeconds"]).toBeGreaterThanOrEqual(6 * timeout);
    },
  );

  test.each(workers.map(({ queue }) => queue))(
    "the worker of the queue $name reads single messages, at most as many as may run",
    ({ name }) => {
      const source = it
        .inputsOf("aws:lambda/eventSourceMapping:EventSourceMapping")
        .find(({ eventSourceArn }) => eventSourceArn === queueArn(name));
      const worker = `Worker${inLetters(name)}`;

      expect(source).toMatchObject({
        functionName: getArn("lambda", `function:${worker}Live:live`),
        functionResponseTypes: ["ReportBatchItemFailures"],
        scalingConfig: { maximumConcurrency: it.lambda(worker)["reservedConcurrentExecutions"] },
      });
    },
  );
});

test("the Lambdas reserved for background work leave callers most of the account's Lambdas", () => {
  const reserved = it
    .inputsOf("aws:lambda/function:Function")
    .map(({ reservedConcurrentExecutions: some }) => Number(some ?? 0));

  expect(reserved.filter((some) => some > 0)).toHaveLength(
    lambdas.filter((lambda) => lambda.reserved !== null).length,
  );
  expect(reserved.reduce((sum, some) => sum + some, 0)).toBeLessThanOrEqual(450);
  const http = it
    .inputsOf("aws:lambda/function:Function")
    .filter(({ handler }) => String(handler).includes("/http/"));
  expect(http).not.toEqual([]);
  for (const { reservedConcurrentExecutions: some } of http) expect(some).toBeUndefined();
});

test("the schedules run at the core's intervals, without retries and without overlap", () => {
  const rates = it
    .inputsOf("aws:scheduler/schedule:Schedule")
    .map(({ scheduleExpression, target }) => [
      String(target.arn).split(":").at(-1),
      scheduleExpression,
      target.retryPolicy,
    ]);

  for (const { name, everySeconds } of schedules)
    expect(rates).toContainEqual([
      `Schedule${inLetters(name)}Function`,
      everySeconds === 60 ? "rate(1 minute)" : `rate(${everySeconds / 60} minutes)`,
      { maximumRetryAttempts: 0 },
    ]);
  const invoked = it.inputsOf("aws:lambda/functionEventInvokeConfig:FunctionEventInvokeConfig");
  expect(invoked).toHaveLength(rates.length);
  for (const one of invoked)
    expect(one).toMatchObject({ maximumRetryAttempts: 0, maximumEventAgeInSeconds: 60 });
});

test("a stage without MAIL_DOMAIN receives no mail", () => {
  expect(made.made.filter(({ type }) => type.startsWith("aws:ses/"))).toEqual([]);
  expect(it.settingsOf("HttpCreateMailTest")).not.toHaveProperty("MAIL_DOMAIN");
});

test("S3 calls the Lambda that limits uploads after each upload and at no other time", () => {
  expect(it.inputsOf("aws:s3/bucketNotification:BucketNotification")).toMatchObject([
    {
      lambdaFunctions: [
        {
          lambdaFunctionArn: getArn("lambda", "UploadLimitFunction"),
          events: ["s3:ObjectCreated:*"],
          filterPrefix: "uploads/",
        },
      ],
    },
  ]);
  const settings = it.settingsOf("UploadLimit");
  expect(settings).toHaveProperty("BUCKET_NAME");
  expect(settings).not.toHaveProperty("KEY_PEPPER");
});

describe("the network of a production stage", () => {
  test("the stage's network contains the Lambdas that talk to mail servers, and no other", () => {
    const inside = it
      .of("aws:lambda/function:Function")
      .filter(({ inputs }) => inputs["vpcConfig"] !== undefined);

    expect(inside.map(({ name }) => name).toSorted()).toEqual(
      IN_NETWORK.map((name) => `${name}Function`),
    );
    for (const { inputs } of inside)
      expect(inputs["vpcConfig"]).toEqual({
        securityGroupIds: ["EgressGuard-id"],
        subnetIds: ["EgressPrivateSubnet1-id", "EgressPrivateSubnet2-id"],
      });
  });

  test("the stage's network connects to mail servers through two fixed addresses", () => {
    const gateways = it.inputsOf("aws:ec2/natGateway:NatGateway");

    expect(gateways.map(({ allocationId }) => allocationId)).toEqual([
      "EgressElasticIp1-id",
      "EgressElasticIp2-id",
    ]);
  });

  test("the stage's network connects to DynamoDB and S3 without the NAT gateways", () => {
    expect(it.inputsOf("aws:ec2/vpcEndpoint:VpcEndpoint")).toEqual(
      ["dynamodb", "s3"].map((service) => ({
        vpcId: "EgressVpc-id",
        vpcEndpointType: "Gateway",
        serviceName: `com.amazonaws.eu-west-1.${service}`,
        routeTableIds: ["EgressPrivateRouteTable1-id", "EgressPrivateRouteTable2-id"],
      })),
    );
  });

  test("the stage's network accepts no connection", () => {
    expect(it.inputsOf("aws:ec2/securityGroup:SecurityGroup")).toMatchObject([{ ingress: [] }]);
    expect(it.of("aws:ec2/instance:Instance")).toEqual([]);
  });
});

describe("public access to a production stage", () => {
  test("a production stage exposes no file to the public", () => {
    const nothing = {
      blockPublicAcls: true,
      blockPublicPolicy: true,
      ignorePublicAcls: true,
      restrictPublicBuckets: true,
    };
    expect(it.inputsOf("aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock")).toMatchObject([
      nothing,
    ]);
    const [policy] = it.inputsOf("aws:s3/bucketPolicy:BucketPolicy");
    expect(parseStatements(policy?.["policy"])).toMatchObject([
      {
        effect: "Deny",
        actions: ["s3:*"],
        conditions: [{ variable: "aws:SecureTransport", values: ["false"] }],
      },
    ]);
  });

  test("only our API may call the Lambdas, and only our bucket the upload limit", () => {
    expect(it.of("aws:lambda/functionUrl:FunctionUrl")).toEqual([]);
    const permissions = it.inputsOf("aws:lambda/permission:Permission");
    const isOfUploads = ({ function: called }: Record<string, unknown>) =>
      called === getArn("lambda", "UploadLimitFunction");
    expect(permissions.filter(isOfUploads)).toMatchObject([
      { principal: "s3.amazonaws.com", sourceArn: getArn("s3", "BlobsBucket") },
    ]);
    const ofApi = permissions.filter((one) => !isOfUploads(one));
    expect(ofApi).not.toEqual([]);
    for (const { principal, sourceArn } of ofApi)
      expect([principal, sourceArn]).toEqual([
        "apigateway.amazonaws.com",
        `${getArn("execute-api", "ApiApi")}/*`,
      ]);
  });

  test("a production stage exposes no queue or topic: only this account's SES publishes, and the topic forwards", () => {
    const policies = [
      ...it.inputsOf("aws:sqs/queuePolicy:QueuePolicy"),
      ...it.inputsOf("aws:sns/topicPolicy:TopicPolicy"),
    ].flatMap(({ policy }) => parseStatements(policy));

    expect(
      policies.map(({ principals, conditions }) => [
        principals?.[0]?.identifiers,
        conditions?.[0]?.values,
      ]),
    ).toEqual([
      [["sns.amazonaws.com"], [getArn("sns", "Feedback")]],
      [["ses.amazonaws.com"], ["123456789012"]],
    ]);
  });
});

describe("stored data in a production stage", () => {
  test("the stage's table uses the core's keys, expires items by itself and can be restored", () => {
    const [table] = it.inputsOf("aws:dynamodb/table:Table");
    const keys = ["pk", "sk", "list_pk", "list_sk", "due_pk", "due_sk"];

    expect(table).toMatchObject({
      billingMode: "PAY_PER_REQUEST",
      hashKey: "pk",
      rangeKey: "sk",
      attributes: keys.map((name) => ({ name, type: "S" })),
      globalSecondaryIndexes: [
        { name: "list", hashKey: "list_pk", rangeKey: "list_sk", projectionType: "ALL" },
        { name: "due", hashKey: "due_pk", rangeKey: "due_sk", projectionType: "ALL" },
      ],
      ttl: { attributeName: "expires_at", enabled: true },
      pointInTimeRecovery: { enabled: true, recoveryPeriodInDays: 35 },
      deletionProtectionEnabled: true,
    });
  });

  test("the bucket deletes files after the core's days, and overwritten versions a week later", () => {
    const [lifecycle] = it.inputsOf(
      "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration",
    );
    const rules = lifecycle?.["rules"] as {
      filter: { prefix: string };
      expiration?: { days?: number };
      noncurrentVersionExpiration?: { noncurrentDays: number };
    }[];

    expect(
      Object.fromEntries(
        rules.flatMap(({ filter, expiration }) =>
          expiration?.days ? [[filter.prefix, expiration.days]] : [],
        ),
      ),
    ).toEqual(BLOB_RETENTION_DAYS);
    // A mail that was read or erased is gone a day later.
    expect(
      rules
        .filter((rule) => rule.noncurrentVersionExpiration?.noncurrentDays === 1)
        .map(({ filter }) => filter.prefix),
    ).toEqual(["mail/", "inbound/"]);
    expect(rules.at(-1)).toMatchObject({
      noncurrentVersionExpiration: { noncurrentDays: 7 },
      abortIncompleteMultipartUpload: { daysAfterInitiation: 1 },
    });
    expect(it.inputsOf("aws:s3/bucketVersioning:BucketVersioning")).toMatchObject([
      { versioningConfiguration: { status: "Enabled" } },
    ]);
    expect(it.inputsOf("aws:s3/bucket:Bucket")).toMatchObject([{ forceDestroy: false }]);
  });

  test("AWS encrypts all stored data of a production stage", () => {
    expect(it.inputsOf("aws:dynamodb/table:Table")).toMatchObject([
      { serverSideEncryption: { enabled: true } },
    ]);
    const queues = it.inputsOf("aws:sqs/queue:Queue");
    expect(queues).not.toEqual([]);
    for (const queue of queues) expect(queue["sqsManagedSseEnabled"]).toBe(true);
    const [bucket] = it.inputsOf(
      "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration",
    );
    expect(bucket?.["rules"]).toEqual([
      { applyServerSideEncryptionByDefault: { sseAlgorithm: "AES256" } },
    ]);
  });

  test("every log group of a production stage expires", () => {
    const groups = it.inputsOf("aws:cloudwatch/logGroup:LogGroup");

    expect(groups).toHaveLength(lambdas.length + 1);
    for (const { retentionInDays } of groups) expect(retentionInDays).toBe(30);
  });
});

test("every Lambda runs Node 24 on ARM with secret settings", () => {
  for (const { name } of lambdas) {
    const lambda = it.lambda(name);

    expect(lambda).toMatchObject({ runtime: "nodejs24.x", architectures: ["arm64"] });
    expect(lambda["tracingConfig"], "TRACES is off by default").toBeUndefined();
    // Those that are given no secret have none to hide.
    const isHidden = name !== "HttpDefault" && name !== "UploadLimit";
    expect(isSecret(lambda["environment"]), `${name} shows its settings`).toBe(isHidden);
  }
});

test("viewing a Lambda reveals no secret without the stage's key, which rotates each year", () => {
  expect(it.inputsOf("aws:kms/key:Key")).toMatchObject([{ enableKeyRotation: true }]);
  const isGuarded = ({ name }: { name: string }) => it.lambda(name)["kmsKeyArn"] !== undefined;

  expect(lambdas.filter(isGuarded)).toEqual(lambdas.filter((one) => one.actsForAccounts));
});

test("the stage's key encrypts the topic, and only this account's SES may use the key besides its owner", () => {
  const [{ policy } = {}] = it.inputsOf("aws:kms/key:Key");
  const [topic] = it.inputsOf("aws:sns/topic:Topic");

  expect(topic).toMatchObject({ kmsMasterKeyId: "Settings-id" });
  expect(
    parseStatements(policy).map(({ actions, principals, conditions }) => [
      principals?.[0]?.identifiers,
      actions,
      conditions?.[0]?.values,
    ]),
  ).toEqual([
    [["arn:aws:iam::123456789012:root"], ["kms:*"], undefined],
    [["ses.amazonaws.com"], ["kms:Decrypt", "kms:GenerateDataKey"], ["123456789012"]],
  ]);
});

test("a Lambda receives exactly the settings that it reads, and no other secret", () => {
  const describeEnvironment = (name: string) =>
    Object.keys(it.settingsOf(name)).filter((one) => !one.startsWith("SST_"));
  const SERVICE = "POWERTOOLS_SERVICE_NAME";
  const TO_ALL = [
    "ACTIVITY_KEY",
    "ACTIVITY_KEY_BEFORE",
    "CURSOR_SECRET",
    "KEY_PEPPER",
    "KEY_PEPPER_BEFORE",
    "MAIL_FROM",
    SERVICE,
    "SEALING_KEY",
  ];

  expect(describeEnvironment("HttpGetCatalog").toSorted()).toEqual(TO_ALL);
  expect(describeEnvironment("HttpDefault").toSorted()).toEqual([
    "BUCKET_NAME",
    "DASHBOARD",
    SERVICE,
  ]);
  expect(describeEnvironment("Prober").toSorted()).toEqual([SERVICE, "SMTP_PROXIES", "TABLE_NAME"]);
  expect(describeEnvironment("HttpVerifyEmail").toSorted()).toEqual(
    [
      ...TO_ALL,
      "SEALING_KEY_BEFORE",
      "PROBER_FUNCTION",
      ...QUEUES.map(({ name }) => `QUEUE_URL_${name.toUpperCase().replaceAll("-", "_")}`),
      "TABLE_NAME",
    ].toSorted(),
  );
  expect(
    describeEnvironment("HttpGetHealth").filter((one) => one.startsWith("QUEUE_URL_")),
  ).toEqual(
    expect.arrayContaining(
      QUEUES.map(({ name }) => `QUEUE_URL_${name.toUpperCase().replaceAll("-", "_")}_DEAD`),
    ),
  );
  expect(describeEnvironment("WorkerChunks")).toContain("SMTP_PROXIES");
  expect(
    lambdas.filter(({ name }) => describeEnvironment(name).includes("SMTP_PROXIES")),
  ).toHaveLength(IN_NETWORK.length);
  const hasRelay = ({ name }: (typeof lambdas)[number]) =>
    describeEnvironment(name).includes("SMTP_URL");
  expect(lambdas.filter(hasRelay).map(({ name }) => name)).toEqual(["WorkerMails"]);
});

/** Written out by hand: a Lambda that is added to a list needs a reason. */
const isOfEndpoint = (name: string) => name.startsWith("Http") && name !== "HttpDefault";
const SECRETS: Readonly<Record<string, (name: string) => boolean>> = {
  KEY_PEPPER: isOfEndpoint,
  CURSOR_SECRET: (name) =>
    /^(?:Http(?:AddPasskey|GetDomainReports|GetJob|List(?:Domains|Events|Jobs|LedgerEntries|MailTests|Requests)|Mcp|SignInWithPasskey|Unsubscribe)|WorkerMails(?:Dead)?)$/.test(
      name,
    ),
  ACTIVITY_KEY: (name) =>
    isOfEndpoint(name) ||
    /^(?:Worker(?:Activity|InboundMail|(?:Chunks|Singles|MailTests)(?:Dead)?)|Schedule(?:Gauge|Reconcile))$/.test(
      name,
    ),
  SEALING_KEY: (name) =>
    /^(?:Http(?:CreateInvitation|CreateWebhook|EraseData|GetJob|GetJobRow|GetReceiptKeys|Compat|Mcp|RotateWebhookSecret|SignInWithOidc|TestWebhook|Verify(?:Batch|Email|Form))|WorkerDeliveries(?:Dead)?|WorkerMails(?:Dead)?|Schedule(?:Gauge|Reconcile))$/.test(
      name,
    ),
  OIDC_CLIENT_SECRET: (name) => name === "HttpSignInWithOidc",
};

test.each(Object.entries(SECRETS))(
  "a Lambda receives %s when it needs the secret, and otherwise a worthless value",
  (secret, needs) => {
    const values = lambdas.map(
      ({ name }) => [name, (it.settingsOf(name)[secret] ?? "") as string] as const,
    );
    const holders = values.filter(([, value]) => / for (?:the )?tests$/.test(value));

    expect(holders.map(([name]) => name)).toEqual(lambdas.map(({ name }) => name).filter(needs));
    for (const [, value] of values)
      expect(value).toMatch(/^$| for (?:the )?tests$|^withheld:[0-9a-f]{64}$/);
  },
);

test("every Lambda that acts for accounts starts with its settings and its needed secrets", () => {
  const OF_LAMBDA = {
    AWS_REGION: "eu-west-1",
    AWS_ACCESS_KEY_ID: "of its role",
    AWS_SECRET_ACCESS_KEY: "of its role",
  };
  const READS: Readonly<Record<string, (settings: Settings) => string>> = {
    "keys:check": ({ keyPepper }) => keyPepper,
    cursor: ({ cursorSecret }) => cursorSecret,
    activity: ({ activityKey }) => activityKey,
    seal: ({ encryptionKey }) => encryptionKey,
  };
  const starts = ({ name, needs }: Lambda) => {
    try {
      const describeEnvironment = it.settingsOf(name) as Readonly<Record<string, string>>;
      const { settings } = createLambdaWorld(undefined, { ...describeEnvironment, ...OF_LAMBDA });
      for (const need of needs) READS[need]?.(settings);
      return [];
    } catch (error) {
      return [`${name}: ${(error as Error).message}`];
    }
  };

  expect(lambdas.filter(({ actsForAccounts }) => actsForAccounts).flatMap(starts)).toEqual([]);
});

test("a Lambda of the API ends before API Gateway's time limit", () => {
  const http = lambdas.filter(({ handler }) => handler.includes("/http/"));

  expect(http).toHaveLength(endpoints.length + 3);
  for (const { name } of http) expect(it.lambda(name)["timeout"]).toBeLessThan(30);
});

test("a production stage publishes the names that AWS gave", () => {
  const written = it.inputsOf("aws:ssm/parameter:Parameter").map(({ name }) => String(name));

  expect(written.toSorted()).toEqual(
    listPublishedNames(readSettings("production", { AWS_REGION: "eu-west-1" }))
      .map((key) => `/mailproof/production/${key}`)
      .toSorted(),
  );
});
