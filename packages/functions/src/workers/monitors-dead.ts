import { runMonitor } from "@mailproof/core/deliverability/monitors";
import { toDeadLetterWorker } from "@mailproof/core/worker";
import { createQueueHandler } from "../queue-worker.ts";
import { createLambdaWorld } from "../world.ts";

export const handler = createQueueHandler(toDeadLetterWorker(runMonitor), createLambdaWorld());
