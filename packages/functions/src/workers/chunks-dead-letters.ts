import { verifyChunk } from "@mailproof/core/jobs/chunk-worker";
import { toDeadLetterWorker } from "@mailproof/core/runtime/worker";
import { withBlobs } from "../capabilities/blobs.ts";
import { withMailServers } from "../capabilities/mail-servers.ts";
import { withQueue } from "../capabilities/queue.ts";
import { createLambdaWorld } from "../lambda-world.ts";
import { createQueueHandler } from "../queue-handler.ts";

export const handler = createQueueHandler(
  toDeadLetterWorker(verifyChunk),
  createLambdaWorld([withQueue, withBlobs, withMailServers]),
);
