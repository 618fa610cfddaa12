import { CreateTableCommand, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { type BucketLocationConstraint, CreateBucketCommand, S3Client } from "@aws-sdk/client-s3";
import { CreateQueueCommand, SQSClient } from "@aws-sdk/client-sqs";
import { type QueueConfig, toDeadLetterQueue } from "@mailproof/core/ports/queue";
import { type Aws, createClientOptions } from "@mailproof/functions/aws/requests";
import { TABLE_SHAPE } from "@mailproof/functions/aws/table-shape";

// What a deployment makes, made in the emulators.

const getTimeoutMs = () => 10_000;

let made = 0;
const createName = (kind: string): string => `${kind}-${process.pid}-${++made}`;

export const createTable = async (aws: Aws): Promise<string> => {
  const name = createName("table");
  const dynamo = new DynamoDBClient(createClientOptions(aws, "dynamodb", getTimeoutMs));
  const { pk, sk, indexes } = TABLE_SHAPE;
  const keys = (keyNames: { readonly pk: string; readonly sk: string }) => [
    { AttributeName: keyNames.pk, KeyType: "HASH" as const },
    { AttributeName: keyNames.sk, KeyType: "RANGE" as const },
  ];
  const fields = [pk, sk, ...Object.values(indexes).flatMap((index) => [index.pk, index.sk])];
  await dynamo.send(
    new CreateTableCommand({
      TableName: name,
      BillingMode: "PAY_PER_REQUEST",
      AttributeDefinitions: fields.map((field) => ({ AttributeName: field, AttributeType: "S" })),
      KeySchema: keys({ pk, sk }),
      GlobalSecondaryIndexes: Object.entries(indexes).map(([index, keyNames]) => ({
        IndexName: index,
        KeySchema: keys(keyNames),
        Projection: { ProjectionType: "ALL" },
      })),
    }),
  );
  return name;
};

export const createBucket = async (aws: Aws): Promise<string> => {
  const name = createName("bucket");
  const options = { ...createClientOptions(aws, "s3", getTimeoutMs), forcePathStyle: true };
  await new S3Client(options).send(
    new CreateBucketCommand({
      Bucket: name,
      // Outside us-east-1 a bucket is refused unless it names the region that it is asked for in.
      CreateBucketConfiguration: { LocationConstraint: aws.region as BucketLocationConstraint },
    }),
  );
  return name;
};

/** Each with its queue of dead letters; by name, where it is. */
export const createQueues = async (
  aws: Aws,
  queues: readonly QueueConfig[],
): Promise<Readonly<Record<string, string>>> => {
  const sqs = new SQSClient(createClientOptions(aws, "sqs", getTimeoutMs));
  const urls: Record<string, string> = {};
  const make = async (name: string, Attributes: Readonly<Record<string, string>>) => {
    const command = new CreateQueueCommand({ QueueName: createName(name), Attributes });
    const { QueueUrl = "" } = await sqs.send(command);
    urls[name] = QueueUrl;
    return QueueUrl;
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
