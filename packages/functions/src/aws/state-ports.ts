import type { Blobs } from "@mailproof/core/ports/blobs";
import type { Queue } from "@mailproof/core/ports/queue";
import type { Table } from "@mailproof/core/ports/table";
import { type LambdaEnvironment, readQueueUrls } from "../settings.ts";
import { createDynamoTable } from "./dynamo-table.ts";
import type { Aws } from "./requests.ts";
import { createS3Blobs } from "./s3-blobs.ts";
import { createSqsQueue } from "./sqs-queue.ts";

export type StatePorts = { readonly table: Table; readonly queue: Queue; readonly blobs: Blobs };

/** A Lambda gets the settings that it needs. A port without its setting fails and names the setting. */
export const createStatePorts = (aws: Aws, environment: LambdaEnvironment): StatePorts => {
  const { TABLE_NAME, BUCKET_NAME } = environment;
  return {
    table: TABLE_NAME ? createDynamoTable(aws, TABLE_NAME) : createMissingPort<Table>("TABLE_NAME"),
    queue: createSqsQueue(aws, readQueueUrls(environment)),
    blobs: BUCKET_NAME ? createS3Blobs(aws, BUCKET_NAME) : createMissingPort<Blobs>("BUCKET_NAME"),
  };
};

const createMissingPort = <Port extends object>(setting: string): Port =>
  new Proxy({} as Port, {
    get: () => () => Promise.reject(new Error(`The setting ${setting} is missing.`)),
  });
