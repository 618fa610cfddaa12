import type { AppWorld } from "@mailproof/core/app-world";
import { getRetryDelaySeconds } from "@mailproof/core/ports/queue";
import type { Json } from "@mailproof/core/ports/table";
import type { Worker } from "@mailproof/core/runtime/worker";
import type { MiddlewareObj } from "@middy/core";
import type { SQSBatchResponse, SQSEvent } from "aws-lambda";
import { createLambdaAws } from "./aws/lambda-aws.ts";
import { createReleaseMessage, type ReleaseMessage } from "./aws/sqs-release.ts";
import { createChain } from "./chain.ts";
import { countFailure } from "./measure/requests.ts";

/** The outcome of each message, in the order of the batch. */
type Outcomes = readonly PromiseSettledResult<void>[];

/** The whole Lambda of one queue: handle each message of the batch. */
export const createQueueHandler = (
  worker: Worker<AppWorld>,
  world: AppWorld,
  releaseMessage: ReleaseMessage = createReleaseMessage(createLambdaAws(process.env)),
) =>
  createChain([partialBatch(worker, world, releaseMessage)]).handler<SQSEvent, SQSBatchResponse>(
    ({ Records }): Promise<Outcomes> =>
      Promise.allSettled(
        Records.map(async ({ body }) => worker.handle(world, JSON.parse(body) as Json)),
      ),
  );

/**
 * Reports the messages that failed, since otherwise all of them would count as failed. It also releases them: otherwise
 * they would be delivered again only when their visibility timeout ends, which is six times the worker's timeout.
 */
const partialBatch = (
  { queue }: Worker<AppWorld>,
  { log }: AppWorld,
  releaseMessage: ReleaseMessage,
): MiddlewareObj<SQSEvent, Outcomes | SQSBatchResponse> => ({
  after: async (request) => {
    const outcomes = request.response as Outcomes;
    const failed = request.event.Records.flatMap((record, at) => {
      const outcome = outcomes[at];
      return outcome?.status === "rejected" ? [{ record, cause: outcome.reason as unknown }] : [];
    });
    await Promise.all(
      failed.map(async ({ record, cause }) => {
        const { messageId, attributes } = record;
        const receiveCount = Number(attributes.ApproximateReceiveCount);
        log("message_failed", { queue: queue.name, messageId, receiveCount, cause });
        countFailure(request.context.functionName);
        await releaseMessage(record, getRetryDelaySeconds(queue, receiveCount)).catch(
          (why: unknown) =>
            // When the release fails, SQS delivers the message again later.
            log("give_back_failed", { queue: queue.name, messageId, cause: why }),
        );
      }),
    );
    request.response = {
      batchItemFailures: failed.map(({ record }) => ({ itemIdentifier: record.messageId })),
    };
  },
});
