import { deliver } from "@mailproof/core/webhooks/deliver";
import { queueWorker } from "../queue-worker.ts";
import { toSubscribers } from "../reach/https.ts";
import { awsWorld } from "../world.ts";

export const handler = queueWorker(deliver, awsWorld(toSubscribers));
