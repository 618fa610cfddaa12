import { fanOutEvent } from "@mailproof/core/webhooks/fan-out";
import { deadLettersFor } from "@mailproof/core/worker";
import { queueWorker } from "../queue-worker.ts";
import { awsWorld } from "../world.ts";

export const handler = queueWorker(deadLettersFor(fanOutEvent), awsWorld());
