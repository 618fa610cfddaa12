import { createSqsQueue } from "../aws/sqs-queue.ts";
import type { Capability } from "../lambda-world.ts";
import { readQueueUrls } from "../settings.ts";

/** For an endpoint that needs "queue:send" or "queue:depth", and the workers that send messages. */
export const withQueue: Capability = ({ aws, environment }) => ({
  queue: createSqsQueue(aws, readQueueUrls(environment)),
});
