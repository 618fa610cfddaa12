import { deadLettersNamed } from "@mailproof/core/queue";
import { queues as facts, inLetters, type QueueOf } from "./topology.ts";

const DAY_SECONDS = 86_400;

const made = new Map<string, sst.aws.Queue>();

/** The queue of this name, in this stage. */
export const queueNamed = (name: string): sst.aws.Queue => {
  const queue = made.get(name);
  if (!queue) throw new Error(`infra/topology.ts has no queue ${name}.`);
  return queue;
};

const queueOf = ({ name, receivesMax, visibilitySeconds, keptDays }: QueueOf) =>
  new sst.aws.Queue(`Queue${inLetters(name)}`, {
    visibilityTimeout: `${visibilitySeconds} seconds`,
    ...(receivesMax !== null && {
      dlq: { queue: queueNamed(deadLettersNamed(name)).arn, retry: receivesMax },
    }),
    transform: {
      queue: {
        name: `${$app.name}-${$app.stage}-${name}`,
        messageRetentionSeconds: keptDays * DAY_SECONDS,
        sqsManagedSseEnabled: true,
      },
    },
  });

for (const queue of facts) made.set(queue.name, queueOf(queue));
