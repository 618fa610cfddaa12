import {
  MessageChannel,
  receiveMessageOnPort,
  type Transferable,
  Worker,
} from "node:worker_threads";
import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import { workers } from "@mailproof/core/background/workers";
import type { Blobs } from "@mailproof/core/ports/blobs";
import type { Queue, QueueReceiver } from "@mailproof/core/ports/queue";
import type { Item, Table } from "@mailproof/core/ports/table";
import { compareBytes } from "@mailproof/core/ports/writes";
import { createDynamoTable } from "@mailproof/functions/aws/dynamo-table";
import type { Aws } from "@mailproof/functions/aws/requests";
import { createS3Blobs } from "@mailproof/functions/aws/s3-blobs";
import { createSqsQueue } from "@mailproof/functions/aws/sqs-queue";
import { singleChunk } from "@mailproof/functions/single-chunk";
import { createEmulatedAws, startEmulators } from "./emulators.ts";
import { countCall } from "./pending-calls.ts";
import { createBucket, createQueues, createTable } from "./resources.ts";
import { createSqsReceiving } from "./sqs-receiving.ts";

// Stories look into a table as if it lay in memory. Where it lies in an emulator, a thread asks and this one stands
// still until there is an answer.

type SyncRequest = {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
};

const THREAD = `
  const { workerData: { port, flag } } = require("node:worker_threads");
  port.on("message", async ({ number, url, headers, body }) => {
    const method = body === undefined ? "GET" : "POST";
    const reply = await fetch(url, { method, headers, body }).then(
      async (answer) => ({ status: answer.status, text: await answer.text() }),
      (error) => ({ status: 0, text: String(error.cause ?? error) }),
    );
    port.postMessage({ number, ...reply });
    Atomics.add(flag, 0, 1);
    Atomics.notify(flag, 0);
  });`;

/** `flag` counts the replies, so that none is missed between a look and the wait for the next. */
type Thread = { readonly port: MessageChannel["port1"]; readonly flag: Int32Array };
type Reply = { readonly number: number; readonly status: number; readonly text: string };

let thread: Thread | undefined;
let requests = 0;

const startThread = (): Thread => {
  const { port1, port2 } = new MessageChannel();
  const flag = new Int32Array(new SharedArrayBuffer(4));
  const transferList = [port2] as unknown as Transferable[];
  new Worker(THREAD, { eval: true, workerData: { port: port2, flag }, transferList }).unref();
  port1.unref();
  return { port: port1, flag };
};

/** It ends what hangs. */
const REPLY_TIMEOUT_MS = 55_000;

/** The reply to this request: one that came too late for an earlier one is none. */
const waitForReply = ({ port, flag }: Thread, number: number): Reply => {
  for (;;) {
    const replies = Atomics.load(flag, 0);
    const reply = receiveMessageOnPort(port)?.message as Reply | undefined;
    if (reply?.number === number) return reply;
    if (reply === undefined && Atomics.wait(flag, 0, replies, REPLY_TIMEOUT_MS) === "timed-out")
      throw new Error("the emulator has not answered");
  }
};

const requestSync = (request: SyncRequest): string => {
  thread ??= startThread();
  requests += 1;
  thread.port.postMessage({ number: requests, ...request });
  const { status, text } = waitForReply(thread, requests);
  if (status !== 200) throw new Error(`the emulator answered ${status}: ${text}`);
  return text;
};

// The ports of an app on AWS, over a table, queues and a bucket of its own, and what stories look into.

export type EmulatedPorts = {
  readonly table: Table & { items: () => readonly Item[]; hasScheduledWork: () => boolean };
  readonly queue: Queue & QueueReceiver & { pending: () => number };
  readonly blobs: Blobs & { keys: () => string[] };
};

/** The adapters that stand on AWS: those of one release. */
export type AwsAdapters = {
  readonly createDynamoTable: typeof createDynamoTable;
  readonly createS3Blobs: typeof createS3Blobs;
  readonly createSqsQueue: typeof createSqsQueue;
};

const TODAYS: AwsAdapters = { createDynamoTable, createS3Blobs, createSqsQueue };

export const createEmulatedPorts = (now: () => Date): EmulatedPorts =>
  createPortsOn(openResources(now), now, TODAYS);

