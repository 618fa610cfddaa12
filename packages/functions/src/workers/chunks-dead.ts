import { verifyChunk } from "@mailproof/core/jobs/chunk-worker";
import { deadLettersFor } from "@mailproof/core/worker";
import { queueWorker } from "../queue-worker.ts";
import { toMailServers } from "../reach/mail.ts";
import { awsWorld } from "../world.ts";

export const handler = queueWorker(deadLettersFor(verifyChunk), awsWorld(toMailServers));
