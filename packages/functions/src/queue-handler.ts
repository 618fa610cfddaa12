import type { AppWorld } from "@mailproof/core/app-world";
import { getRetryDelaySeconds } from "@mailproof/core/ports/queue";
import type { Json } from "@mailproof/core/ports/table";
import type { Worker } from "@mailproof/core/runtime/worker";
import type { SQSBatchItemFailure, SQSBatchResponse, SQSEvent, SQSRecord } from "aws-lambda";
import { createLambdaAws } from "./aws/lambda-aws.ts";
import { createReleaseMessage, type ReleaseMessage } from "./aws/sqs-release.ts";

/**
 * The whole Lambda of one queue. It reports the messages that failed, since otherwise all of them would count as failed.
 * It also releases them: otherwise they would be delivered again only when their visibility timeout ends, which is six
 * times the worker's timeout.
 */
export const createQueueHandler = (
  worker: Worker<AppWorld>,
  world: AppWorld,
  releaseMessage: ReleaseMessage = createReleaseMessage(createLambdaAws(process.env)),
) => {
  const handle = async (record: SQSRecord): Promise<SQSBatchItemFailure[]> => {
    const { messageId, body, attributes } = record;
    const { queue } = worker;
    try {
      await worker.handle(world, JSON.parse(body) as Json);
      return [];
    } catch (cause) {
      const receiveCount = Number(attributes.ApproximateReceiveCount);
      world.log("message_failed", { queue: queue.name, receiveCount, cause });
      await releaseMessage(record, getRetryDelaySeconds(queue, receiveCount)).catch(
        (why: unknown) =>
          // Then the message is delivered again later.
          world.log("give_back_failed", { queue: queue.name, cause: why }),
      );
      return [{ itemIdentifier: messageId }];
    }
  };
  return async ({ Records }: SQSEvent): Promise<SQSBatchResponse> => {
    const failed = await Promise.all(Records.map(handle));
    return { batchItemFailures: failed.flat() };
  };
};
