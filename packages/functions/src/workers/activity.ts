import { ingestSes } from "@mailproof/core/activity/ingest";
import { queueWorker } from "../queue-worker.ts";
import { awsWorld } from "../world.ts";

export const handler = queueWorker(ingestSes, awsWorld());
