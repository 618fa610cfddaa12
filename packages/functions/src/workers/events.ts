import { fanOutEvent } from "@mailproof/core/webhooks/fan-out";
import { queueWorker } from "../queue-worker.ts";
import { awsWorld } from "../world.ts";

export const handler = queueWorker(fanOutEvent, awsWorld());
