import { createLambda, getLiveArn } from "./functions.ts";
import { getQueue } from "./queues.ts";
import { fitToQuota } from "./quota.ts";
import { settings } from "./stage.ts";
import { lambdas, workerSpecs } from "./topology.ts";

/** SQS retries only the failed message and deletes the other messages of its batch. */
export const workerLambdas = workerSpecs.map(({ queue, lambda, batch }) => {
  const made = createLambda(lambda, { queue });
  getQueue(queue).subscribe(getLiveArn(lambda, made), {
    batch: { size: batch, partialResponses: true },
    transform: {
      eventSourceMapping: {
        scalingConfig: {
          maximumConcurrency: fitToQuota(lambda.reserved ?? 0, settings.quota, lambdas),
        },
      },
    },
  });
  return { lambda, made };
});
