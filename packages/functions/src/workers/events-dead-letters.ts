import { toDeadLetterWorker } from "@mailproof/core/runtime/worker";
import { fanOutEvent } from "@mailproof/core/webhooks/fan-out";
import { createLambdaWorld } from "../lambda-world.ts";
import { createQueueHandler } from "../queue-handler.ts";

export const handler = createQueueHandler(toDeadLetterWorker(fanOutEvent), createLambdaWorld());
