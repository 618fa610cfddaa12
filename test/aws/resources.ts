import { type QueueConfig, toDeadLetterQueue } from "@mailproof/core/ports/queue";
import { createJsonService } from "@mailproof/functions/aws/json-service";
import type { Aws } from "@mailproof/functions/aws/requests";
import { sendForText, toAwsError } from "@mailproof/functions/aws/requests";
import { TABLE_SHAPE } from "@mailproof/functions/aws/table-shape";

// What a deployment makes, made in the emulators.

let made = 0;
const createName = (kind: string): string => `${kind}-${process.pid}-${++made}`;

export const createTable = async (aws: Aws): Promise<string> => {
  const name = createName("table");
  const dynamo = createJsonService(aws, "dynamodb", "DynamoDB_20120810", 10_000);
  const { pk, sk, indexes } = TABLE_SHAPE;
  const keys = (keyNames: { readonly pk: string; readonly sk: string }) => [
    { AttributeName: keyNames.pk, KeyType: "HASH" },
    { AttributeName: keyNames.sk, KeyType: "RANGE" },
  ];
  const fields = [pk, sk, ...Object.values(indexes).flatMap((index) => [index.pk, index.sk])];
  const reply = await dynamo("CreateTable", {
    TableName: name,
    BillingMode: "PAY_PER_REQUEST",
    AttributeDefinitions: fields.map((field) => ({ AttributeName: field, AttributeType: "S" })),
    KeySchema: keys({ pk, sk }),
    GlobalSecondaryIndexes: Object.entries(indexes).map(([index, keyNames]) => ({
      IndexName: index,
      KeySchema: keys(keyNames),
      Projection: { ProjectionType: "ALL" },
    })),
  });
  if (reply.kind !== "ok") throw toAwsError("CreateTable", reply);
  return name;
};

export const createBucket = async (aws: Aws): Promise<string> => {
  const name = createName("bucket");
  const reply = await sendForText(aws, "s3", { method: "PUT", path: `/${name}` }, 10_000);
  if (reply.kind !== "ok") throw toAwsError("CreateBucket", reply);
  return name;
};

/** Each with its queue of dead letters; by name, where it is. */
export const createQueues = async (
  aws: Aws,
  queues: readonly QueueConfig[],
): Promise<Readonly<Record<string, string>>> => {
  const sqs = createJsonService(aws, "sqs", "AmazonSQS", 10_000);
  const urls: Record<string, string> = {};
  const make = async (name: string, Attributes: Readonly<Record<string, string>>) => {
    const reply = await sqs<{ QueueUrl: string }>("CreateQueue", {
      QueueName: createName(name),
      Attributes,
    });
    if (reply.kind !== "ok") throw toAwsError("CreateQueue", reply);
    urls[name] = reply.output.QueueUrl;
    return reply.output.QueueUrl;
  };
  for (const queue of queues) {
    const VisibilityTimeout = String(queue.visibilitySeconds);
    const dead = await make(toDeadLetterQueue(queue).name, { VisibilityTimeout });
    const deadLetterTargetArn = `arn:aws:sqs:${aws.region}:000000000000:${dead.split("/").at(-1)}`;
    const RedrivePolicy = JSON.stringify({
      deadLetterTargetArn,
      maxReceiveCount: queue.receivesMax,
    });
    await make(queue.name, { VisibilityTimeout, RedrivePolicy });
  }
  return urls;
};