/** Over the same table, queues and bucket as others, by these adapters. */
export const createPortsOn = (
  resources: Promise<Resources>,
  now: () => Date,
  adapters: AwsAdapters,
): EmulatedPorts => {
  let opened: Opened | undefined;
  const ready = resources.then((made) => (opened = openAdapters(made, adapters)));
  const requireOpened = (): Opened => {
    if (!opened) throw new Error("nothing was done in this app yet");
    return opened;
  };
  const deferCall = <Port extends object>(pick: (state: Opened) => Port): Port =>
    new Proxy({} as Port, {
      get:
        (_target, name) =>
        (...args: readonly unknown[]) =>
          countCall(async () => {
            const adapter = pick(await ready) as Record<
              string | symbol,
              (...all: unknown[]) => unknown
            >;
            return adapter[name]?.(...args);
          }),
    });
  const isAlive = ({ expires_at }: Item): boolean =>
    expires_at === undefined || expires_at > now().getTime() / 1000;
  const items = (): Item[] => (opened ? listItems(opened).filter(isAlive) : []);
  const blobs = pickMethods(
    deferCall((state) => state.blobs),
    ["put", "head", "get", "remove", "join", "presignPut", "presignGet"],
  );
  const ports = { table: deferCall(({ table }) => table), queue: deferCall(({ queue }) => queue) };
  return {
    table: {
      ...pickMethods(ports.table, ["get", "query", "write", "transact"]),
      items,
      hasScheduledWork: () => items().some(({ due_pk }) => due_pk),
    },
    queue: {
      ...pickMethods(ports.queue, [
        "sendMany",
        "countDeadLetters",
        "receive",
        "acknowledge",
        "requeue",
      ]),
      pending: () => countPending(requireOpened(), now),
    },
    blobs: {
      ...blobs,
      // What is read while it is put may itself wait for time to pass.
      put: async (key, content) =>
        blobs.put(key, singleChunk(Buffer.concat(await Array.fromAsync(content)))),
      keys: () => listKeys(requireOpened()),
    },
  };
};

const pickMethods = <Port extends object, Name extends keyof Port>(
  adapter: Port,
  names: readonly Name[],
): Pick<Port, Name> =>
  Object.fromEntries(names.map((name) => [name, adapter[name]])) as Pick<Port, Name>;

type Resources = Awaited<ReturnType<typeof openResources>>;

export const openResources = async (now: () => Date) => {
  const aws = await createEmulatedAws({ now });
  const { dynamodb, others } = await startEmulators();
  const [tableName, bucket] = await Promise.all([createTable(aws), createBucket(aws)]);
  return { aws, dynamodb, others, tableName, bucket, queues: createQueuesOnUse(aws) };
};

type QueuesOnUse = ReturnType<typeof createQueuesOnUse>;

/**
 * A test uses one or two of the twenty queues. So each is made for its first message, and asked for messages only while it may hold
 * one. A queue and its queue of dead letters count as one.
 */
const createQueuesOnUse = (aws: Aws) => {
  const urls: Record<string, string> = {};
  const made = new Map<string, Promise<void>>();
  const counts = new Map<string, number>();
  const add = (name: string, count: number): void => {
    const pair = toPair(name);
    counts.set(pair, (counts.get(pair) ?? 0) + count);
  };
  const make = async (pair: string): Promise<void> => {
    const queue = workers.find((one) => one.queue.name === pair)?.queue;
    if (queue) Object.assign(urls, await createQueues(aws, [queue]));
  };
  return {
    urls,
    beforeSend: async (name: string, count: number): Promise<void> => {
      const pair = toPair(name);
      add(pair, count);
      const making = made.get(pair) ?? make(pair);
      made.set(pair, making);
      await making;
    },
    afterAcknowledge: (name: string): void => add(name, -1),
    mayHoldMessages: (name: string): boolean => (counts.get(toPair(name)) ?? 0) > 0,
  };
};

const toPair = (name: string): string => name.replace(/-dead$/, "");

const withFewQueues = (
  queue: Queue,
  receiving: QueueReceiver,
  { beforeSend, afterAcknowledge, mayHoldMessages }: QueuesOnUse,
): Queue & QueueReceiver => {
  const queueOf = new Map<string, string>();
  return {
    ...queue,
    ...receiving,
    sendMany: async (name, messages) => {
      await beforeSend(name, messages.length);
      return queue.sendMany(name, messages);
    },
    receive: async (config, options) => {
      if (!mayHoldMessages(config.name)) return [];
      const received = await receiving.receive(config, options);
      for (const { receipt } of received) queueOf.set(receipt, config.name);
      return received;
    },
    acknowledge: async (receipt) => {
      const isOurs = await receiving.acknowledge(receipt);
      if (isOurs) afterAcknowledge(queueOf.get(receipt) ?? "");
      return isOurs;
    },
  };
};

