import { fanOutEvent } from "@mailproof/core/webhooks/fan-out";
import { createQueueHandler } from "../queue-worker.ts";
import { createLambdaWorld } from "../world.ts";

export const handler = createQueueHandler(fanOutEvent, createLambdaWorld());
