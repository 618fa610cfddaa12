import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { buffer } from "node:stream/consumers";
import { openAccount } from "@mailproof/core/accounts/accounts";
import { workers } from "@mailproof/core/background/workers";
import { credits } from "@mailproof/core/money/credits";
import { isDeadLetterQueue } from "@mailproof/core/ports/queue";
import type { Json } from "@mailproof/core/ports/table";
import { createS3Blobs } from "@mailproof/functions/aws/s3-blobs";
import { createSqsQueue } from "@mailproof/functions/aws/sqs-queue";
import { createBaseContext } from "@mailproof/functions/lambda-world";
import { getQueueSetting } from "@mailproof/functions/settings";
import { singleChunk } from "@mailproof/functions/single-chunk";
import { listSettings, type ResourcePart } from "../../infra/iam.ts";
import type { Lambda } from "../../infra/topology.ts";
import { givenWorld } from "../app/given.ts";
import type { AwsCall } from "../app/rights.ts";
import { CREDENTIALS, createEmulatedAws, REGION, startEmulators } from "../aws/emulators.ts";
import { createBucket, createQueues, createTable } from "../aws/resources.ts";
import { createSqsReceiving } from "../aws/sqs-receiving.ts";

// AWS as one role sees it: the emulators, which know no permissions, behind a proxy that refuses what IAM would refuse.
// It can also fall silent, as AWS does for a Lambda whose connections were closed while it was frozen.

type RoleProxyOptions = {
  readonly isAllowed: (call: AwsCall) => boolean;
  readonly toQueueName: (url: string) => string;
};

type Received = {
  readonly method: string;
  readonly url: URL;
  readonly target: string;
  readonly body: Buffer;
};

