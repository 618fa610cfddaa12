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
import { listGrants, listSettings } from "../../infra/iam.ts";
import type { Lambda } from "../../infra/topology.ts";
import { givenWorld } from "../app/given.ts";
import { CREDENTIALS, createEmulatedAws, REGION, startEmulators } from "../aws/emulators.ts";
import { createBucket, createQueues, createTable } from "../aws/resources.ts";
import { createSqsReceiving } from "../aws/sqs-receiving.ts";
import { type AwsCall, openRoleProxy } from "./role-proxy.ts";

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
  const { account, liveKey } = await openAccount(here, opening);

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

/** What IAM says of a call by this Lambda. */
export const createRole =
  ({ needs }: Pick<Lambda, "needs">, ownQueue: string | null) =>
  ({ action, parts, queue, partition }: AwsCall): boolean =>
    listGrants(needs).some(
      ({ actions, on, partitions = ["*"] }) =>
        actions.includes(action) &&
        partitions.some((pattern) => matchesPattern(partition ?? "", pattern)) &&
        on.some((part) =>
          part === "own queue" ? queue !== null && queue === ownQueue : parts.includes(part),
        ),
    );

/** A star at the end stands for anything. */
const matchesPattern = (text: string, pattern: string): boolean =>
  pattern.endsWith("*") ? text.startsWith(pattern.slice(0, -1)) : text === pattern;
