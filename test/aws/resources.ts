import { deadLettersOf, type QueueFacts } from "@mailproof/core/queue";
import type { Aws } from "@mailproof/functions/aws/aws";
import { asError, askWhole } from "@mailproof/functions/aws/aws";
import { jsonService } from "@mailproof/functions/aws/json-service";
import { TABLE_SHAPE } from "@mailproof/functions/aws/table-shape";

// What a deployment makes, made in the emulators.

let made = 0;
const newName = (kind: string): string => `${kind}-${process.pid}-${++made}`;

export const newTable = async (aws: Aws): Promise<string> => {
  const name = newName("table");
  const dynamo = jsonService(aws, "dynamodb", "DynamoDB_20120810", 10_000);
  const { pk, sk, indexes } = TABLE_SHAPE;
  const keys = (place: { readonly pk: string; readonly sk: string }) => [
    { AttributeName: place.pk, KeyType: "HASH" },
    { AttributeName: place.sk, KeyType: "RANGE" },
  ];
  const fields = [pk, sk, ...Object.values(indexes).flatMap((index) => [index.pk, index.sk])];
  const heard = await dynamo("CreateTable", {
    TableName: name,
    BillingMode: "PAY_PER_REQUEST",
    AttributeDefinitions: fields.map((field) => ({ AttributeName: field, AttributeType: "S" })),
    KeySchema: keys({ pk, sk }),
    GlobalSecondaryIndexes: Object.entries(indexes).map(([index, place]) => ({
      IndexName: index,
      KeySchema: keys(place),
      Projection: { ProjectionType: "ALL" },
    })),
  });
  if (heard.kind !== "ok") throw asError("CreateTable", heard);
  return name;
};

export const newBucket = async (aws: Aws): Promise<string> => {
  const name = newName("bucket");
  const heard = await askWhole(aws, "s3", { method: "PUT", path: `/${name}` }, 10_000);
  if (heard.kind !== "ok") throw asError("CreateBucket", heard);
  return name;
};

/** Each with its queue of dead letters; by name, where it is. */
export const newQueues = async (
  aws: Aws,
  queues: readonly QueueFacts[],
): Promise<Readonly<Record<string, string>>> => {
  const sqs = jsonService(aws, "sqs", "AmazonSQS", 10_000);
  const urls: Record<string, string> = {};
  const make = async (name: string, Attributes: Readonly<Record<string, string>>) => {
    const heard = await sqs<{ QueueUrl: string }>("CreateQueue", {
      QueueName: newName(name),
      Attributes,
    });
    if (heard.kind !== "ok") throw asError("CreateQueue", heard);
    urls[name] = heard.output.QueueUrl;
    return heard.output.QueueUrl;
  };
  for (const queue of queues) {
    const VisibilityTimeout = String(queue.visibilitySeconds);
    const dead = await make(deadLettersOf(queue).name, { VisibilityTimeout });
    const deadLetterTargetArn = `arn:aws:sqs:${aws.region}:000000000000:${dead.split("/").at(-1)}`;
    const RedrivePolicy = JSON.stringify({
      deadLetterTargetArn,
      maxReceiveCount: queue.receivesMax,
    });
    await make(queue.name, { VisibilityTimeout, RedrivePolicy });
  }
  return urls;
};