const openRoleProxy = async ({ isAllowed, toQueueName }: RoleProxyOptions) => {
  const { dynamodb, others } = await startEmulators();
  const calls: AwsCall[] = [];
  const refused: AwsCall[] = [];
  const open = new Set<Socket>();
  let cut = new WeakSet<Socket>();
  let lateRequests = 0;
  let isSilent = false;

  const handle = async (incoming: IncomingMessage, answer: ServerResponse): Promise<void> => {
    const received: Received = {
      method: incoming.method ?? "GET",
      url: new URL(incoming.url ?? "/", "http://aws"),
      target: String(incoming.headers["x-amz-target"] ?? ""),
      body: await buffer(incoming),
    };
    if (cut.has(incoming.socket)) lateRequests++;
    if (isSilent || cut.has(incoming.socket)) return;
    const wanted = listCalls(received, toQueueName);
    calls.push(...wanted);
    const denied = wanted.filter((call) => !isAllowed(call));
    if (denied.length > 0) {
      refused.push(...denied);
      refuse(answer, received);
      return;
    }
    if (wanted.some(({ action }) => action === INVOKE)) {
      answer.end("null");
      return;
    }
    const passing = request(
      new URL(incoming.url ?? "/", received.target.startsWith("DynamoDB") ? dynamodb : others),
      {
        method: received.method,
        headers: incoming.headers,
        // The emulator may close a kept connection in the moment in which it is used again.
        agent: false,
      },
    );
    passing.end(received.body);
    const [reply] = (await once(passing, "response")) as [IncomingMessage];
    // To a role that may not list the bucket, S3 does not say that an object is missing.
    if (isMissingObject(received, reply)) {
      calls.push(LIST_BUCKET);
      if (!isAllowed(LIST_BUCKET)) {
        refused.push(LIST_BUCKET);
        reply.resume();
        refuse(answer, received);
        return;
      }
    }
    answer.writeHead(reply.statusCode ?? 500, reply.headers);
    reply.pipe(answer);
  };

  const server = createServer((incoming, answer) => {
    handle(incoming, answer).catch((error: unknown) => answer.destroy(error as Error));
  });
  // Silence is the test's to begin, and this server closes nothing before.
  server.keepAliveTimeout = 0;
  server.on("connection", (socket) => {
    open.add(socket);
    socket.on("close", () => open.delete(socket));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    calls,
    refused,
    /** Nothing is answered any more on connections that are open now, and neither side learns that they are over. */
    cutConnections: () => {
      cut = new WeakSet(open);
    },
    /** Requests on connections that were cut. */
    countLateRequests: () => lateRequests,
    /** Nothing is answered on any connection. */
    fallSilent: () => void (isSilent = true),
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
};

const refuse = (answer: ServerResponse, { target, method }: Received): void => {
  if (target === "") {
    const text = "<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>";
    answer.writeHead(403, { "content-type": "application/xml" });
    answer.end(method === "HEAD" ? undefined : text);
    return;
  }
  answer.writeHead(400, { "content-type": "application/x-amz-json-1.0" });
  const __type = "com.amazon.coral.service#AccessDeniedException";
  answer.end(JSON.stringify({ __type, message: "not authorized to perform this action" }));
};

/** No emulator runs a Lambda: what is called answers nothing. */
const INVOKE = "lambda:InvokeFunction";
const LIST_BUCKET: AwsCall = {
  action: "s3:ListBucket",
  parts: ["bucket"],
  queue: null,
  partition: null,
};

const isMissingObject = ({ target, method }: Received, { statusCode }: IncomingMessage): boolean =>
  target === "" && (method === "GET" || method === "HEAD") && statusCode === 404;

/** https://docs.aws.amazon.com/service-authorization/latest/reference/reference_policies_actions-resources-contextkeys.html */
const listCalls = (received: Received, toQueueName: (url: string) => string): AwsCall[] => {
  const { target, url, body } = received;
  const [service = "", operation = ""] = target.split(".");
  if (service.startsWith("DynamoDB")) return listTableCalls(operation, JSON.parse(body.toString()));
  if (service === "AmazonSQS") {
    const queue = toQueueName((JSON.parse(body.toString()) as { QueueUrl: string }).QueueUrl);
    const parts = [isDeadLetterQueue(queue) ? "dead letters" : "queues"] as const;
    return [{ action: `sqs:${operation.replace(/Batch$/, "")}`, parts, queue, partition: null }];
  }
  if (url.pathname.startsWith("/2015-03-31/functions/"))
    return [{ action: INVOKE, parts: ["prober"], queue: null, partition: null }];
  const action = findS3Action(received);
  const part = action === "s3:DeleteObjectVersion" ? "uploads" : "objects";
  return [{ action, parts: [part], queue: null, partition: null }];
};

type StoredKey = { readonly pk?: { readonly S?: string } };
type ItemInput = { readonly Key?: StoredKey; readonly Item?: StoredKey };
type TableInput = ItemInput & {
  readonly IndexName?: string;
  readonly KeyConditionExpression?: string;
  readonly ExpressionAttributeValues?: Readonly<Record<string, { readonly S?: string }>>;
  readonly TransactItems?: readonly Readonly<Record<string, ItemInput>>[];
};

/** IAM knows no transaction: it decides on each of its writes. */
const TRANSACTED: Readonly<Record<string, string>> = {
  ConditionCheck: "ConditionCheckItem",
  Delete: "DeleteItem",
  Put: "PutItem",
  Update: "UpdateItem",
};

const listTableCalls = (operation: string, input: TableInput): AwsCall[] => {
  const operations = input.TransactItems
    ? input.TransactItems.flatMap((item) =>
        Object.entries(item).map(([name, one]) => [TRANSACTED[name] ?? name, one] as const),
      )
    : [[operation, input] as const];
  const parts = [findTablePart(input)];
  return operations.map(([name, { Key, Item }]) => ({
    action: `dynamodb:${name}`,
    parts,
    queue: null,
    partition: (Key ?? Item)?.pk?.S ?? findQueried(input),
  }));
};

const findTablePart = ({ IndexName: index }: TableInput): ResourcePart => {
  if (index === undefined) return "table";
  return index === "list" ? "list index" : "due index";
};

/** The first condition of a query is about the partition. */
const findQueried = (input: TableInput): string | null => {
  const [, placeholder = ""] = / = (:\w+)/.exec(input.KeyConditionExpression ?? "") ?? [];
  return input.ExpressionAttributeValues?.[placeholder]?.S ?? null;
};

const findS3Action = ({ method, url }: Received): string => {
  if (method === "DELETE" && url.searchParams.has("versionId")) return "s3:DeleteObjectVersion";
  if (method === "DELETE")
    return url.searchParams.has("uploadId") ? "s3:AbortMultipartUpload" : "s3:DeleteObject";
  return method === "PUT" || method === "POST" ? "s3:PutObject" : "s3:GetObject";
};

// A stage in the emulators: its table, bucket, queues and one account, and each Lambda's environment and role in it.

const ACCOUNT_ID = "000000000000";
const CREDENTIAL_SETTINGS = {
  AWS_REGION: REGION,
  AWS_ACCESS_KEY_ID: CREDENTIALS.accessKeyId,
  AWS_SECRET_ACCESS_KEY: CREDENTIALS.secretAccessKey,
};
const ENDPOINTS = ["DYNAMODB", "LAMBDA", "S3", "SQS"];

export type Stage = Awaited<ReturnType<typeof createStage>>;

/** `given`: settings in place of those of this file. */
export const createStage = async (given: Readonly<Record<string, string>> = {}) => {
  const aws = await createEmulatedAws();
  const table = await createTable(aws);
  const bucket = await createBucket(aws);
  const listed = workers.map(({ queue }) => queue).filter(({ name }) => !isDeadLetterQueue(name));
  const urls = await createQueues(aws, listed);
  const { world } = givenWorld();
  const { settings } = world;

  const { dynamodb } = await startEmulators();
  const { table: adapter } = createBaseContext({
    ...CREDENTIAL_SETTINGS,
    TABLE_NAME: table,
    AWS_ENDPOINT_URL_DYNAMODB: dynamodb,
  });
  const here = { ...world, table: adapter, now: () => new Date() };
  const opening = { name: "Ann's Shop", plan: "pro" as const, opening: credits(1_000) };
  const { account, liveKey, testKey } = await openAccount(here, opening);
  const poor = await openAccount(here, { ...opening, name: "Poor", opening: credits(0) });

  const queueSettings = Object.entries(urls).map(
    ([name, url]) => [getQueueSetting(name), url] as const,
  );
  const values: Readonly<Record<string, string>> = {
    KEY_PEPPER: settings.keyPepper,
    CURSOR_SECRET: settings.cursorSecret,
    ACTIVITY_KEY: settings.activityKey,
    SEALING_KEY: settings.encryptionKey,
    TABLE_NAME: table,
    BUCKET_NAME: bucket,
    PROBER_FUNCTION: "prober",
    // Nothing listens there: neither name servers nor mail servers belong to these tests.
    DNS_SERVERS: "127.0.0.1:1",
    SMTP_PROXIES: "socks5://127.0.0.1:1",
    ...given,
  };
  const listQueueSettings = (areDead: boolean) =>
    Object.entries(urls)
      .filter(([name]) => isDeadLetterQueue(name) === areDead)
      .map(([name, url]) => [getQueueSetting(name), url] as const);
  const toSettings = (name: string): readonly (readonly [string, string])[] => {
    if (name === "QUEUE_URLS") return listQueueSettings(false);
    if (name === "DEAD_QUEUE_URLS") return listQueueSettings(true);
    const value = values[name];
    return value === undefined ? [] : [[name, value]];
  };

  return {
    account,
    liveKey,
    testKey,
    /** The key of an account without credits. */
    poorKey: poor.liveKey,
    receiving: createSqsReceiving(aws, async () => urls),
    send: (queue: string, body: Json) => createSqsQueue(aws, urls).sendMany(queue, [{ body }]),
    putObject: (key: string, text: string) =>
      createS3Blobs(aws, bucket).put(key, singleChunk(Buffer.from(text))),
    /** All settings, whichever Lambda gets them. */
    settings: { ...values, ...Object.fromEntries(queueSettings) },
    /** The queue of this name as its Lambda's events name it. */
    getQueueArn: (name: string) =>
      `arn:aws:sqs:${REGION}:${ACCOUNT_ID}:${urls[name]?.split("/").at(-1)}`,
    /** AWS for a role that may do this. */
    openProxy: (isAllowed: (call: AwsCall) => boolean) =>
      openRoleProxy({
        toQueueName: (url) => Object.keys(urls).find((name) => isSameQueue(urls[name], url)) ?? url,
        isAllowed,
      }),
    /** The Lambda's environment, as it has it when deployed; `url`: where it finds AWS. */
    buildEnvironment: (lambda: Lambda, url: string): Readonly<Record<string, string>> => ({
      PATH: process.env["PATH"] ?? "",
      ...CREDENTIAL_SETTINGS,
      AWS_SESSION_TOKEN: "a session token",
      AWS_LAMBDA_FUNCTION_NAME: `mailproof-stage-${lambda.name}`,
      AWS_LAMBDA_FUNCTION_VERSION: "$LATEST",
      AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(lambda.memoryMb),
      AWS_LAMBDA_LOG_GROUP_NAME: "/aws/lambda/stage",
      AWS_LAMBDA_LOG_STREAM_NAME: "2026/11/21/[$LATEST]0123456789abcdef0123456789abcdef",
      AWS_EXECUTION_ENV: "AWS_Lambda_nodejs24.x",
      ...Object.fromEntries(ENDPOINTS.map((service) => [`AWS_ENDPOINT_URL_${service}`, url])),
      ...Object.fromEntries(listSettings(lambda).flatMap(toSettings)),
    }),
  };
};

const isSameQueue = (one: string | undefined, other: string): boolean =>
  one?.split("/").at(-1) === other.split("/").at(-1);
