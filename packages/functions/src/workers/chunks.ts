import { verifyChunk } from "@mailproof/core/jobs/chunk-worker";
import { createQueueHandler } from "../queue-worker.ts";
import { withMailServers } from "../reach/mail.ts";
import { createLambdaWorld } from "../world.ts";

export const handler = createQueueHandler(verifyChunk, createLambdaWorld(withMailServers));
