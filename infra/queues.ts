import { toDeadLetterQueueName } from "@mailproof/core/ports/queue";
import { type QueueSpec, queues as queueSpecs, toPascalCase } from "./topology.ts";

const DAY_SECONDS = 86_400;

const created = new Map<string, sst.aws.Queue>();

/** Returns the stage's queue of this name. */
export const getQueue = (name: string): sst.aws.Queue => {
  const queue = created.get(name);
  if (!queue) throw new Error(`infra/topology.ts has no queue ${name}.`);
  return queue;
};

const createQueue = ({ name, receivesMax, visibilitySeconds, retentionDays }: QueueSpec) =>
  new sst.aws.Queue(`Queue${toPascalCase(name)}`, {
    visibilityTimeout: `${visibilitySeconds} seconds`,
    ...(receivesMax !== null && {
      dlq: { queue: getQueue(toDeadLetterQueueName(name)).arn, retry: receivesMax },
    }),
    transform: {
      queue: {
        messageRetentionSeconds: retentionDays * DAY_SECONDS,
        sqsManagedSseEnabled: true,
      },
    },
  });

for (const queue of queueSpecs) created.set(queue.name, createQueue(queue));
