import type { Json } from "@mailproof/core/table";
import type { Worker } from "@mailproof/core/worker";
import type { World } from "@mailproof/core/world";
import type { SQSBatchItemFailure, SQSBatchResponse, SQSEvent, SQSRecord } from "aws-lambda";

/**
 * The whole Lambda of one queue. It names the messages that are not done, and AWS hands those out again when their
 * visibility ends; without a name it would be all of them.
 */
export const queueWorker =
  (worker: Worker, world: World) =>
  async ({ Records }: SQSEvent): Promise<SQSBatchResponse> => {
    const failed = await Promise.all(Records.map((record) => handle(worker, world, record)));
    return { batchItemFailures: failed.flat() };
  };

const handle = async (
  worker: Worker,
  world: World,
  { messageId, body, attributes }: SQSRecord,
): Promise<SQSBatchItemFailure[]> => {
  try {
    await worker.handle(world, JSON.parse(body) as Json);
    return [];
  } catch (cause) {
    const receiveCount = Number(attributes.ApproximateReceiveCount);
    world.log("message_failed", { queue: worker.queue.name, receiveCount, cause });
    return [{ itemIdentifier: messageId }];
  }
};
