import { verifyChunk } from "@mailproof/core/jobs/chunk-worker";
import { queueWorker } from "../queue-worker.ts";
import { toMailServers } from "../reach/mail.ts";
import { awsWorld } from "../world.ts";

export const handler = queueWorker(verifyChunk, awsWorld(toMailServers));
