import { deliverEvent } from "@mailproof/core/webhooks/deliver";
import { createQueueHandler } from "../queue-worker.ts";
import { withHttps } from "../reach/https.ts";
import { createLambdaWorld } from "../world.ts";

export const handler = createQueueHandler(deliverEvent, createLambdaWorld(withHttps));
