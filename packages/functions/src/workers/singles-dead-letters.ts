import { toDeadLetterWorker } from "@mailproof/core/runtime/worker";
import { verifySingle } from "@mailproof/core/singles/single-job";
import { withQueue } from "../capabilities/queue.ts";
import { createLambdaWorld } from "../lambda-world.ts";
import { createQueueHandler } from "../queue-handler.ts";

export const handler = createQueueHandler(
  toDeadLetterWorker(verifySingle),
  createLambdaWorld([withQueue]),
);
