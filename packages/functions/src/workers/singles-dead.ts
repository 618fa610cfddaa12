import { verifySingle } from "@mailproof/core/jobs/single";
import { deadLettersFor } from "@mailproof/core/worker";
import { queueWorker } from "../queue-worker.ts";
import { awsWorld } from "../world.ts";

export const handler = queueWorker(deadLettersFor(verifySingle), awsWorld());
