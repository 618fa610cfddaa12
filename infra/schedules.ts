import { createLambda } from "./functions.ts";
import { scheduleSpecs } from "./topology.ts";

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
