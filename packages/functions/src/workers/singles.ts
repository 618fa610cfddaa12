import { verifySingle } from "@mailproof/core/singles/single-job";
import { withMailServers } from "../capabilities/mail-servers.ts";
import { withQueue } from "../capabilities/queue.ts";
import { createLambdaWorld } from "../lambda-world.ts";
import { createQueueHandler } from "../queue-handler.ts";

export const handler = createQueueHandler(
  verifySingle,
  createLambdaWorld([withQueue, withMailServers]),
);
