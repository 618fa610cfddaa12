import { createLambda } from "./functions.ts";
import { getQueue } from "./queues.ts";
import { workerSpecs } from "./topology.ts";

/** A message that fails comes back alone: the others of its batch are done. */
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
