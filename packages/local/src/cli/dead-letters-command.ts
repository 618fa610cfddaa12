import { workers } from "@mailproof/core/background/workers";
import { redact } from "@mailproof/core/lib/redact";
import type { Json } from "@mailproof/core/ports/table";
import * as v from "valibot";
import { defineAdmin } from "./define-admin.ts";

const LISTED_MAX = 100;
const QUEUE_NAMES = workers
  .map(({ queue }) => queue.name)
  .filter((name) => !name.endsWith("-dead"));
const QueueName = v.picklist(QUEUE_NAMES, `must be one of ${QUEUE_NAMES.join(", ")}`);

export const deadLettersDefinitions = {
  "admin dead-letters list": defineAdmin({
    usage: "",
    options: v.strictObject({}),
    async run({ queue }) {
      const messages = queue.listDead(LISTED_MAX).map((one) => redact(one) as Json);
      return { output: { waiting: await queue.countDeadLetters(), messages } };
    },
  }),

  "admin dead-letters replay": defineAdmin({
    usage: `--queue ${QUEUE_NAMES.join("|")}`,
    options: v.strictObject({ queue: QueueName }),
    async run(world, { queue }) {
      return { output: { queue, replayed: await world.queue.replay(queue) } };
    },
  }),
};
