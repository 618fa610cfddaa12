import type { Blobs } from "@mailproof/core/blobs";
import type { Queue, Receiving } from "@mailproof/core/queue";
import type { Item, Table } from "@mailproof/core/table";
import { workers } from "@mailproof/core/workers";
import { dynamoTable } from "@mailproof/functions/aws/dynamo-table";
import { toItem, type Values } from "@mailproof/functions/aws/dynamo-values";
import { s3Blobs } from "@mailproof/functions/aws/s3-blobs";
import { sqsQueue } from "@mailproof/functions/aws/sqs-queue";
import { onePiece } from "@mailproof/functions/one-piece";
import { askAtOnce } from "./ask-at-once.ts";
import { counted } from "./busy.ts";
import { emulatedAws, emulators } from "./emulators.ts";
import { newBucket, newQueues, newTable } from "./resources.ts";
import { sqsReceiving } from "./sqs-receiving.ts";

// The doors of a house on AWS, over a table, queues and a bucket of its own, and what stories look into.

export type Doors = {
  readonly table: Table & { items: () => Item[]; isAnythingDue: () => boolean };
  readonly queue: Queue & Receiving & { pending: () => number };
  readonly blobs: Blobs & { keys: () => string[] };
};

export const emulatedDoors = (now: () => Date): Doors => {
  let opened: Opened | undefined;
  const ready = open(now).then((house) => (opened = house));
  const sure = (): Opened => {
    if (!opened) throw new Error("nothing was done in this house yet");
    return opened;
  };
  const later = <Door extends object>(pick: (house: Opened) => Door): Door =>
    new Proxy({} as Door, {
      get:
        (_target, name) =>
        (...args: readonly unknown[]) =>
          counted(async () => {
            const door = pick(await ready) as Record<
              string | symbol,
              (...all: unknown[]) => unknown
            >;
            return door[name]?.(...args);
          }),
    });
  const isAlive = ({ expires_at }: Item): boolean =>
    expires_at === undefined || expires_at > now().getTime() / 1000;
  const items = (): Item[] => (opened ? itemsIn(opened).filter(isAlive) : []);
  const blobs = methods(
    later((house) => house.blobs),
    ["put", "head", "get", "remove", "putLink", "getLink"],
  );
  const doors = { table: later(({ table }) => table), queue: later(({ queue }) => queue) };
  return {
    table: {
      ...methods(doors.table, ["get", "query", "write", "transact"]),
      items,
      isAnythingDue: () => items().some(({ due_pk }) => due_pk),
    },
    queue: {
      ...methods(doors.queue, ["sendMany", "countDead", "receive", "done", "release"]),
      pending: () => pendingIn(sure(), now),
    },
    blobs: {
      ...blobs,
      // What is read while it is put may itself wait for time to pass.
      put: async (key, content) =>
        blobs.put(key, onePiece(Buffer.concat(await Array.fromAsync(content)))),
      keys: () => keysIn(sure()),
    },
  };
};

const methods = <Door extends object, Name extends keyof Door>(
  door: Door,
  names: readonly Name[],
): Pick<Door, Name> =>
  Object.fromEntries(names.map((name) => [name, door[name]])) as Pick<Door, Name>;

type Opened = Awaited<ReturnType<typeof open>>;

const open = async (now: () => Date) => {
  const aws = await emulatedAws({ now });
  const { dynamodb, others } = await emulators();
  const listed = workers.map(({ queue }) => queue).filter(({ name }) => !name.endsWith("-dead"));
  const tableName = await newTable(aws);
  const bucket = await newBucket(aws);
  const urls = await newQueues(aws, listed);
  const queue = { ...sqsQueue(aws, urls), ...sqsReceiving(aws, async () => urls) };
  const blobs = wholeBlobs(s3Blobs(aws, bucket));
  return {
    dynamodb,
    others,
    tableName,
    bucket,
    urls,
    table: dynamoTable(aws, tableName),
    queue,
    blobs,
  };
};

/** What is read is here before it is handed on: so nobody waits for an emulator while time passes. */
const wholeBlobs = (blobs: Blobs): Blobs => ({
  ...blobs,
  get: async (key, options) => {
    const found = await blobs.get(key, options);
    return (
      found && { ...found, content: onePiece(Buffer.concat(await Array.fromAsync(found.content))) }
    );
  },
});

type Scanned = { readonly Items: readonly Values[]; readonly LastEvaluatedKey?: Values };

/** The emulators check no signature, but look whether there is one. */
const SIGNED = {
  authorization:
    "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20261121/eu-central-1/any/aws4_request, SignedHeaders=host, Signature=0",
  "x-amz-date": "20261121T000000Z",
};

const askJson = <T>(url: string, operation: string, input: object, headers: object = {}): T =>
  JSON.parse(
    askAtOnce({
      url,
      headers: {
        ...SIGNED,
        ...headers,
        "content-type": "application/x-amz-json-1.0",
        "x-amz-target": operation,
      },
      body: JSON.stringify(input),
    }),
  ) as T;

const itemsIn = ({ dynamodb, tableName }: Opened): Item[] => {
  const items: Item[] = [];
  let start: Values | undefined;
  do {
    const input = { TableName: tableName, ...(start && { ExclusiveStartKey: start }) };
    const { Items, LastEvaluatedKey } = askJson<Scanned>(dynamodb, "DynamoDB_20120810.Scan", input);
    items.push(...Items.map(toItem));
    start = LastEvaluatedKey;
  } while (start);
  return items;
};

type Attributes = { readonly Attributes: Readonly<Record<string, string>> };

const pendingIn = ({ others, urls }: Opened, now: () => Date): number =>
  Object.values(urls)
    .flatMap((QueueUrl) => {
      const input = { QueueUrl, AttributeNames: ["All"] };
      const clock = { "x-clock": String(now().getTime()) };
      const operation = "AmazonSQS.GetQueueAttributes";
      return Object.entries(askJson<Attributes>(others, operation, input, clock).Attributes);
    })
    .filter(([name]) => name.startsWith("ApproximateNumberOfMessages"))
    .reduce((sum, [, count]) => sum + Number(count), 0);

const keysIn = ({ others, bucket }: Opened): string[] => {
  const text = askAtOnce({ url: `${others}/${bucket}?list-type=2`, headers: SIGNED });
  return [...text.matchAll(/<Key>([^<]+)<\/Key>/g)].map(([, key = ""]) => key);
};
