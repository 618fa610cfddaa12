import { createLambda } from "./functions.ts";
import { getQueue } from "./queues.ts";
import { fitToQuota, readQuota } from "./size.ts";
import { lambdas, workerSpecs } from "./topology.ts";

const quota = readQuota(process.env);

/** Only a message that fails is retried; the others of its batch are deleted. */
export const workerLambdas = workerSpecs.map(({ queue, lambda, batch }) => {
  const made = createLambda(lambda, { queue });
  getQueue(queue).subscribe(made.arn, {
    batch: { size: batch, partialResponses: true },
    transform: {
      eventSourceMapping: {
        scalingConfig: { maximumConcurrency: fitToQuota(lambda.reserved ?? 0, quota, lambdas) },
      },
    },
  });
  return { lambda, made };
});
