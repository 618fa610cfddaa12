import { createLambda, getLiveArn } from "./functions.ts";
import { getQueue } from "./queues.ts";
import { fitToQuota } from "./quota.ts";
import { settings } from "./stage.ts";
import { lambdas, scheduleSpecs, workerSpecs } from "./topology.ts";

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

const MINUTE_SECONDS = 60;

const formatRate = (everySeconds: number) => {
  const minutes = everySeconds / MINUTE_SECONDS;
  return `rate(${minutes} minute${minutes === 1 ? "" : "s"})` as const;
};

/** A failed run is not retried, and one without capacity is dropped: the next run does the same work. */
export const scheduleLambdas = scheduleSpecs.map(({ everySeconds, lambda }) => {
  const made = createLambda(lambda, {
    retries: 0,
    transform: { eventInvokeConfig: { maximumEventAgeInSeconds: MINUTE_SECONDS } },
  });
  new sst.aws.CronV2(`Every${lambda.name}`, {
    schedule: formatRate(everySeconds),
    function: made.arn,
  });
  return { lambda, made };
});
