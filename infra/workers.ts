import { createLambda } from "./functions.ts";
import { getQueue } from "./queues.ts";
import { workerSpecs } from "./topology.ts";

/** Only a message that fails is retried; the others of its batch are deleted. */
export const workerLambdas = workerSpecs.map(({ queue, lambda, batch }) => {
  const made = createLambda(lambda, { queue });
  getQueue(queue).subscribe(made.arn, {
    batch: { size: batch, partialResponses: true },
    transform: {
      eventSourceMapping: {
        // Otherwise Lambda would receive messages without an instance for them, and count them as received.
        scalingConfig: { maximumConcurrency: lambda.reserved ?? 2 },
      },
    },
  });
  return { lambda, made };
});
