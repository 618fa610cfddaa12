import { deliverEvent } from "@mailproof/core/webhooks/deliver-event";
import { withHttps } from "../capabilities/https.ts";
import { withQueue } from "../capabilities/queue.ts";
import { createLambdaWorld } from "../lambda-world.ts";
import { createQueueHandler } from "../queue-handler.ts";

export const handler = createQueueHandler(deliverEvent, createLambdaWorld([withQueue, withHttps]));
