import { fanOutEvent } from "@mailproof/core/webhooks/fan-out";
import { toDeadLetterWorker } from "@mailproof/core/worker";
import { createQueueHandler } from "../queue-worker.ts";
import { createLambdaWorld } from "../world.ts";

export const handler = createQueueHandler(toDeadLetterWorker(fanOutEvent), createLambdaWorld());
