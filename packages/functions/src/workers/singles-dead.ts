import { verifySingle } from "@mailproof/core/jobs/single";
import { toDeadLetterWorker } from "@mailproof/core/worker";
import { createQueueHandler } from "../queue-worker.ts";
import { createLambdaWorld } from "../world.ts";

export const handler = createQueueHandler(toDeadLetterWorker(verifySingle), createLambdaWorld());
