import { ingestSes } from "@mailproof/core/activity/ingest";
import { createLambdaWorld } from "../lambda-world.ts";
import { createQueueHandler } from "../queue-handler.ts";

export const handler = createQueueHandler(ingestSes, createLambdaWorld());