type Opened = ReturnType<typeof openAdapters>;

const openAdapters = (resources: Resources, adapters: AwsAdapters) => {
  const { aws, tableName, bucket, queues } = resources;
  const receiving = createSqsReceiving(aws, async () => queues.urls);
  return {
    ...resources,
    table: withOwnTokens(adapters.createDynamoTable(aws, tableName), tableName),
    queue: withFewQueues(adapters.createSqsQueue(aws, queues.urls), receiving, queues),
    blobs: createWholeBlobs(adapters.createS3Blobs(aws, bucket)),
  };
};

/** The ids of every test begin at 1, and the emulator remembers the tokens of all: a token is that of its table. */
const withOwnTokens = (table: Table, name: string): Table => ({
  ...table,
  transact: (writes, attempt) =>
    table.transact(writes, attempt && { ...attempt, token: `${name} ${attempt.token}` }),
});

/** What is read is here before it is handed on: so no caller waits for an emulator while time passes. */
const createWholeBlobs = (blobs: Blobs): Blobs => ({
  ...blobs,
  get: async (key, options) => {
    const found = await blobs.get(key, options);
    return (
      found && {
        ...found,
        content: singleChunk(Buffer.concat(await Array.fromAsync(found.content))),
      }
    );
  },
});

type DynamoValues = Record<string, AttributeValue>;

type Scanned = {
  readonly Items: readonly DynamoValues[];
  readonly LastEvaluatedKey?: DynamoValues;
};

/** The emulators check no signature, but look whether there is one, and for which service. */
const createSignedHeaders = (service: string) => ({
  authorization: `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20261121/eu-central-1/${service}/aws4_request, SignedHeaders=host, Signature=0`,
  "x-amz-date": "20261121T000000Z",
});

const requestJson = <T>(url: string, operation: string, input: object, headers: object = {}): T =>
  JSON.parse(
    requestSync({
      url,
      headers: {
        ...createSignedHeaders(operation.startsWith("DynamoDB") ? "dynamodb" : "sqs"),
        ...headers,
        "content-type": "application/x-amz-json-1.0",
        "x-amz-target": operation,
      },
      body: JSON.stringify(input),
    }),
  ) as T;

const listItems = ({ dynamodb, tableName }: Opened): Item[] => {
  const items: Item[] = [];
  let start: DynamoValues | undefined;
  do {
    const input = { TableName: tableName, ...(start && { ExclusiveStartKey: start }) };
    const { Items, LastEvaluatedKey } = requestJson<Scanned>(
      dynamodb,
      "DynamoDB_20120810.Scan",
      input,
    );
    items.push(...Items.map((values) => unmarshall(values) as Item));
    start = LastEvaluatedKey;
  } while (start);
  // A scan has an order of its own in each emulator; a story looks in the order of the keys.
  return items.toSorted((a, b) => compareBytes(a.pk, b.pk) || compareBytes(a.sk, b.sk));
};

type Attributes = { readonly Attributes: Readonly<Record<string, string>> };

const countPending = ({ others, queues }: Opened, now: () => Date): number =>
  Object.entries(queues.urls)
    .filter(([name]) => queues.mayHoldMessages(name))
    .flatMap(([, QueueUrl]) => {
      const input = { QueueUrl, AttributeNames: ["All"] };
      const clock = { "x-clock": String(now().getTime()) };
      const operation = "AmazonSQS.GetQueueAttributes";
      return Object.entries(requestJson<Attributes>(others, operation, input, clock).Attributes);
    })
    .filter(([name]) => name.startsWith("ApproximateNumberOfMessages"))
    .reduce((sum, [, count]) => sum + Number(count), 0);

const listKeys = ({ others, bucket }: Opened): string[] => {
  const text = requestSync({
    url: `${others}/${bucket}?list-type=2`,
    headers: createSignedHeaders("s3"),
  });
  return [...text.matchAll(/<Key>([^<]+)<\/Key>/g)].map(([, key = ""]) => key);
};
