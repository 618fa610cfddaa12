import { ingestSes } from "@mailproof/core/activity/ingest";
import { createQueueHandler } from "../queue-worker.ts";
import { createLambdaWorld } from "../world.ts";

export const handler = createQueueHandler(ingestSes, createLambdaWorld());
