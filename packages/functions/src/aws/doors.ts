import type { Blobs } from "@mailproof/core/blobs";
import type { Queue } from "@mailproof/core/queue";
import type { Table } from "@mailproof/core/table";
import { type Environment, queueUrlsIn } from "../settings.ts";
import type { Aws } from "./aws.ts";
import { dynamoTable } from "./dynamo-table.ts";
import { s3Blobs } from "./s3-blobs.ts";
import { sqsQueue } from "./sqs-queue.ts";

export type StateDoors = { readonly table: Table; readonly queue: Queue; readonly blobs: Blobs };

/** A Lambda is told of what it needs. A door that it was not told of is shut, and says why. */
export const stateDoors = (aws: Aws, environment: Environment): StateDoors => {
  const { TABLE_NAME, BUCKET_NAME } = environment;
  return {
    table: TABLE_NAME ? dynamoTable(aws, TABLE_NAME) : shut<Table>("TABLE_NAME"),
    queue: sqsQueue(aws, queueUrlsIn(environment)),
    blobs: BUCKET_NAME ? s3Blobs(aws, BUCKET_NAME) : shut<Blobs>("BUCKET_NAME"),
  };
};

const shut = <Door extends object>(setting: string): Door =>
  new Proxy({} as Door, {
    get: () => () => Promise.reject(new Error(`The setting ${setting} is missing.`)),
  });
