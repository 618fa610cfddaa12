import { deliver } from "@mailproof/core/webhooks/deliver";
import { deadLettersFor } from "@mailproof/core/worker";
import { queueWorker } from "../queue-worker.ts";
import { awsWorld } from "../world.ts";

export const handler = queueWorker(deadLettersFor(deliver), awsWorld());
