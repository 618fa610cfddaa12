import { deliverEvent } from "@mailproof/core/webhooks/deliver";
import { toDeadLetterWorker } from "@mailproof/core/worker";
import { createQueueHandler } from "../queue-worker.ts";
import { createLambdaWorld } from "../world.ts";

export const handler = createQueueHandler(toDeadLetterWorker(deliverEvent), createLambdaWorld());
