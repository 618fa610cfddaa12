import { fanOutEvent } from "@mailproof/core/webhooks/fan-out";
import { withQueue } from "../capabilities/queue.ts";
import { createLambdaWorld } from "../lambda-world.ts";
import { createQueueHandler } from "../queue-handler.ts";

export const handler = createQueueHandler(fanOutEvent, createLambdaWorld([withQueue]));
