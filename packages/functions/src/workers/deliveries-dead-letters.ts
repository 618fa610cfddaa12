import { toDeadLetterWorker } from "@mailproof/core/runtime/worker";
import { deliverEvent } from "@mailproof/core/webhooks/deliver-event";
import { createLambdaWorld } from "../lambda-world.ts";
import { createQueueHandler } from "../queue-handler.ts";

export const handler = createQueueHandler(toDeadLetterWorker(deliverEvent), createLambdaWorld());
